from google.rpc import status_pb2 as _status_pb2
from sidecheck.v1 import target_pb2 as _target_pb2
from sidecheck.v1 import verdict_pb2 as _verdict_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ResultProfile(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESULT_PROFILE_UNSPECIFIED: _ClassVar[ResultProfile]
    RESULT_PROFILE_SPECIFICATION: _ClassVar[ResultProfile]
    RESULT_PROFILE_TEXT: _ClassVar[ResultProfile]

class Sender(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SENDER_UNSPECIFIED: _ClassVar[Sender]
    SENDER_CLIENT: _ClassVar[Sender]
    SENDER_SERVER: _ClassVar[Sender]
RESULT_PROFILE_UNSPECIFIED: ResultProfile
RESULT_PROFILE_SPECIFICATION: ResultProfile
RESULT_PROFILE_TEXT: ResultProfile
SENDER_UNSPECIFIED: Sender
SENDER_CLIENT: Sender
SENDER_SERVER: Sender

class ProtocolContext(_message.Message):
    __slots__ = ("protocol_version", "client_capabilities", "server_capabilities")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    CLIENT_CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    SERVER_CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    protocol_version: str
    client_capabilities: bytes
    server_capabilities: bytes
    def __init__(self, protocol_version: _Optional[str] = ..., client_capabilities: _Optional[bytes] = ..., server_capabilities: _Optional[bytes] = ...) -> None: ...

class CheckOptions(_message.Message):
    __slots__ = ("max_violations", "hide_values", "min_severity")
    MAX_VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    HIDE_VALUES_FIELD_NUMBER: _ClassVar[int]
    MIN_SEVERITY_FIELD_NUMBER: _ClassVar[int]
    max_violations: int
    hide_values: bool
    min_severity: _verdict_pb2.Severity
    def __init__(self, max_violations: _Optional[int] = ..., hide_values: bool = ..., min_severity: _Optional[_Union[_verdict_pb2.Severity, str]] = ...) -> None: ...

class ListRulesRequest(_message.Message):
    __slots__ = ("protocol_version", "page_size", "page_token")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    protocol_version: str
    page_size: int
    page_token: str
    def __init__(self, protocol_version: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRulesResponse(_message.Message):
    __slots__ = ("rules", "next_page_token")
    RULES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    rules: _containers.RepeatedCompositeFieldContainer[Rule]
    next_page_token: str
    def __init__(self, rules: _Optional[_Iterable[_Union[Rule, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Rule(_message.Message):
    __slots__ = ("code", "severity", "protocol_versions", "spec_url", "requirement", "subjects")
    CODE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    SPEC_URL_FIELD_NUMBER: _ClassVar[int]
    REQUIREMENT_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    code: str
    severity: _verdict_pb2.Severity
    protocol_versions: _containers.RepeatedScalarFieldContainer[str]
    spec_url: str
    requirement: str
    subjects: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, code: _Optional[str] = ..., severity: _Optional[_Union[_verdict_pb2.Severity, str]] = ..., protocol_versions: _Optional[_Iterable[str]] = ..., spec_url: _Optional[str] = ..., requirement: _Optional[str] = ..., subjects: _Optional[_Iterable[str]] = ...) -> None: ...

class CheckToolNamesRequest(_message.Message):
    __slots__ = ("context", "options", "names")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., names: _Optional[_Iterable[str]] = ...) -> None: ...

class CheckToolNamesResponse(_message.Message):
    __slots__ = ("outcomes", "collisions")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    COLLISIONS_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[ToolNameOutcome]
    collisions: _containers.RepeatedCompositeFieldContainer[NameCollision]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[ToolNameOutcome, _Mapping]]] = ..., collisions: _Optional[_Iterable[_Union[NameCollision, _Mapping]]] = ...) -> None: ...

class ToolNameOutcome(_message.Message):
    __slots__ = ("verdict", "sdk_valid", "sdk_warnings", "sanitized")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    SDK_VALID_FIELD_NUMBER: _ClassVar[int]
    SDK_WARNINGS_FIELD_NUMBER: _ClassVar[int]
    SANITIZED_FIELD_NUMBER: _ClassVar[int]
    verdict: _verdict_pb2.Verdict
    sdk_valid: bool
    sdk_warnings: _containers.RepeatedScalarFieldContainer[str]
    sanitized: str
    def __init__(self, verdict: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ..., sdk_valid: bool = ..., sdk_warnings: _Optional[_Iterable[str]] = ..., sanitized: _Optional[str] = ...) -> None: ...

class NameCollision(_message.Message):
    __slots__ = ("sanitized", "indexes")
    SANITIZED_FIELD_NUMBER: _ClassVar[int]
    INDEXES_FIELD_NUMBER: _ClassVar[int]
    sanitized: str
    indexes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, sanitized: _Optional[str] = ..., indexes: _Optional[_Iterable[int]] = ...) -> None: ...

class CheckToolsRequest(_message.Message):
    __slots__ = ("context", "options", "tools_list", "tools", "documents")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_LIST_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    tools_list: bytes
    tools: _containers.RepeatedCompositeFieldContainer[_target_pb2.InlineTool]
    documents: _containers.RepeatedCompositeFieldContainer[_target_pb2.Document]
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., tools_list: _Optional[bytes] = ..., tools: _Optional[_Iterable[_Union[_target_pb2.InlineTool, _Mapping]]] = ..., documents: _Optional[_Iterable[_Union[_target_pb2.Document, _Mapping]]] = ...) -> None: ...

class CheckToolsResponse(_message.Message):
    __slots__ = ("outcomes", "tools_list_verdict")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_LIST_VERDICT_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[ToolOutcome]
    tools_list_verdict: _verdict_pb2.Verdict
    def __init__(self, outcomes: _Optional[_Iterable[_Union[ToolOutcome, _Mapping]]] = ..., tools_list_verdict: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ...) -> None: ...

class ToolOutcome(_message.Message):
    __slots__ = ("name", "pointer", "disposition", "verdict")
    class Disposition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DISPOSITION_UNSPECIFIED: _ClassVar[ToolOutcome.Disposition]
        DISPOSITION_KEEP: _ClassVar[ToolOutcome.Disposition]
        DISPOSITION_WARN: _ClassVar[ToolOutcome.Disposition]
        DISPOSITION_DROP: _ClassVar[ToolOutcome.Disposition]
    DISPOSITION_UNSPECIFIED: ToolOutcome.Disposition
    DISPOSITION_KEEP: ToolOutcome.Disposition
    DISPOSITION_WARN: ToolOutcome.Disposition
    DISPOSITION_DROP: ToolOutcome.Disposition
    NAME_FIELD_NUMBER: _ClassVar[int]
    POINTER_FIELD_NUMBER: _ClassVar[int]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    name: str
    pointer: str
    disposition: ToolOutcome.Disposition
    verdict: _verdict_pb2.Verdict
    def __init__(self, name: _Optional[str] = ..., pointer: _Optional[str] = ..., disposition: _Optional[_Union[ToolOutcome.Disposition, str]] = ..., verdict: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ...) -> None: ...

class Elicitation(_message.Message):
    __slots__ = ("params",)
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    params: bytes
    def __init__(self, params: _Optional[bytes] = ...) -> None: ...

class CheckElicitationRequest(_message.Message):
    __slots__ = ("context", "options", "elicitation")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    ELICITATION_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    elicitation: Elicitation
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., elicitation: _Optional[_Union[Elicitation, _Mapping]] = ...) -> None: ...

class CheckElicitationResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: CheckResult
    def __init__(self, result: _Optional[_Union[CheckResult, _Mapping]] = ...) -> None: ...

class ElicitationResult(_message.Message):
    __slots__ = ("result", "params")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    result: bytes
    params: bytes
    def __init__(self, result: _Optional[bytes] = ..., params: _Optional[bytes] = ...) -> None: ...

class CheckElicitationResultRequest(_message.Message):
    __slots__ = ("context", "options", "elicitation_result")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    ELICITATION_RESULT_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    elicitation_result: ElicitationResult
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., elicitation_result: _Optional[_Union[ElicitationResult, _Mapping]] = ...) -> None: ...

class CheckElicitationResultResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: CheckResult
    def __init__(self, result: _Optional[_Union[CheckResult, _Mapping]] = ...) -> None: ...

class Sampling(_message.Message):
    __slots__ = ("params",)
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    params: bytes
    def __init__(self, params: _Optional[bytes] = ...) -> None: ...

class CheckSamplingRequest(_message.Message):
    __slots__ = ("context", "options", "sampling")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    sampling: Sampling
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., sampling: _Optional[_Union[Sampling, _Mapping]] = ...) -> None: ...

class CheckSamplingResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: CheckResult
    def __init__(self, result: _Optional[_Union[CheckResult, _Mapping]] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("json", "profile", "tool")
    JSON_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    profile: ResultProfile
    tool: _target_pb2.Target
    def __init__(self, json: _Optional[bytes] = ..., profile: _Optional[_Union[ResultProfile, str]] = ..., tool: _Optional[_Union[_target_pb2.Target, _Mapping]] = ...) -> None: ...

class CheckToolResultRequest(_message.Message):
    __slots__ = ("context", "options", "tool_result", "min_revision")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    tool_result: ToolResult
    min_revision: int
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResult, _Mapping]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class CheckToolResultResponse(_message.Message):
    __slots__ = ("result", "registry_revision")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    result: CheckResult
    registry_revision: int
    def __init__(self, result: _Optional[_Union[CheckResult, _Mapping]] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class NormalizeToolResultRequest(_message.Message):
    __slots__ = ("context", "options", "value", "content", "result", "error", "tool", "profile", "min_revision")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    value: bytes
    content: bytes
    result: bytes
    error: str
    tool: _target_pb2.Target
    profile: ResultProfile
    min_revision: int
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., value: _Optional[bytes] = ..., content: _Optional[bytes] = ..., result: _Optional[bytes] = ..., error: _Optional[str] = ..., tool: _Optional[_Union[_target_pb2.Target, _Mapping]] = ..., profile: _Optional[_Union[ResultProfile, str]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class NormalizeToolResultResponse(_message.Message):
    __slots__ = ("result", "verdict", "registry_revision")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    result: bytes
    verdict: _verdict_pb2.Verdict
    registry_revision: int
    def __init__(self, result: _Optional[bytes] = ..., verdict: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class ProtocolMessage(_message.Message):
    __slots__ = ("json", "sender", "request_method", "request")
    JSON_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    REQUEST_METHOD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    sender: Sender
    request_method: str
    request: bytes
    def __init__(self, json: _Optional[bytes] = ..., sender: _Optional[_Union[Sender, str]] = ..., request_method: _Optional[str] = ..., request: _Optional[bytes] = ...) -> None: ...

class CheckMessageRequest(_message.Message):
    __slots__ = ("context", "options", "message")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    message: ProtocolMessage
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., message: _Optional[_Union[ProtocolMessage, _Mapping]] = ...) -> None: ...

class CheckMessageResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: CheckResult
    def __init__(self, result: _Optional[_Union[CheckResult, _Mapping]] = ...) -> None: ...

class CheckResult(_message.Message):
    __slots__ = ("verdict", "error_response")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    ERROR_RESPONSE_FIELD_NUMBER: _ClassVar[int]
    verdict: _verdict_pb2.Verdict
    error_response: bytes
    def __init__(self, verdict: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ..., error_response: _Optional[bytes] = ...) -> None: ...

class CheckBatchRequest(_message.Message):
    __slots__ = ("context", "options", "items", "min_revision")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    items: _containers.RepeatedCompositeFieldContainer[CheckItem]
    min_revision: int
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., items: _Optional[_Iterable[_Union[CheckItem, _Mapping]]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class CheckItem(_message.Message):
    __slots__ = ("elicitation", "elicitation_result", "sampling", "tool_result", "message")
    ELICITATION_FIELD_NUMBER: _ClassVar[int]
    ELICITATION_RESULT_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    elicitation: Elicitation
    elicitation_result: ElicitationResult
    sampling: Sampling
    tool_result: ToolResult
    message: ProtocolMessage
    def __init__(self, elicitation: _Optional[_Union[Elicitation, _Mapping]] = ..., elicitation_result: _Optional[_Union[ElicitationResult, _Mapping]] = ..., sampling: _Optional[_Union[Sampling, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResult, _Mapping]] = ..., message: _Optional[_Union[ProtocolMessage, _Mapping]] = ...) -> None: ...

class CheckBatchResponse(_message.Message):
    __slots__ = ("outcomes", "registry_revision")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[CheckOutcome]
    registry_revision: int
    def __init__(self, outcomes: _Optional[_Iterable[_Union[CheckOutcome, _Mapping]]] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class CheckOutcome(_message.Message):
    __slots__ = ("result", "error")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    result: CheckResult
    error: _status_pb2.Status
    def __init__(self, result: _Optional[_Union[CheckResult, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class CheckSessionRequest(_message.Message):
    __slots__ = ("defaults", "item")
    DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    defaults: SessionDefaults
    item: SessionItem
    def __init__(self, defaults: _Optional[_Union[SessionDefaults, _Mapping]] = ..., item: _Optional[_Union[SessionItem, _Mapping]] = ...) -> None: ...

class SessionDefaults(_message.Message):
    __slots__ = ("context", "options", "from_beginning")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    FROM_BEGINNING_FIELD_NUMBER: _ClassVar[int]
    context: ProtocolContext
    options: CheckOptions
    from_beginning: bool
    def __init__(self, context: _Optional[_Union[ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[CheckOptions, _Mapping]] = ..., from_beginning: bool = ...) -> None: ...

class SessionItem(_message.Message):
    __slots__ = ("id", "message", "http_status")
    ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    id: str
    message: ProtocolMessage
    http_status: int
    def __init__(self, id: _Optional[str] = ..., message: _Optional[_Union[ProtocolMessage, _Mapping]] = ..., http_status: _Optional[int] = ...) -> None: ...

class CheckSessionResponse(_message.Message):
    __slots__ = ("id", "outcome", "summary")
    ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    id: str
    outcome: CheckOutcome
    summary: SessionSummary
    def __init__(self, id: _Optional[str] = ..., outcome: _Optional[_Union[CheckOutcome, _Mapping]] = ..., summary: _Optional[_Union[SessionSummary, _Mapping]] = ...) -> None: ...

class SessionSummary(_message.Message):
    __slots__ = ("repeated_violations",)
    REPEATED_VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    repeated_violations: _containers.RepeatedCompositeFieldContainer[RepeatedViolation]
    def __init__(self, repeated_violations: _Optional[_Iterable[_Union[RepeatedViolation, _Mapping]]] = ...) -> None: ...

class RepeatedViolation(_message.Message):
    __slots__ = ("code", "tool", "count", "first_item")
    CODE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_ITEM_FIELD_NUMBER: _ClassVar[int]
    code: str
    tool: str
    count: int
    first_item: int
    def __init__(self, code: _Optional[str] = ..., tool: _Optional[str] = ..., count: _Optional[int] = ..., first_item: _Optional[int] = ...) -> None: ...

class WholeSessionRequest(_message.Message):
    __slots__ = ("defaults", "items")
    DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    defaults: SessionDefaults
    items: _containers.RepeatedCompositeFieldContainer[WholeSessionItem]
    def __init__(self, defaults: _Optional[_Union[SessionDefaults, _Mapping]] = ..., items: _Optional[_Iterable[_Union[WholeSessionItem, _Mapping]]] = ...) -> None: ...

class WholeSessionItem(_message.Message):
    __slots__ = ("message", "http_status")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    message: ProtocolMessage
    http_status: int
    def __init__(self, message: _Optional[_Union[ProtocolMessage, _Mapping]] = ..., http_status: _Optional[int] = ...) -> None: ...

class WholeSessionResponse(_message.Message):
    __slots__ = ("outcomes", "summary")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[CheckOutcome]
    summary: SessionSummary
    def __init__(self, outcomes: _Optional[_Iterable[_Union[CheckOutcome, _Mapping]]] = ..., summary: _Optional[_Union[SessionSummary, _Mapping]] = ...) -> None: ...
