"""The words of inference: what one may ask for, and what is told."""

from dataclasses import dataclass
from enum import StrEnum

from sidecheck_server.core.types import Severity

__all__ = ["Diagnostic", "InferenceOptions", "Inferred", "InferredTool", "OnUnsupported", "Place"]


class OnUnsupported(StrEnum):
    """What becomes of an annotation that cannot be turned into a schema."""

    #: The tool is not inferred.
    REFUSE = "refuse"
    #: Anything is admitted in its place.
    ADMIT_ANYTHING = "admit_anything"


@dataclass(frozen=True, slots=True)
class InferenceOptions:
    """How definitions are inferred."""

    #: The functions, by name, of a method ``Class.method``; () means those with a decorator
    #: called ``tool``, or, if there is none, the public functions of the module.
    functions: tuple[str, ...] = ()
    on_unsupported: OnUnsupported = OnUnsupported.REFUSE
    #: Types, by name, whose parameters are no arguments, beside those that are known.
    injected_types: tuple[str, ...] = ()
    #: Parameters, by name, that are no arguments.
    injected_parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of the text: lines and columns in characters, from 1; 0 is the whole text."""

    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that was found in source text."""

    #: The stable code in upper snake case.
    code: str
    #: An error means that the tool was not inferred.
    severity: Severity
    #: What is wrong, and what would be right.
    message: str
    place: Place
    #: The function that it is about, or "".
    function: str = ""
    #: The parameter that it is about, or "".
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class InferredTool:
    """A definition that was inferred."""

    #: The definition in its natural form, as JSON text.
    json: bytes
    #: The name of the function, with those of what it is inside of.
    function: str
    #: The line of its ``def``.
    line: int
    digest: str


@dataclass(frozen=True, slots=True)
class Inferred:
    """What one text gave."""

    #: In the order of the text.
    tools: tuple[InferredTool, ...]
    #: By line and column.
    diagnostics: tuple[Diagnostic, ...]
