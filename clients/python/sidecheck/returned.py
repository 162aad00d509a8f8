"""What tools return, and the results that are made of it."""

from dataclasses import dataclass
from typing import Any

from sidecheck.checks import ResultProfile
from sidecheck.items import ABSENT
from sidecheck.targets import Target
from sidecheck.texts import JsonText
from sidecheck.verdicts import Verdict

__all__ = ["AdaptedTool", "NormalizedResult", "Returned"]

_WAYS = ("value", "content", "result", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What a tool returned: exactly one of the four.

    Raises:
        ValueError: None was given, or several.
    """

    #: Data: a `JsonText`, or any value that `sidecheck.json_values.json_value` knows.
    value: Any = ABSENT
    #: One content block or a list of them; ``bytes`` and ``str`` are JSON text.
    content: Any = ABSENT
    #: A whole ``CallToolResult``; ``bytes`` and ``str`` are JSON text.
    result: Any = ABSENT
    #: What went wrong, for the model; of an exception, its message.
    error: Any = ABSENT
    #: The tool, whose output schema says what form the value has.
    tool: Target | None = None
    #: What the result must be.
    profile: ResultProfile = "specification"

    def __post_init__(self) -> None:
        given = [way for way in _WAYS if getattr(self, way) is not ABSENT]
        if len(given) != 1:
            said = " and ".join(given) or "nothing"
            raise ValueError(f"a tool returned one of {', '.join(_WAYS)}; {said} was given")

    @property
    def way(self) -> str:
        """Which of the four it is."""
        return next(way for way in _WAYS if getattr(self, way) is not ABSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalizedResult:
    """A result that conforms."""

    #: The ``CallToolResult``.
    result: JsonText
    #: On what the tool returned. If it is invalid, the result is an error that tells of it.
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptedTool:
    """A definition in the form for a protocol version."""

    #: The definition; byte for byte the one given if nothing had to change.
    json: JsonText
    #: The member of structured content that is the value: the output schema stands in a
    #: box. "" if it does not, or if there is none.
    box: str = ""
    #: The members of the definition that the version does not know, and that were left out.
    left_out: tuple[str, ...] = ()

    @property
    def definition(self) -> dict[str, Any]:
        """The definition, decoded anew at each use."""
        value: dict[str, Any] = self.json.value
        return value
