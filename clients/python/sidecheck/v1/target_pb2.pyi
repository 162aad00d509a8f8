from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Document(_message.Message):
    __slots__ = ("uri", "json")
    URI_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    uri: str
    json: bytes
    def __init__(self, uri: _Optional[str] = ..., json: _Optional[bytes] = ...) -> None: ...

class RegisteredTool(_message.Message):
    __slots__ = ("server", "name", "definition_digest")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    server: str
    name: str
    definition_digest: str
    def __init__(self, server: _Optional[str] = ..., name: _Optional[str] = ..., definition_digest: _Optional[str] = ...) -> None: ...

class InlineTool(_message.Message):
    __slots__ = ("json", "documents")
    JSON_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    def __init__(self, json: _Optional[bytes] = ..., documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ...) -> None: ...

class InlineSchema(_message.Message):
    __slots__ = ("json", "documents", "default_dialect")
    JSON_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_DIALECT_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    default_dialect: str
    def __init__(self, json: _Optional[bytes] = ..., documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., default_dialect: _Optional[str] = ...) -> None: ...

class Target(_message.Message):
    __slots__ = ("registered_tool", "definition_digest", "schema_digest", "inline_tool", "inline_schema")
    REGISTERED_TOOL_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_DIGEST_FIELD_NUMBER: _ClassVar[int]
    INLINE_TOOL_FIELD_NUMBER: _ClassVar[int]
    INLINE_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    registered_tool: RegisteredTool
    definition_digest: str
    schema_digest: str
    inline_tool: InlineTool
    inline_schema: InlineSchema
    def __init__(self, registered_tool: _Optional[_Union[RegisteredTool, _Mapping]] = ..., definition_digest: _Optional[str] = ..., schema_digest: _Optional[str] = ..., inline_tool: _Optional[_Union[InlineTool, _Mapping]] = ..., inline_schema: _Optional[_Union[InlineSchema, _Mapping]] = ...) -> None: ...

class AbsentContent(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Subject(_message.Message):
    __slots__ = ("arguments", "structured_content", "absent_structured_content", "call_params", "call_result")
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_CONTENT_FIELD_NUMBER: _ClassVar[int]
    ABSENT_STRUCTURED_CONTENT_FIELD_NUMBER: _ClassVar[int]
    CALL_PARAMS_FIELD_NUMBER: _ClassVar[int]
    CALL_RESULT_FIELD_NUMBER: _ClassVar[int]
    arguments: bytes
    structured_content: bytes
    absent_structured_content: AbsentContent
    call_params: bytes
    call_result: bytes
    def __init__(self, arguments: _Optional[bytes] = ..., structured_content: _Optional[bytes] = ..., absent_structured_content: _Optional[_Union[AbsentContent, _Mapping]] = ..., call_params: _Optional[bytes] = ..., call_result: _Optional[bytes] = ...) -> None: ...
