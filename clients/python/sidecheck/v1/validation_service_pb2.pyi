from google.rpc import status_pb2 as _status_pb2
from sidecheck.v1 import options_pb2 as _options_pb2
from sidecheck.v1 import target_pb2 as _target_pb2
from sidecheck.v1 import verdict_pb2 as _verdict_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ValidateRequest(_message.Message):
    __slots__ = ("target", "subject", "options", "min_revision")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    target: _target_pb2.Target
    subject: _target_pb2.Subject
    options: _options_pb2.ValidationOptions
    min_revision: int
    def __init__(self, target: _Optional[_Union[_target_pb2.Target, _Mapping]] = ..., subject: _Optional[_Union[_target_pb2.Subject, _Mapping]] = ..., options: _Optional[_Union[_options_pb2.ValidationOptions, _Mapping]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class ValidateResponse(_message.Message):
    __slots__ = ("verdict", "registry_revision")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    verdict: _verdict_pb2.Verdict
    registry_revision: int
    def __init__(self, verdict: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class ValidateBatchRequest(_message.Message):
    __slots__ = ("target", "options", "items", "min_revision")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    target: _target_pb2.Target
    options: _options_pb2.ValidationOptions
    items: _containers.RepeatedCompositeFieldContainer[ValidateItem]
    min_revision: int
    def __init__(self, target: _Optional[_Union[_target_pb2.Target, _Mapping]] = ..., options: _Optional[_Union[_options_pb2.ValidationOptions, _Mapping]] = ..., items: _Optional[_Iterable[_Union[ValidateItem, _Mapping]]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class ValidateItem(_message.Message):
    __slots__ = ("target", "subject", "options")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    target: _target_pb2.Target
    subject: _target_pb2.Subject
    options: _options_pb2.ValidationOptions
    def __init__(self, target: _Optional[_Union[_target_pb2.Target, _Mapping]] = ..., subject: _Optional[_Union[_target_pb2.Subject, _Mapping]] = ..., options: _Optional[_Union[_options_pb2.ValidationOptions, _Mapping]] = ...) -> None: ...

class ValidateBatchResponse(_message.Message):
    __slots__ = ("outcomes", "registry_revision")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[ValidateOutcome]
    registry_revision: int
    def __init__(self, outcomes: _Optional[_Iterable[_Union[ValidateOutcome, _Mapping]]] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class ValidateOutcome(_message.Message):
    __slots__ = ("verdict", "error")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    verdict: _verdict_pb2.Verdict
    error: _status_pb2.Status
    def __init__(self, verdict: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class ValidateStreamRequest(_message.Message):
    __slots__ = ("defaults", "item")
    DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    defaults: StreamDefaults
    item: StreamItem
    def __init__(self, defaults: _Optional[_Union[StreamDefaults, _Mapping]] = ..., item: _Optional[_Union[StreamItem, _Mapping]] = ...) -> None: ...

class StreamDefaults(_message.Message):
    __slots__ = ("target", "options", "min_revision")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    target: _target_pb2.Target
    options: _options_pb2.ValidationOptions
    min_revision: int
    def __init__(self, target: _Optional[_Union[_target_pb2.Target, _Mapping]] = ..., options: _Optional[_Union[_options_pb2.ValidationOptions, _Mapping]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class StreamItem(_message.Message):
    __slots__ = ("id", "item")
    ID_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    id: str
    item: ValidateItem
    def __init__(self, id: _Optional[str] = ..., item: _Optional[_Union[ValidateItem, _Mapping]] = ...) -> None: ...

class ValidateStreamResponse(_message.Message):
    __slots__ = ("id", "outcome", "registry_revision")
    ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    id: str
    outcome: ValidateOutcome
    registry_revision: int
    def __init__(self, id: _Optional[str] = ..., outcome: _Optional[_Union[ValidateOutcome, _Mapping]] = ..., registry_revision: _Optional[int] = ...) -> None: ...
