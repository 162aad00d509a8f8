from sidecheck.v1 import comparison_pb2 as _comparison_pb2
from sidecheck.v1 import target_pb2 as _target_pb2
from sidecheck.v1 import verdict_pb2 as _verdict_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RegistrationMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REGISTRATION_MODE_UNSPECIFIED: _ClassVar[RegistrationMode]
    REGISTRATION_MODE_UPSERT: _ClassVar[RegistrationMode]
    REGISTRATION_MODE_REPLACE: _ClassVar[RegistrationMode]

class ChangePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHANGE_POLICY_UNSPECIFIED: _ClassVar[ChangePolicy]
    CHANGE_POLICY_ACCEPT: _ClassVar[ChangePolicy]
    CHANGE_POLICY_REPORT: _ClassVar[ChangePolicy]
    CHANGE_POLICY_REJECT: _ClassVar[ChangePolicy]

class CompatibilityPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPATIBILITY_POLICY_UNSPECIFIED: _ClassVar[CompatibilityPolicy]
    COMPATIBILITY_POLICY_IGNORE: _ClassVar[CompatibilityPolicy]
    COMPATIBILITY_POLICY_REPORT: _ClassVar[CompatibilityPolicy]
    COMPATIBILITY_POLICY_REJECT_BREAKING: _ClassVar[CompatibilityPolicy]
    COMPATIBILITY_POLICY_REJECT_UNDECIDED: _ClassVar[CompatibilityPolicy]
REGISTRATION_MODE_UNSPECIFIED: RegistrationMode
REGISTRATION_MODE_UPSERT: RegistrationMode
REGISTRATION_MODE_REPLACE: RegistrationMode
CHANGE_POLICY_UNSPECIFIED: ChangePolicy
CHANGE_POLICY_ACCEPT: ChangePolicy
CHANGE_POLICY_REPORT: ChangePolicy
CHANGE_POLICY_REJECT: ChangePolicy
COMPATIBILITY_POLICY_UNSPECIFIED: CompatibilityPolicy
COMPATIBILITY_POLICY_IGNORE: CompatibilityPolicy
COMPATIBILITY_POLICY_REPORT: CompatibilityPolicy
COMPATIBILITY_POLICY_REJECT_BREAKING: CompatibilityPolicy
COMPATIBILITY_POLICY_REJECT_UNDECIDED: CompatibilityPolicy

class RegisterToolsRequest(_message.Message):
    __slots__ = ("server", "tools", "mode", "change_policy", "validate_only", "protocol_version", "compatibility", "reading")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    CHANGE_POLICY_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    COMPATIBILITY_FIELD_NUMBER: _ClassVar[int]
    READING_FIELD_NUMBER: _ClassVar[int]
    server: str
    tools: _containers.RepeatedCompositeFieldContainer[_target_pb2.InlineTool]
    mode: RegistrationMode
    change_policy: ChangePolicy
    validate_only: bool
    protocol_version: str
    compatibility: CompatibilityPolicy
    reading: _comparison_pb2.SchemaReading
    def __init__(self, server: _Optional[str] = ..., tools: _Optional[_Iterable[_Union[_target_pb2.InlineTool, _Mapping]]] = ..., mode: _Optional[_Union[RegistrationMode, str]] = ..., change_policy: _Optional[_Union[ChangePolicy, str]] = ..., validate_only: bool = ..., protocol_version: _Optional[str] = ..., compatibility: _Optional[_Union[CompatibilityPolicy, str]] = ..., reading: _Optional[_Union[_comparison_pb2.SchemaReading, str]] = ...) -> None: ...

class RegisterToolsResponse(_message.Message):
    __slots__ = ("outcomes", "removed", "registry_revision", "kept")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[RegistrationOutcome]
    removed: _containers.RepeatedScalarFieldContainer[str]
    registry_revision: int
    kept: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[RegistrationOutcome, _Mapping]]] = ..., removed: _Optional[_Iterable[str]] = ..., registry_revision: _Optional[int] = ..., kept: _Optional[_Iterable[str]] = ...) -> None: ...

class RegistrationOutcome(_message.Message):
    __slots__ = ("name", "action", "violations", "definition_digest", "input_schema_digest", "output_schema_digest", "previous_definition_digest", "comparison")
    class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ACTION_UNSPECIFIED: _ClassVar[RegistrationOutcome.Action]
        ACTION_CREATED: _ClassVar[RegistrationOutcome.Action]
        ACTION_CHANGED: _ClassVar[RegistrationOutcome.Action]
        ACTION_UNCHANGED: _ClassVar[RegistrationOutcome.Action]
        ACTION_REJECTED: _ClassVar[RegistrationOutcome.Action]
    ACTION_UNSPECIFIED: RegistrationOutcome.Action
    ACTION_CREATED: RegistrationOutcome.Action
    ACTION_CHANGED: RegistrationOutcome.Action
    ACTION_UNCHANGED: RegistrationOutcome.Action
    ACTION_REJECTED: RegistrationOutcome.Action
    NAME_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_DIGEST_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    name: str
    action: RegistrationOutcome.Action
    violations: _containers.RepeatedCompositeFieldContainer[_verdict_pb2.Violation]
    definition_digest: str
    input_schema_digest: str
    output_schema_digest: str
    previous_definition_digest: str
    comparison: _comparison_pb2.ToolComparison
    def __init__(self, name: _Optional[str] = ..., action: _Optional[_Union[RegistrationOutcome.Action, str]] = ..., violations: _Optional[_Iterable[_Union[_verdict_pb2.Violation, _Mapping]]] = ..., definition_digest: _Optional[str] = ..., input_schema_digest: _Optional[str] = ..., output_schema_digest: _Optional[str] = ..., previous_definition_digest: _Optional[str] = ..., comparison: _Optional[_Union[_comparison_pb2.ToolComparison, _Mapping]] = ...) -> None: ...

class Tool(_message.Message):
    __slots__ = ("server", "name", "json", "documents", "definition_digest", "input_schema_digest", "output_schema_digest", "revision", "protocol_version")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_DIGEST_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_DIGEST_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    server: str
    name: str
    json: bytes
    documents: _containers.RepeatedCompositeFieldContainer[_target_pb2.Document]
    definition_digest: str
    input_schema_digest: str
    output_schema_digest: str
    revision: int
    protocol_version: str
    def __init__(self, server: _Optional[str] = ..., name: _Optional[str] = ..., json: _Optional[bytes] = ..., documents: _Optional[_Iterable[_Union[_target_pb2.Document, _Mapping]]] = ..., definition_digest: _Optional[str] = ..., input_schema_digest: _Optional[str] = ..., output_schema_digest: _Optional[str] = ..., revision: _Optional[int] = ..., protocol_version: _Optional[str] = ...) -> None: ...

class GetToolRequest(_message.Message):
    __slots__ = ("server", "name", "adapt_to_version", "min_revision")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ADAPT_TO_VERSION_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    server: str
    name: str
    adapt_to_version: str
    min_revision: int
    def __init__(self, server: _Optional[str] = ..., name: _Optional[str] = ..., adapt_to_version: _Optional[str] = ..., min_revision: _Optional[int] = ...) -> None: ...

class GetToolResponse(_message.Message):
    __slots__ = ("tool", "registry_revision")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    tool: Tool
    registry_revision: int
    def __init__(self, tool: _Optional[_Union[Tool, _Mapping]] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class ListToolsRequest(_message.Message):
    __slots__ = ("server", "page_size", "page_token", "adapt_to_version", "min_revision")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ADAPT_TO_VERSION_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    server: str
    page_size: int
    page_token: str
    adapt_to_version: str
    min_revision: int
    def __init__(self, server: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., adapt_to_version: _Optional[str] = ..., min_revision: _Optional[int] = ...) -> None: ...

class ListToolsResponse(_message.Message):
    __slots__ = ("tools", "next_page_token", "registry_revision")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[Tool]
    next_page_token: str
    registry_revision: int
    def __init__(self, tools: _Optional[_Iterable[_Union[Tool, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class DeleteToolsRequest(_message.Message):
    __slots__ = ("server", "names", "all")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    ALL_FIELD_NUMBER: _ClassVar[int]
    server: str
    names: _containers.RepeatedScalarFieldContainer[str]
    all: bool
    def __init__(self, server: _Optional[str] = ..., names: _Optional[_Iterable[str]] = ..., all: bool = ...) -> None: ...

class DeleteToolsResponse(_message.Message):
    __slots__ = ("deleted", "unknown", "registry_revision")
    DELETED_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    deleted: _containers.RepeatedScalarFieldContainer[str]
    unknown: _containers.RepeatedScalarFieldContainer[str]
    registry_revision: int
    def __init__(self, deleted: _Optional[_Iterable[str]] = ..., unknown: _Optional[_Iterable[str]] = ..., registry_revision: _Optional[int] = ...) -> None: ...

class WatchToolsRequest(_message.Message):
    __slots__ = ("servers", "after_revision", "after_id")
    SERVERS_FIELD_NUMBER: _ClassVar[int]
    AFTER_REVISION_FIELD_NUMBER: _ClassVar[int]
    AFTER_ID_FIELD_NUMBER: _ClassVar[int]
    servers: _containers.RepeatedScalarFieldContainer[str]
    after_revision: int
    after_id: str
    def __init__(self, servers: _Optional[_Iterable[str]] = ..., after_revision: _Optional[int] = ..., after_id: _Optional[str] = ...) -> None: ...

class WatchToolsResponse(_message.Message):
    __slots__ = ("change", "checkpoint")
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    change: ToolsChange
    checkpoint: RevisionCheckpoint
    def __init__(self, change: _Optional[_Union[ToolsChange, _Mapping]] = ..., checkpoint: _Optional[_Union[RevisionCheckpoint, _Mapping]] = ...) -> None: ...

class ToolsChange(_message.Message):
    __slots__ = ("revision", "id", "server", "registered", "deleted", "continued")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    CONTINUED_FIELD_NUMBER: _ClassVar[int]
    revision: int
    id: str
    server: str
    registered: _containers.RepeatedCompositeFieldContainer[Tool]
    deleted: _containers.RepeatedScalarFieldContainer[str]
    continued: bool
    def __init__(self, revision: _Optional[int] = ..., id: _Optional[str] = ..., server: _Optional[str] = ..., registered: _Optional[_Iterable[_Union[Tool, _Mapping]]] = ..., deleted: _Optional[_Iterable[str]] = ..., continued: bool = ...) -> None: ...

class RevisionCheckpoint(_message.Message):
    __slots__ = ("revision", "id")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    revision: int
    id: str
    def __init__(self, revision: _Optional[int] = ..., id: _Optional[str] = ...) -> None: ...

class ToolSet(_message.Message):
    __slots__ = ("server", "names", "tools")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    server: str
    names: _containers.RepeatedScalarFieldContainer[str]
    tools: _containers.RepeatedCompositeFieldContainer[_target_pb2.InlineTool]
    def __init__(self, server: _Optional[str] = ..., names: _Optional[_Iterable[str]] = ..., tools: _Optional[_Iterable[_Union[_target_pb2.InlineTool, _Mapping]]] = ...) -> None: ...

class CompareToolsRequest(_message.Message):
    __slots__ = ("old", "new", "reading", "min_revision")
    OLD_FIELD_NUMBER: _ClassVar[int]
    NEW_FIELD_NUMBER: _ClassVar[int]
    READING_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    old: ToolSet
    new: ToolSet
    reading: _comparison_pb2.SchemaReading
    min_revision: int
    def __init__(self, old: _Optional[_Union[ToolSet, _Mapping]] = ..., new: _Optional[_Union[ToolSet, _Mapping]] = ..., reading: _Optional[_Union[_comparison_pb2.SchemaReading, str]] = ..., min_revision: _Optional[int] = ...) -> None: ...

class CompareToolsResponse(_message.Message):
    __slots__ = ("tools", "level", "registry_revision")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[_comparison_pb2.ToolComparison]
    level: _comparison_pb2.ChangeLevel
    registry_revision: int
    def __init__(self, tools: _Optional[_Iterable[_Union[_comparison_pb2.ToolComparison, _Mapping]]] = ..., level: _Optional[_Union[_comparison_pb2.ChangeLevel, str]] = ..., registry_revision: _Optional[int] = ...) -> None: ...
