from sidecheck.v1 import comparison_pb2 as _comparison_pb2
from sidecheck.v1 import conversion_service_pb2 as _conversion_service_pb2
from sidecheck.v1 import target_pb2 as _target_pb2
from sidecheck.v1 import verdict_pb2 as _verdict_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OnUnsupported(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_UNSUPPORTED_UNSPECIFIED: _ClassVar[OnUnsupported]
    ON_UNSUPPORTED_ERROR: _ClassVar[OnUnsupported]
    ON_UNSUPPORTED_ANY: _ClassVar[OnUnsupported]
ON_UNSUPPORTED_UNSPECIFIED: OnUnsupported
ON_UNSUPPORTED_ERROR: OnUnsupported
ON_UNSUPPORTED_ANY: OnUnsupported

class InferToolsRequest(_message.Message):
    __slots__ = ("source", "functions", "on_unsupported", "injected_types", "injected_parameters")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    FUNCTIONS_FIELD_NUMBER: _ClassVar[int]
    ON_UNSUPPORTED_FIELD_NUMBER: _ClassVar[int]
    INJECTED_TYPES_FIELD_NUMBER: _ClassVar[int]
    INJECTED_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    source: bytes
    functions: _containers.RepeatedScalarFieldContainer[str]
    on_unsupported: OnUnsupported
    injected_types: _containers.RepeatedScalarFieldContainer[str]
    injected_parameters: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, source: _Optional[bytes] = ..., functions: _Optional[_Iterable[str]] = ..., on_unsupported: _Optional[_Union[OnUnsupported, str]] = ..., injected_types: _Optional[_Iterable[str]] = ..., injected_parameters: _Optional[_Iterable[str]] = ...) -> None: ...

class InferToolsResponse(_message.Message):
    __slots__ = ("tools", "diagnostics")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[InferredTool]
    diagnostics: _containers.RepeatedCompositeFieldContainer[Diagnostic]
    def __init__(self, tools: _Optional[_Iterable[_Union[InferredTool, _Mapping]]] = ..., diagnostics: _Optional[_Iterable[_Union[Diagnostic, _Mapping]]] = ...) -> None: ...

class InferredTool(_message.Message):
    __slots__ = ("json", "function", "line", "definition_digest")
    JSON_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    function: str
    line: int
    definition_digest: str
    def __init__(self, json: _Optional[bytes] = ..., function: _Optional[str] = ..., line: _Optional[int] = ..., definition_digest: _Optional[str] = ...) -> None: ...

class Diagnostic(_message.Message):
    __slots__ = ("code", "severity", "message", "line", "column", "end_line", "end_column", "function", "parameter")
    CODE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    END_COLUMN_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_FIELD_NUMBER: _ClassVar[int]
    code: str
    severity: _verdict_pb2.Severity
    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str
    parameter: str
    def __init__(self, code: _Optional[str] = ..., severity: _Optional[_Union[_verdict_pb2.Severity, str]] = ..., message: _Optional[str] = ..., line: _Optional[int] = ..., column: _Optional[int] = ..., end_line: _Optional[int] = ..., end_column: _Optional[int] = ..., function: _Optional[str] = ..., parameter: _Optional[str] = ...) -> None: ...

class AdaptToolRequest(_message.Message):
    __slots__ = ("tool", "protocol_version", "min_revision", "portable")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    MIN_REVISION_FIELD_NUMBER: _ClassVar[int]
    PORTABLE_FIELD_NUMBER: _ClassVar[int]
    tool: _target_pb2.Target
    protocol_version: str
    min_revision: int
    portable: Portability
    def __init__(self, tool: _Optional[_Union[_target_pb2.Target, _Mapping]] = ..., protocol_version: _Optional[str] = ..., min_revision: _Optional[int] = ..., portable: _Optional[_Union[Portability, _Mapping]] = ...) -> None: ...

class Portability(_message.Message):
    __slots__ = ("targets", "prove")
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    PROVE_FIELD_NUMBER: _ClassVar[int]
    targets: _containers.RepeatedScalarFieldContainer[str]
    prove: bool
    def __init__(self, targets: _Optional[_Iterable[str]] = ..., prove: bool = ...) -> None: ...

class AdaptToolResponse(_message.Message):
    __slots__ = ("json", "wrapped_property", "dropped_properties", "registry_revision", "portable")
    JSON_FIELD_NUMBER: _ClassVar[int]
    WRAPPED_PROPERTY_FIELD_NUMBER: _ClassVar[int]
    DROPPED_PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_REVISION_FIELD_NUMBER: _ClassVar[int]
    PORTABLE_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    wrapped_property: str
    dropped_properties: _containers.RepeatedScalarFieldContainer[str]
    registry_revision: int
    portable: PortableForm
    def __init__(self, json: _Optional[bytes] = ..., wrapped_property: _Optional[str] = ..., dropped_properties: _Optional[_Iterable[str]] = ..., registry_revision: _Optional[int] = ..., portable: _Optional[_Union[PortableForm, _Mapping]] = ...) -> None: ...

class PortableForm(_message.Message):
    __slots__ = ("mapping", "losses", "effect", "proof")
    MAPPING_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    mapping: bytes
    losses: _containers.RepeatedCompositeFieldContainer[_conversion_service_pb2.Loss]
    effect: _conversion_service_pb2.Loss.Effect
    proof: PortabilityProof
    def __init__(self, mapping: _Optional[bytes] = ..., losses: _Optional[_Iterable[_Union[_conversion_service_pb2.Loss, _Mapping]]] = ..., effect: _Optional[_Union[_conversion_service_pb2.Loss.Effect, str]] = ..., proof: _Optional[_Union[PortabilityProof, _Mapping]] = ...) -> None: ...

class PortabilityProof(_message.Message):
    __slots__ = ("outcome", "message", "witness")
    class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OUTCOME_UNSPECIFIED: _ClassVar[PortabilityProof.Outcome]
        OUTCOME_EQUIVALENT: _ClassVar[PortabilityProof.Outcome]
        OUTCOME_WIDER: _ClassVar[PortabilityProof.Outcome]
        OUTCOME_UNDECIDED: _ClassVar[PortabilityProof.Outcome]
        OUTCOME_NARROWER: _ClassVar[PortabilityProof.Outcome]
    OUTCOME_UNSPECIFIED: PortabilityProof.Outcome
    OUTCOME_EQUIVALENT: PortabilityProof.Outcome
    OUTCOME_WIDER: PortabilityProof.Outcome
    OUTCOME_UNDECIDED: PortabilityProof.Outcome
    OUTCOME_NARROWER: PortabilityProof.Outcome
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    WITNESS_FIELD_NUMBER: _ClassVar[int]
    outcome: PortabilityProof.Outcome
    message: str
    witness: _comparison_pb2.Witness
    def __init__(self, outcome: _Optional[_Union[PortabilityProof.Outcome, str]] = ..., message: _Optional[str] = ..., witness: _Optional[_Union[_comparison_pb2.Witness, _Mapping]] = ...) -> None: ...
