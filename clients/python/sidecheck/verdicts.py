"""Methods of verdicts, and texts that describe violations."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from sidecheck.json_types import JsonText
from sidecheck.printable_texts import make_printable

if TYPE_CHECKING:
    from sidecheck.values.verdict import Verdict, Violation

__all__ = [
    "InvalidPayload",
    "RepairMethods",
    "VerdictMethods",
    "describe_violation",
    "list_lines",
    "quote",
]


#: Maximum violations in the message of an exception; the exception has all of them.
MAX_LINES: Final = 10

#: Maximum length of the description of a violation, in characters.
_MAX_LINE: Final = 600


class RepairMethods:
    """Methods of `Repair`."""

    __slots__ = ()

    payload: JsonText

    @property
    def value(self) -> Any:
        """The decoded payload. Decoded at each access.

        Python decodes numbers with a fraction as binary floats; use ``payload`` where
        every digit counts.

        Raises:
            ValueError: An integer has more digits than `sys.set_int_max_str_digits` allows.
        """
        return json.loads(self.payload)


class VerdictMethods:
    """Methods of `Verdict`.

    An invalid payload is a normal outcome and is returned; `raise_for_invalid` turns it into an
    exception.
    """

    __slots__ = ()

    valid: bool
    enforced: bool

    def raise_for_invalid(self) -> None:
        """Raise if the verdict is invalid and enforced.

        A repair has no influence: `InvalidPayload` is about the payload as sent, even if
        its ``verdict.repair`` is valid.

        Raises:
            InvalidPayload: The verdict is invalid and enforced.
        """
        if self.enforced and not self.valid:
            raise InvalidPayload(cast("Verdict", self))


class InvalidPayload(Exception):
    """A payload is invalid. Raised only by `Verdict.raise_for_invalid`.

    The text describes the first errors. It contains values of the payload, unless
    `Options.hide_values` was set.
    """

    def __init__(self, verdict: "Verdict") -> None:
        super().__init__(verdict)
        self.verdict = verdict

    def __str__(self) -> str:
        errors = [v for v in self.verdict.violations if v.severity == "error"]
        lines = [describe_violation(error) for error in errors]
        return list_lines("the payload is invalid", lines, truncated=self.verdict.truncated)


def describe_violation(violation: "Violation") -> str:
    """Return the location, the message, the suggestion and the code, in one line."""
    text = violation.message
    # Most messages already contain the suggestion.
    if violation.suggestion and violation.suggestion not in text:
        text += f"; did you mean {quote(violation.suggestion)}?"
    line = make_printable(": ".join(part for part in (violation.instance_location, text) if part))
    if len(line) > _MAX_LINE:
        line = f"{line[: _MAX_LINE - 1]}…"
    code = f"[{make_printable(violation.code)}]"
    return f"{line} {code}" if line else code


def quote(text: str) -> str:
    """Return *text* in quotes, printable, with a backslash before quotes and backslashes."""
    return json.dumps(make_printable(text), ensure_ascii=False)


def list_lines(title: str, lines: Sequence[str], *, truncated: bool = False) -> str:
    """Return *title* with the first of *lines*.

    *truncated* means that there may be more lines than *lines* has.
    """
    more = len(lines) - MAX_LINES
    if more > 0:
        rest = [f"and {'at least ' if truncated else ''}{more} more"]
    else:
        rest = ["and possibly more"] if truncated and lines else []
    entries = [*lines[:MAX_LINES], *rest]
    if len(entries) > 1:
        return "\n- ".join((f"{title}:", *entries))
    return ": ".join((title, *entries))
