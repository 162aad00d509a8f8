from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Severity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEVERITY_UNSPECIFIED: _ClassVar[Severity]
    SEVERITY_ERROR: _ClassVar[Severity]
    SEVERITY_WARNING: _ClassVar[Severity]
    SEVERITY_INFO: _ClassVar[Severity]
SEVERITY_UNSPECIFIED: Severity
SEVERITY_ERROR: Severity
SEVERITY_WARNING: Severity
SEVERITY_INFO: Severity

class Violation(_message.Message):
    __slots__ = ("instance_location", "keyword_location", "keyword", "code", "severity", "message", "suggestion", "spec_url")
    INSTANCE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_LOCATION_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SUGGESTION_FIELD_NUMBER: _ClassVar[int]
    SPEC_URL_FIELD_NUMBER: _ClassVar[int]
    instance_location: str
    keyword_location: str
    keyword: str
    code: str
    severity: Severity
    message: str
    suggestion: str
    spec_url: str
    def __init__(self, instance_location: _Optional[str] = ..., keyword_location: _Optional[str] = ..., keyword: _Optional[str] = ..., code: _Optional[str] = ..., severity: _Optional[_Union[Severity, str]] = ..., message: _Optional[str] = ..., suggestion: _Optional[str] = ..., spec_url: _Optional[str] = ...) -> None: ...

class Verdict(_message.Message):
    __slots__ = ("valid", "violations", "truncated", "definition_digest", "schema_digest", "tool_error_text", "enforced", "repair", "call_tool_result", "json_rpc_error")
    VALID_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_DIGEST_FIELD_NUMBER: _ClassVar[int]
    TOOL_ERROR_TEXT_FIELD_NUMBER: _ClassVar[int]
    ENFORCED_FIELD_NUMBER: _ClassVar[int]
    REPAIR_FIELD_NUMBER: _ClassVar[int]
    CALL_TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    JSON_RPC_ERROR_FIELD_NUMBER: _ClassVar[int]
    valid: bool
    violations: _containers.RepeatedCompositeFieldContainer[Violation]
    truncated: bool
    definition_digest: str
    schema_digest: str
    tool_error_text: str
    enforced: bool
    repair: Repair
    call_tool_result: bytes
    json_rpc_error: bytes
    def __init__(self, valid: bool = ..., violations: _Optional[_Iterable[_Union[Violation, _Mapping]]] = ..., truncated: bool = ..., definition_digest: _Optional[str] = ..., schema_digest: _Optional[str] = ..., tool_error_text: _Optional[str] = ..., enforced: bool = ..., repair: _Optional[_Union[Repair, _Mapping]] = ..., call_tool_result: _Optional[bytes] = ..., json_rpc_error: _Optional[bytes] = ...) -> None: ...

class Repair(_message.Message):
    __slots__ = ("payload", "valid", "violations", "truncated", "changes")
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    VALID_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    valid: bool
    violations: _containers.RepeatedCompositeFieldContainer[Violation]
    truncated: bool
    changes: _containers.RepeatedCompositeFieldContainer[Change]
    def __init__(self, payload: _Optional[bytes] = ..., valid: bool = ..., violations: _Optional[_Iterable[_Union[Violation, _Mapping]]] = ..., truncated: bool = ..., changes: _Optional[_Iterable[_Union[Change, _Mapping]]] = ...) -> None: ...

class Change(_message.Message):
    __slots__ = ("instance_location", "code", "keyword_location", "message")
    INSTANCE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_LOCATION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    instance_location: str
    code: str
    keyword_location: str
    message: str
    def __init__(self, instance_location: _Optional[str] = ..., code: _Optional[str] = ..., keyword_location: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...
