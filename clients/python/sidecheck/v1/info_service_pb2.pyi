from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetServerInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    __slots__ = ("version", "limits", "dialects", "protocol_versions", "default_protocol_version", "engines", "registry_revision", "server")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    DIALECTS_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    ENGINES_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    version: str
    limits: Limits
    dialects: _containers.RepeatedScalarFieldContainer[str]
    protocol_versions: _containers.RepeatedScalarFieldContainer[str]
    default_protocol_version: str
    engines: _containers.RepeatedCompositeFieldContainer[EngineInfo]
    registry_revision: int
    server: str
    def __init__(self, version: _Optional[str] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., dialects: _Optional[_Iterable[str]] = ..., protocol_versions: _Optional[_Iterable[str]] = ..., default_protocol_version: _Optional[str] = ..., engines: _Optional[_Iterable[_Union[EngineInfo, _Mapping]]] = ..., registry_revision: _Optional[int] = ..., server: _Optional[str] = ...) -> None: ...

class EngineInfo(_message.Message):
    __slots__ = ("name", "library", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LIBRARY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    library: str
    version: str
    def __init__(self, name: _Optional[str] = ..., library: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("message_bytes", "batch_items", "violations", "payload_bytes", "payload_depth", "schema_bytes", "schema_depth", "subschemas", "documents", "documents_bytes", "pattern_length", "steps", "offloaded_items", "batch_violations", "verdict_characters", "pattern_instructions", "allow_backtracking", "source_bytes", "pattern_repetitions", "request_steps")
    MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    BATCH_ITEMS_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_DEPTH_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_BYTES_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_DEPTH_FIELD_NUMBER: _ClassVar[int]
    SUBSCHEMAS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_BYTES_FIELD_NUMBER: _ClassVar[int]
    PATTERN_LENGTH_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    OFFLOADED_ITEMS_FIELD_NUMBER: _ClassVar[int]
    BATCH_VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    PATTERN_INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_BACKTRACKING_FIELD_NUMBER: _ClassVar[int]
    SOURCE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PATTERN_REPETITIONS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_STEPS_FIELD_NUMBER: _ClassVar[int]
    message_bytes: int
    batch_items: int
    violations: int
    payload_bytes: int
    payload_depth: int
    schema_bytes: int
    schema_depth: int
    subschemas: int
    documents: int
    documents_bytes: int
    pattern_length: int
    steps: int
    offloaded_items: int
    batch_violations: int
    verdict_characters: int
    pattern_instructions: int
    allow_backtracking: bool
    source_bytes: int
    pattern_repetitions: int
    request_steps: int
    def __init__(self, message_bytes: _Optional[int] = ..., batch_items: _Optional[int] = ..., violations: _Optional[int] = ..., payload_bytes: _Optional[int] = ..., payload_depth: _Optional[int] = ..., schema_bytes: _Optional[int] = ..., schema_depth: _Optional[int] = ..., subschemas: _Optional[int] = ..., documents: _Optional[int] = ..., documents_bytes: _Optional[int] = ..., pattern_length: _Optional[int] = ..., steps: _Optional[int] = ..., offloaded_items: _Optional[int] = ..., batch_violations: _Optional[int] = ..., verdict_characters: _Optional[int] = ..., pattern_instructions: _Optional[int] = ..., allow_backtracking: bool = ..., source_bytes: _Optional[int] = ..., pattern_repetitions: _Optional[int] = ..., request_steps: _Optional[int] = ...) -> None: ...
