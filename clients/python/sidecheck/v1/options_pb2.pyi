from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Detail(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DETAIL_UNSPECIFIED: _ClassVar[Detail]
    DETAIL_VERDICT_ONLY: _ClassVar[Detail]
    DETAIL_FIRST: _ClassVar[Detail]
    DETAIL_ALL: _ClassVar[Detail]

class UnknownArguments(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    UNKNOWN_ARGUMENTS_UNSPECIFIED: _ClassVar[UnknownArguments]
    UNKNOWN_ARGUMENTS_SCHEMA: _ClassVar[UnknownArguments]
    UNKNOWN_ARGUMENTS_REJECT: _ClassVar[UnknownArguments]
    UNKNOWN_ARGUMENTS_STRIP: _ClassVar[UnknownArguments]
    UNKNOWN_ARGUMENTS_REPORT: _ClassVar[UnknownArguments]

class Coercion(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COERCION_UNSPECIFIED: _ClassVar[Coercion]
    COERCION_NONE: _ClassVar[Coercion]
    COERCION_JSON_STRINGS: _ClassVar[Coercion]
    COERCION_SAFE_SCALARS: _ClassVar[Coercion]

class OnUnknownTool(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_UNKNOWN_TOOL_UNSPECIFIED: _ClassVar[OnUnknownTool]
    ON_UNKNOWN_TOOL_ERROR: _ClassVar[OnUnknownTool]
    ON_UNKNOWN_TOOL_SKIP: _ClassVar[OnUnknownTool]
DETAIL_UNSPECIFIED: Detail
DETAIL_VERDICT_ONLY: Detail
DETAIL_FIRST: Detail
DETAIL_ALL: Detail
UNKNOWN_ARGUMENTS_UNSPECIFIED: UnknownArguments
UNKNOWN_ARGUMENTS_SCHEMA: UnknownArguments
UNKNOWN_ARGUMENTS_REJECT: UnknownArguments
UNKNOWN_ARGUMENTS_STRIP: UnknownArguments
UNKNOWN_ARGUMENTS_REPORT: UnknownArguments
COERCION_UNSPECIFIED: Coercion
COERCION_NONE: Coercion
COERCION_JSON_STRINGS: Coercion
COERCION_SAFE_SCALARS: Coercion
ON_UNKNOWN_TOOL_UNSPECIFIED: OnUnknownTool
ON_UNKNOWN_TOOL_ERROR: OnUnknownTool
ON_UNKNOWN_TOOL_SKIP: OnUnknownTool

class ValidationOptions(_message.Message):
    __slots__ = ("protocol_version", "detail", "max_violations", "unknown_arguments", "coercion", "apply_defaults", "assert_formats", "on_unknown_tool", "hide_values")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    MAX_VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    COERCION_FIELD_NUMBER: _ClassVar[int]
    APPLY_DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    ASSERT_FORMATS_FIELD_NUMBER: _ClassVar[int]
    ON_UNKNOWN_TOOL_FIELD_NUMBER: _ClassVar[int]
    HIDE_VALUES_FIELD_NUMBER: _ClassVar[int]
    protocol_version: str
    detail: Detail
    max_violations: int
    unknown_arguments: UnknownArguments
    coercion: Coercion
    apply_defaults: bool
    assert_formats: bool
    on_unknown_tool: OnUnknownTool
    hide_values: bool
    def __init__(self, protocol_version: _Optional[str] = ..., detail: _Optional[_Union[Detail, str]] = ..., max_violations: _Optional[int] = ..., unknown_arguments: _Optional[_Union[UnknownArguments, str]] = ..., coercion: _Optional[_Union[Coercion, str]] = ..., apply_defaults: bool = ..., assert_formats: bool = ..., on_unknown_tool: _Optional[_Union[OnUnknownTool, str]] = ..., hide_values: bool = ...) -> None: ...
