from google.rpc import status_pb2 as _status_pb2
from sidecheck.v1 import options_pb2 as _options_pb2
from sidecheck.v1 import protocol_service_pb2 as _protocol_service_pb2
from sidecheck.v1 import target_pb2 as _target_pb2
from sidecheck.v1 import verdict_pb2 as _verdict_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ModelApi(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODEL_API_UNSPECIFIED: _ClassVar[ModelApi]
    MODEL_API_OPENAI_CHAT: _ClassVar[ModelApi]
    MODEL_API_OPENAI_RESPONSES: _ClassVar[ModelApi]
    MODEL_API_ANTHROPIC: _ClassVar[ModelApi]
    MODEL_API_GEMINI: _ClassVar[ModelApi]
    MODEL_API_GEMINI_JSON: _ClassVar[ModelApi]
    MODEL_API_BEDROCK: _ClassVar[ModelApi]
    MODEL_API_MISTRAL: _ClassVar[ModelApi]
    MODEL_API_OLLAMA: _ClassVar[ModelApi]
    MODEL_API_MCP: _ClassVar[ModelApi]

class ConversionMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONVERSION_MODE_UNSPECIFIED: _ClassVar[ConversionMode]
    CONVERSION_MODE_COMPATIBLE: _ClassVar[ConversionMode]
    CONVERSION_MODE_STRICT_IF_LOSSLESS: _ClassVar[ConversionMode]
    CONVERSION_MODE_STRICT: _ClassVar[ConversionMode]

class ServerPrefix(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SERVER_PREFIX_UNSPECIFIED: _ClassVar[ServerPrefix]
    SERVER_PREFIX_AUTOMATIC: _ClassVar[ServerPrefix]
    SERVER_PREFIX_ALWAYS: _ClassVar[ServerPrefix]
    SERVER_PREFIX_NEVER: _ClassVar[ServerPrefix]
MODEL_API_UNSPECIFIED: ModelApi
MODEL_API_OPENAI_CHAT: ModelApi
MODEL_API_OPENAI_RESPONSES: ModelApi
MODEL_API_ANTHROPIC: ModelApi
MODEL_API_GEMINI: ModelApi
MODEL_API_GEMINI_JSON: ModelApi
MODEL_API_BEDROCK: ModelApi
MODEL_API_MISTRAL: ModelApi
MODEL_API_OLLAMA: ModelApi
MODEL_API_MCP: ModelApi
CONVERSION_MODE_UNSPECIFIED: ConversionMode
CONVERSION_MODE_COMPATIBLE: ConversionMode
CONVERSION_MODE_STRICT_IF_LOSSLESS: ConversionMode
CONVERSION_MODE_STRICT: ConversionMode
SERVER_PREFIX_UNSPECIFIED: ServerPrefix
SERVER_PREFIX_AUTOMATIC: ServerPrefix
SERVER_PREFIX_ALWAYS: ServerPrefix
SERVER_PREFIX_NEVER: ServerPrefix

class ConversionOptions(_message.Message):
    __slots__ = ("mode", "server_prefix", "assume_closed", "description_length", "include_output_schema", "drop_defaults", "protocol_version")
    MODE_FIELD_NUMBER: _ClassVar[int]
    SERVER_PREFIX_FIELD_NUMBER: _ClassVar[int]
    ASSUME_CLOSED_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_LENGTH_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    DROP_DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    mode: ConversionMode
    server_prefix: ServerPrefix
    assume_closed: bool
    description_length: int
    include_output_schema: bool
    drop_defaults: bool
    protocol_version: str
    def __init__(self, mode: _Optional[_Union[ConversionMode, str]] = ..., server_prefix: _Optional[_Union[ServerPrefix, str]] = ..., assume_closed: bool = ..., description_length: _Optional[int] = ..., include_output_schema: bool = ..., drop_defaults: bool = ..., protocol_version: _Optional[str] = ...) -> None: ...

class ToolToConvert(_message.Message):
    __slots__ = ("tool", "server")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    tool: _target_pb2.Target
    server: str
    def __init__(self, tool: _Optional[_Union[_target_pb2.Target, _Mapping]] = ..., server: _Optional[str] = ...) -> None: ...

class ConvertToolsRequest(_message.Message):
    __slots__ = ("api", "options", "tools", "servers", "min_revision")
    API_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    SERVERS_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    api: ModelApi
    options: ConversionOptions
    tools: _containers.RepeatedCompositeFieldContainer[ToolToConvert]
    servers: _containers.RepeatedScalarFieldContainer[str]
    min_revision: int
    def __init__(self, api: _Optional[_Union[ModelApi, str]] = ..., options: _Optional[_Union[ConversionOptions, _Mapping]] = ..., tools: _Optional[_Iterable[_Union[ToolToConvert, _Mapping]]] = ..., servers: _Optional[_Iterable[str]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class ConvertToolsResponse(_message.Message):
    __slots__ = ("conversions", "request", "registry_revision")
    CONVERSIONS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    conversions: _containers.RepeatedCompositeFieldContainer[ToolConversion]
    request: _verdict_pb2.Verdict
    registry_revision: int
    def __init__(self, conversions: _Optional[_Iterable[_Union[ToolConversion, _Mapping]]] = ..., request: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class ToolConversion(_message.Message):
    __slots__ = ("server", "name", "converted", "error")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONVERTED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    server: str
    name: str
    converted: ConvertedTool
    error: _status_pb2.Status
    def __init__(self, server: _Optional[str] = ..., name: _Optional[str] = ..., converted: _Optional[_Union[ConvertedTool, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class ConvertedTool(_message.Message):
    __slots__ = ("json", "name", "strict", "mapping", "losses", "not_strict_reason")
    JSON_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    MAPPING_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    NOT_STRICT_REASON_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    name: str
    strict: bool
    mapping: bytes
    losses: _containers.RepeatedCompositeFieldContainer[Loss]
    not_strict_reason: str
    def __init__(self, json: _Optional[bytes] = ..., name: _Optional[str] = ..., strict: bool = ..., mapping: _Optional[bytes] = ..., losses: _Optional[_Iterable[_Union[Loss, _Mapping]]] = ..., not_strict_reason: _Optional[str] = ...) -> None: ...

class Loss(_message.Message):
    __slots__ = ("pointer", "keyword", "action", "effect", "message")
    class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ACTION_UNSPECIFIED: _ClassVar[Loss.Action]
        ACTION_KEPT: _ClassVar[Loss.Action]
        ACTION_DESCRIBED: _ClassVar[Loss.Action]
        ACTION_REWRITTEN: _ClassVar[Loss.Action]
        ACTION_ENCODED: _ClassVar[Loss.Action]
        ACTION_DROPPED: _ClassVar[Loss.Action]
    ACTION_UNSPECIFIED: Loss.Action
    ACTION_KEPT: Loss.Action
    ACTION_DESCRIBED: Loss.Action
    ACTION_REWRITTEN: Loss.Action
    ACTION_ENCODED: Loss.Action
    ACTION_DROPPED: Loss.Action
    class Effect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        EFFECT_UNSPECIFIED: _ClassVar[Loss.Effect]
        EFFECT_EQUIVALENT: _ClassVar[Loss.Effect]
        EFFECT_WIDENED: _ClassVar[Loss.Effect]
        EFFECT_NARROWED: _ClassVar[Loss.Effect]
    EFFECT_UNSPECIFIED: Loss.Effect
    EFFECT_EQUIVALENT: Loss.Effect
    EFFECT_WIDENED: Loss.Effect
    EFFECT_NARROWED: Loss.Effect
    POINTER_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    pointer: str
    keyword: str
    action: Loss.Action
    effect: Loss.Effect
    message: str
    def __init__(self, pointer: _Optional[str] = ..., keyword: _Optional[str] = ..., action: _Optional[_Union[Loss.Action, str]] = ..., effect: _Optional[_Union[Loss.Effect, str]] = ..., message: _Optional[str] = ...) -> None: ...

class ConvertToolCallRequest(_message.Message):
    __slots__ = ("call", "mappings", "tool", "options", "min_revision")
    CALL_FIELD_NUMBER: _ClassVar[int]
    MAPPINGS_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    call: bytes
    mappings: _containers.RepeatedScalarFieldContainer[bytes]
    tool: _target_pb2.Target
    options: _options_pb2.ValidationOptions
    min_revision: int
    def __init__(self, call: _Optional[bytes] = ..., mappings: _Optional[_Iterable[bytes]] = ..., tool: _Optional[_Union[_target_pb2.Target, _Mapping]] = ..., options: _Optional[_Union[_options_pb2.ValidationOptions, _Mapping]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class ConvertToolCallResponse(_message.Message):
    __slots__ = ("server", "tool", "call_id", "call_params", "verdict", "changes", "name", "registry_revision")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_PARAMS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    server: str
    tool: str
    call_id: str
    call_params: bytes
    verdict: _verdict_pb2.Verdict
    changes: _containers.RepeatedCompositeFieldContainer[_verdict_pb2.Change]
    name: str
    registry_revision: int
    def __init__(self, server: _Optional[str] = ..., tool: _Optional[str] = ..., call_id: _Optional[str] = ..., call_params: _Optional[bytes] = ..., verdict: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ..., changes: _Optional[_Iterable[_Union[_verdict_pb2.Change, _Mapping]]] = ..., name: _Optional[str] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class ConvertToolResultRequest(_message.Message):
    __slots__ = ("api", "result", "call_id", "name", "context", "options", "min_revision")
    API_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    api: ModelApi
    result: _protocol_service_pb2.ToolResult
    call_id: str
    name: str
    context: _protocol_service_pb2.ProtocolContext
    options: _protocol_service_pb2.CheckOptions
    min_revision: int
    def __init__(self, api: _Optional[_Union[ModelApi, str]] = ..., result: _Optional[_Union[_protocol_service_pb2.ToolResult, _Mapping]] = ..., call_id: _Optional[str] = ..., name: _Optional[str] = ..., context: _Optional[_Union[_protocol_service_pb2.ProtocolContext, _Mapping]] = ..., options: _Optional[_Union[_protocol_service_pb2.CheckOptions, _Mapping]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class ConvertToolResultResponse(_message.Message):
    __slots__ = ("message", "losses", "verdict", "registry_revision")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    message: bytes
    losses: _containers.RepeatedCompositeFieldContainer[Loss]
    verdict: _verdict_pb2.Verdict
    registry_revision: int
    def __init__(self, message: _Optional[bytes] = ..., losses: _Optional[_Iterable[_Union[Loss, _Mapping]]] = ..., verdict: _Optional[_Union[_verdict_pb2.Verdict, _Mapping]] = ..., registry_revision: _Optional[int] = ...) -> None: ...
