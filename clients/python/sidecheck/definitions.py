"""Values of InferenceService: inferred and adapted definitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sidecheck.json_types import JsonText
from sidecheck.portability import PortableForm
from sidecheck.values.verdict import Severity

__all__ = [
    "AdaptedTool",
    "Diagnostic",
    "InferredTool",
    "InferredTools",
    "OnUnsupported",
    "Source",
]

#: Treatment of an annotation that has no schema: its tool is not inferred ("error"), or
#: any value is admitted ("any"). A diagnostic describes it in both cases.
OnUnsupported: TypeAlias = Literal["error", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Python source text, with the options of the inference.

    Raises:
        TypeError: The text is neither ``str`` nor ``bytes``, or a sequence of names is
            a single string.
    """

    #: The text; ``bytes`` are UTF-8.
    text: str | bytes
    #: Names of the functions that are tools, ``Class.method`` for a method. () selects
    #: functions with a decorator called ``tool``, or all public ones if there are none.
    functions: Sequence[str] = ()
    on_unsupported: OnUnsupported = "error"
    #: Names of types whose parameters are not arguments, in addition to ``Context`` etc.
    injected_types: Sequence[str] = ()
    #: Names of parameters that are not arguments.
    injected_parameters: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str | bytes):
            raise TypeError(f"source must be str or bytes, not {type(self.text).__name__}")
        for name in ("functions", "injected_types", "injected_parameters"):
            # A string is a sequence of strings too.
            if isinstance(getattr(self, name), str | bytes):
                raise TypeError(f"{name} must be a sequence of names, not a single name")


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredTool:
    """A definition that was inferred from source text."""

    #: The canonical definition: its output schema may have any root.
    json: JsonText
    #: Qualified name of the function.
    function: str
    #: Line of its ``def``, from 1.
    line: int
    #: Digest of the definition.
    digest: str

    @property
    def definition(self) -> dict[str, Any]:
        """The decoded definition. Decoded at each access."""
        value: dict[str, Any] = self.json.value
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """Something in source text that inference could not read."""

    #: Stable code in upper snake case, for example ``UNRESOLVED_NAME``.
    code: str
    #: An error means that the tool was not inferred.
    severity: Severity = Severity.ERROR
    #: The fault and its remedy.
    message: str = ""
    #: Line, from 1; 0 for the text as a whole.
    line: int = 0
    #: Column, in characters from 1.
    column: int = 0
    #: End of the range: line, and the column after it.
    end_line: int = 0
    end_column: int = 0
    #: Function and parameter concerned, or "".
    function: str = ""
    parameter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredTools:
    """Result of an inference."""

    #: Tools, in the order of the text.
    tools: tuple[InferredTool, ...]
    #: Diagnostics, by line and column.
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptedTool:
    """A definition adapted to a protocol version."""

    #: The definition; byte for byte the original if nothing had to change.
    json: JsonText
    #: The property of structured content that holds the value, if the output schema was
    #: wrapped in an object; "" otherwise.
    wrapped_property: str = ""
    #: Properties of the definition that the version does not have and that were removed.
    dropped_properties: tuple[str, ...] = ()
    #: Set if the definition was made portable.
    portable: PortableForm | None = None

    @property
    def definition(self) -> dict[str, Any]:
        """The decoded definition. Decoded at each access."""
        value: dict[str, Any] = self.json.value
        return value
