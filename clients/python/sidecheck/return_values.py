"""Values of the normalization of results."""

from dataclasses import dataclass
from typing import Any, Final

from sidecheck.json_types import JsonText
from sidecheck.protocol import ResultProfile
from sidecheck.targets import Target
from sidecheck.validation import ABSENT
from sidecheck.values.verdict import Verdict

__all__ = ["NormalizedResult", "ReturnValue"]

#: Fields of `ReturnValue` of which exactly one is set.
RETURN_FIELDS: Final = ("value", "content", "result", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnValue:
    """A tool's return value to normalize, in exactly one of the first four fields.

    In ``value``, ``content`` and ``result``, ``bytes`` are JSON text.

    Raises:
        ValueError: None or several of the four fields are set.
    """

    #: Data: any value that `sidecheck.json_values.json_value` converts.
    value: Any = ABSENT
    #: One content block or a list of them.
    content: Any = ABSENT
    #: A complete ``CallToolResult``.
    result: Any = ABSENT
    #: Error for the model: a text, or an exception, whose message is used.
    error: Any = ABSENT
    #: The tool, whose output schema determines the form of the value.
    tool: Target | None = None
    #: Requirements on the result.
    profile: ResultProfile = "specification"

    def __post_init__(self) -> None:
        fields = [field for field in RETURN_FIELDS if getattr(self, field) is not ABSENT]
        if len(fields) != 1:
            expected = ", ".join(RETURN_FIELDS)
            raise ValueError(
                f"exactly one of {expected} must be set, not {' and '.join(fields) or 'none'}"
            )

    @property
    def field(self) -> str:
        """Name of the field that is set."""
        return next(field for field in RETURN_FIELDS if getattr(self, field) is not ABSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalizedResult:
    """A conforming ``CallToolResult`` with the verdict on the tool's return value."""

    #: The ``CallToolResult``.
    result: JsonText
    #: If invalid, the result is an error that describes the violations.
    verdict: Verdict
