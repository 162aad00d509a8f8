from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ChangeLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHANGE_LEVEL_UNSPECIFIED: _ClassVar[ChangeLevel]
    CHANGE_LEVEL_COSMETIC: _ClassVar[ChangeLevel]
    CHANGE_LEVEL_COMPATIBLE: _ClassVar[ChangeLevel]
    CHANGE_LEVEL_RISKY: _ClassVar[ChangeLevel]
    CHANGE_LEVEL_UNDECIDED: _ClassVar[ChangeLevel]
    CHANGE_LEVEL_BREAKING: _ClassVar[ChangeLevel]

class SchemaReading(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCHEMA_READING_UNSPECIFIED: _ClassVar[SchemaReading]
    SCHEMA_READING_ASSUME_CLOSED: _ClassVar[SchemaReading]
    SCHEMA_READING_AS_WRITTEN: _ClassVar[SchemaReading]

class SchemaRelation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCHEMA_RELATION_UNSPECIFIED: _ClassVar[SchemaRelation]
    SCHEMA_RELATION_EQUAL: _ClassVar[SchemaRelation]
    SCHEMA_RELATION_WIDENED: _ClassVar[SchemaRelation]
    SCHEMA_RELATION_NARROWED: _ClassVar[SchemaRelation]
    SCHEMA_RELATION_INCOMPARABLE: _ClassVar[SchemaRelation]
    SCHEMA_RELATION_UNDECIDED: _ClassVar[SchemaRelation]

class DefinitionPart(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEFINITION_PART_UNSPECIFIED: _ClassVar[DefinitionPart]
    DEFINITION_PART_TOOL: _ClassVar[DefinitionPart]
    DEFINITION_PART_INPUT_SCHEMA: _ClassVar[DefinitionPart]
    DEFINITION_PART_OUTPUT_SCHEMA: _ClassVar[DefinitionPart]
CHANGE_LEVEL_UNSPECIFIED: ChangeLevel
CHANGE_LEVEL_COSMETIC: ChangeLevel
CHANGE_LEVEL_COMPATIBLE: ChangeLevel
CHANGE_LEVEL_RISKY: ChangeLevel
CHANGE_LEVEL_UNDECIDED: ChangeLevel
CHANGE_LEVEL_BREAKING: ChangeLevel
SCHEMA_READING_UNSPECIFIED: SchemaReading
SCHEMA_READING_ASSUME_CLOSED: SchemaReading
SCHEMA_READING_AS_WRITTEN: SchemaReading
SCHEMA_RELATION_UNSPECIFIED: SchemaRelation
SCHEMA_RELATION_EQUAL: SchemaRelation
SCHEMA_RELATION_WIDENED: SchemaRelation
SCHEMA_RELATION_NARROWED: SchemaRelation
SCHEMA_RELATION_INCOMPARABLE: SchemaRelation
SCHEMA_RELATION_UNDECIDED: SchemaRelation
DEFINITION_PART_UNSPECIFIED: DefinitionPart
DEFINITION_PART_TOOL: DefinitionPart
DEFINITION_PART_INPUT_SCHEMA: DefinitionPart
DEFINITION_PART_OUTPUT_SCHEMA: DefinitionPart

class Witness(_message.Message):
    __slots__ = ("payload", "message", "instance_location", "keyword_location")
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_LOCATION_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    message: str
    instance_location: str
    keyword_location: str
    def __init__(self, payload: _Optional[bytes] = ..., message: _Optional[str] = ..., instance_location: _Optional[str] = ..., keyword_location: _Optional[str] = ...) -> None: ...

class SchemaVerdict(_message.Message):
    __slots__ = ("relation", "level", "reason", "witness")
    RELATION_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    WITNESS_FIELD_NUMBER: _ClassVar[int]
    relation: SchemaRelation
    level: ChangeLevel
    reason: str
    witness: Witness
    def __init__(self, relation: _Optional[_Union[SchemaRelation, str]] = ..., level: _Optional[_Union[ChangeLevel, str]] = ..., reason: _Optional[str] = ..., witness: _Optional[_Union[Witness, _Mapping]] = ...) -> None: ...

class SchemaComparison(_message.Message):
    __slots__ = ("part", "assume_closed", "as_written")
    PART_FIELD_NUMBER: _ClassVar[int]
    ASSUME_CLOSED_FIELD_NUMBER: _ClassVar[int]
    AS_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    part: DefinitionPart
    assume_closed: SchemaVerdict
    as_written: SchemaVerdict
    def __init__(self, part: _Optional[_Union[DefinitionPart, str]] = ..., assume_closed: _Optional[_Union[SchemaVerdict, _Mapping]] = ..., as_written: _Optional[_Union[SchemaVerdict, _Mapping]] = ...) -> None: ...

class ChangeEffect(_message.Message):
    __slots__ = ("level", "witness")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    WITNESS_FIELD_NUMBER: _ClassVar[int]
    level: ChangeLevel
    witness: Witness
    def __init__(self, level: _Optional[_Union[ChangeLevel, str]] = ..., witness: _Optional[_Union[Witness, _Mapping]] = ...) -> None: ...

class DefinitionChange(_message.Message):
    __slots__ = ("code", "part", "keyword", "old_location", "new_location", "message", "old_value", "new_value", "assume_closed", "as_written")
    CODE_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_FIELD_NUMBER: _ClassVar[int]
    OLD_LOCATION_FIELD_NUMBER: _ClassVar[int]
    NEW_LOCATION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OLD_VALUE_FIELD_NUMBER: _ClassVar[int]
    NEW_VALUE_FIELD_NUMBER: _ClassVar[int]
    ASSUME_CLOSED_FIELD_NUMBER: _ClassVar[int]
    AS_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    code: str
    part: DefinitionPart
    keyword: str
    old_location: str
    new_location: str
    message: str
    old_value: str
    new_value: str
    assume_closed: ChangeEffect
    as_written: ChangeEffect
    def __init__(self, code: _Optional[str] = ..., part: _Optional[_Union[DefinitionPart, str]] = ..., keyword: _Optional[str] = ..., old_location: _Optional[str] = ..., new_location: _Optional[str] = ..., message: _Optional[str] = ..., old_value: _Optional[str] = ..., new_value: _Optional[str] = ..., assume_closed: _Optional[_Union[ChangeEffect, _Mapping]] = ..., as_written: _Optional[_Union[ChangeEffect, _Mapping]] = ...) -> None: ...

class ToolComparison(_message.Message):
    __slots__ = ("status", "name", "old_name", "old_definition_digest", "new_definition_digest", "assume_closed", "as_written", "schemas", "changes")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSPECIFIED: _ClassVar[ToolComparison.Status]
        STATUS_ADDED: _ClassVar[ToolComparison.Status]
        STATUS_REMOVED: _ClassVar[ToolComparison.Status]
        STATUS_RENAMED: _ClassVar[ToolComparison.Status]
        STATUS_CHANGED: _ClassVar[ToolComparison.Status]
        STATUS_UNCHANGED: _ClassVar[ToolComparison.Status]
    STATUS_UNSPECIFIED: ToolComparison.Status
    STATUS_ADDED: ToolComparison.Status
    STATUS_REMOVED: ToolComparison.Status
    STATUS_RENAMED: ToolComparison.Status
    STATUS_CHANGED: ToolComparison.Status
    STATUS_UNCHANGED: ToolComparison.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OLD_NAME_FIELD_NUMBER: _ClassVar[int]
    OLD_DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    NEW_DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    ASSUME_CLOSED_FIELD_NUMBER: _ClassVar[int]
    AS_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    SCHEMAS_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    status: ToolComparison.Status
    name: str
    old_name: str
    old_definition_digest: str
    new_definition_digest: str
    assume_closed: ChangeLevel
    as_written: ChangeLevel
    schemas: _containers.RepeatedCompositeFieldContainer[SchemaComparison]
    changes: _containers.RepeatedCompositeFieldContainer[DefinitionChange]
    def __init__(self, status: _Optional[_Union[ToolComparison.Status, str]] = ..., name: _Optional[str] = ..., old_name: _Optional[str] = ..., old_definition_digest: _Optional[str] = ..., new_definition_digest: _Optional[str] = ..., assume_closed: _Optional[_Union[ChangeLevel, str]] = ..., as_written: _Optional[_Union[ChangeLevel, str]] = ..., schemas: _Optional[_Iterable[_Union[SchemaComparison, _Mapping]]] = ..., changes: _Optional[_Iterable[_Union[DefinitionChange, _Mapping]]] = ...) -> None: ...
