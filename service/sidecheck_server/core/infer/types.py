"""Types of inference: options, inferred tools, diagnostics."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from sidecheck_server.core.types import Severity

__all__ = [
    "Diagnostic",
    "InferenceOptions",
    "InferenceResult",
    "InferredTool",
    "OnUnsupported",
    "SchemaMode",
    "SourceRange",
]

#: Pydantic's modes of a JSON Schema: "validation" describes input, "serialization" output.
SchemaMode: TypeAlias = Literal["validation", "serialization"]


class OnUnsupported(StrEnum):
    """Treatment of an annotation that has no JSON Schema."""

    #: The tool is not inferred.
    ERROR = "error"
    #: The parameter admits any value, with a warning.
    ANY = "any"


@dataclass(frozen=True, slots=True)
class InferenceOptions:
    """Options of one inference."""

    #: Functions to infer, by qualified name (``Class.method``). () selects the functions with
    #: a decorator called ``tool`` or, if there is none, the public functions of the module.
    functions: tuple[str, ...] = ()
    on_unsupported: OnUnsupported = OnUnsupported.ERROR
    #: Names of additional types whose parameters the server injects.
    injected_types: tuple[str, ...] = ()
    #: Names of additional parameters that the server injects.
    injected_parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceRange:
    """Range of the source.

    Lines, and columns in characters, count from 1; 0 stands for the whole source.
    """

    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Error or warning about source text."""

    #: Stable code in upper snake case.
    code: str
    #: ERROR if the fault prevents the inference of the tool.
    severity: Severity
    #: The fault and its remedy.
    message: str
    location: SourceRange
    #: Qualified name of the function concerned, or "".
    function: str = ""
    #: Name of the parameter concerned, or "".
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class InferredTool:
    """Tool definition inferred from a function."""

    #: The canonical definition as JSON text.
    json: bytes
    #: Qualified name of the function.
    function: str
    #: Line of its ``def``, from 1.
    line: int
    digest: str


@dataclass(frozen=True, slots=True)
class InferenceResult:
    """Tools and diagnostics of one source text."""

    #: In source order.
    tools: tuple[InferredTool, ...]
    #: By line and column.
    diagnostics: tuple[Diagnostic, ...]
