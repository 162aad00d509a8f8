"""Source text to infer tools from, and the definitions that were inferred."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sidecheck.texts import JsonText
from sidecheck.violations import Severity

__all__ = ["Diagnostic", "Inferred", "InferredTool", "OnUnsupported", "Source"]

#: What becomes of an annotation that cannot be turned into a schema: its tool is not
#: inferred, or anything is admitted in its place. A diagnostic says which, and why.
OnUnsupported: TypeAlias = Literal["error", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Python source text, and how its tools are inferred.

    Raises:
        TypeError: The text is none, or names are one string instead of several.
    """

    #: The text; ``bytes`` are UTF-8.
    text: str | bytes
    #: The functions, by name, of a method ``Class.method``. () means those with a decorator
    #: called ``tool``, or, if there is none, the public functions of the module.
    functions: Sequence[str] = ()
    on_unsupported: OnUnsupported = "error"
    #: Types, by name, whose parameters are no arguments, beside ``Context`` and the like.
    injected_types: Sequence[str] = ()
    #: Parameters, by name, that are no arguments.
    injected_parameters: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str | bytes):
            raise TypeError(f"a source is str or bytes, not {type(self.text).__name__}")
        for name in ("functions", "injected_types", "injected_parameters"):
            # One name would be taken for those of its letters.
            if isinstance(getattr(self, name), str | bytes):
                raise TypeError(f"{name} is a sequence of names, not one of them")


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredTool:
    """A definition that was inferred."""

    #: The definition in its natural form: its output schema has any root.
    json: JsonText
    #: The name of the function, with those of what it is inside of.
    function: str
    #: The line of its ``def``, from 1.
    line: int
    #: The digest of the definition.
    digest: str

    @property
    def definition(self) -> dict[str, Any]:
        """The definition, decoded anew at each use."""
        value: dict[str, Any] = self.json.value
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One thing that was found in source text."""

    #: The stable code in upper snake case, for example ``UNRESOLVED_NAME``.
    code: str
    #: An error means that the tool was not inferred.
    severity: Severity = Severity.ERROR
    #: What is wrong, and what would be right.
    message: str = ""
    #: The line, from 1; 0 if it is about the whole text.
    line: int = 0
    #: The column, in characters from 1.
    column: int = 0
    #: Where it ends: the line, and the column after.
    end_line: int = 0
    end_column: int = 0
    #: The function and the parameter that it is about, or "".
    function: str = ""
    parameter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """What a text gave."""

    #: In the order of the text.
    tools: tuple[InferredTool, ...]
    #: By line and column.
    diagnostics: tuple[Diagnostic, ...] = ()
