from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class McpRequest(_message.Message):
    __slots__ = ("service_names", "method", "metadata_context", "mcp_request", "headers")
    SERVICE_NAMES_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    METADATA_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    MCP_REQUEST_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    service_names: _containers.RepeatedScalarFieldContainer[str]
    method: str
    metadata_context: _struct_pb2.Struct
    mcp_request: bytes
    headers: _containers.RepeatedCompositeFieldContainer[McpHeader]
    def __init__(self, service_names: _Optional[_Iterable[str]] = ..., method: _Optional[str] = ..., metadata_context: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., mcp_request: _Optional[bytes] = ..., headers: _Optional[_Iterable[_Union[McpHeader, _Mapping]]] = ...) -> None: ...

class McpResponse(_message.Message):
    __slots__ = ("service_names", "method", "metadata_context", "mcp_response")
    SERVICE_NAMES_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    METADATA_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    MCP_RESPONSE_FIELD_NUMBER: _ClassVar[int]
    service_names: _containers.RepeatedScalarFieldContainer[str]
    method: str
    metadata_context: _struct_pb2.Struct
    mcp_response: bytes
    def __init__(self, service_names: _Optional[_Iterable[str]] = ..., method: _Optional[str] = ..., metadata_context: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., mcp_response: _Optional[bytes] = ...) -> None: ...

class McpRequestResult(_message.Message):
    __slots__ = ("mutated", "error", "header_mutation", "metadata")
    PASS_FIELD_NUMBER: _ClassVar[int]
    MUTATED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    HEADER_MUTATION_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    mutated: bytes
    error: AuthorizationError
    header_mutation: HeaderMutation
    metadata: _struct_pb2.Struct
    def __init__(self, mutated: _Optional[bytes] = ..., error: _Optional[_Union[AuthorizationError, _Mapping]] = ..., header_mutation: _Optional[_Union[HeaderMutation, _Mapping]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., **kwargs) -> None: ...

class McpResponseResult(_message.Message):
    __slots__ = ("mutated", "error")
    PASS_FIELD_NUMBER: _ClassVar[int]
    MUTATED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    mutated: bytes
    error: AuthorizationError
    def __init__(self, mutated: _Optional[bytes] = ..., error: _Optional[_Union[AuthorizationError, _Mapping]] = ..., **kwargs) -> None: ...

class HeaderMutation(_message.Message):
    __slots__ = ("set", "remove")
    SET_FIELD_NUMBER: _ClassVar[int]
    REMOVE_FIELD_NUMBER: _ClassVar[int]
    set: _containers.RepeatedCompositeFieldContainer[McpHeader]
    remove: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, set: _Optional[_Iterable[_Union[McpHeader, _Mapping]]] = ..., remove: _Optional[_Iterable[str]] = ...) -> None: ...

class McpHeader(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: bytes
    def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...

class Pass(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AuthorizationError(_message.Message):
    __slots__ = ("code", "reason", "mcp_error")
    class Code(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[AuthorizationError.Code]
        PERMISSION_DENIED: _ClassVar[AuthorizationError.Code]
        RESOURCE_EXHAUSTED: _ClassVar[AuthorizationError.Code]
        INVALID: _ClassVar[AuthorizationError.Code]
    UNKNOWN: AuthorizationError.Code
    PERMISSION_DENIED: AuthorizationError.Code
    RESOURCE_EXHAUSTED: AuthorizationError.Code
    INVALID: AuthorizationError.Code
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MCP_ERROR_FIELD_NUMBER: _ClassVar[int]
    code: AuthorizationError.Code
    reason: str
    mcp_error: bytes
    def __init__(self, code: _Optional[_Union[AuthorizationError.Code, str]] = ..., reason: _Optional[str] = ..., mcp_error: _Optional[bytes] = ...) -> None: ...
