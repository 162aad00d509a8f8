"""Verdicts: the outcome of a validation, with its violations and repairs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sidecheck.printable_texts import make_printable

__all__ = [
    "NO_TEXT",
    "Change",
    "InvalidPayload",
    "JsonText",
    "Repair",
    "Severity",
    "Verdict",
    "Violation",
    "describe_violation",
    "list_lines",
    "quote",
]


#: Maximum violations in the message of an exception; the exception has all of them.
MAX_LINES: Final = 10

#: Maximum length of the description of a violation, in characters.
_MAX_LINE: Final = 600


class JsonText(bytes):
    """JSON text in UTF-8 as the server wrote it; b"" for no text.

    Use it like any ``bytes``, or decode it with `value`.
    """

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The decoded text, or None for b"". Decoded at each access."""
        return json.loads(self) if self else None


#: The value of `JsonText` fields that are not set.
NO_TEXT: Final = JsonText()


class Severity(StrEnum):
    """Severity of a violation. Only an error makes a verdict invalid."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One failed rule, with the location where it failed."""

    #: Stable code of the rule in upper snake case, meant for programs.
    code: str
    #: JSON Pointer (RFC 6901) into the validated value; "" is the whole value. A
    #: missing property is reported at its object, an unknown property at itself.
    instance_location: str = ""
    #: JSON Pointer to the failed keyword along the evaluation path, so it passes
    #: through ``$ref``. "" if no schema is involved.
    keyword_location: str = ""
    #: JSON Schema keyword that failed; "" if no schema is involved.
    keyword: str = ""
    severity: Severity = Severity.ERROR
    #: Expected and actual value, in text for people.
    message: str = ""
    #: The nearest known name or value; "" where none is near.
    suggestion: str = ""
    #: URL of the specification section that the rule comes from; "" for rules of
    #: the schema itself.
    spec_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a payload, or one that was skipped, with the reason."""

    #: JSON Pointer (RFC 6901) into the payload before this change.
    instance_location: str
    #: Stable code of the change in upper snake case, for example
    #: ``STRING_TO_INTEGER`` or ``DEFAULT_SKIPPED``.
    code: str
    #: JSON Pointer to the part of the schema that causes the change; "" if unknown.
    keyword_location: str = ""
    #: Description of the change for people.
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A payload after ``coercion``, ``unknown_arguments`` and ``apply_defaults``.

    These `Options` are applied in this order. The server never replaces a payload:
    the caller decides whether to use the repaired one.
    """

    #: The repaired payload: JSON text in UTF-8.
    payload: bytes
    #: Whether the repaired payload is valid.
    valid: bool
    #: Violations of the repaired payload, as in `Verdict.violations`.
    violations: tuple[Violation, ...] = ()
    #: Whether more violations may exist than are listed.
    truncated: bool = False
    #: All changes; nothing else differs from the original payload.
    changes: tuple[Change, ...] = ()

    @property
    def value(self) -> Any:
        """The decoded payload. Decoded at each access.

        Python decodes numbers with a fraction as binary floats; use ``payload`` where
        every digit counts.

        Raises:
            ValueError: An integer has more digits than `sys.set_int_max_str_digits` allows.
        """
        return json.loads(self.payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Outcome of a validation.

    An invalid payload is a normal outcome and is returned; use `raise_for_invalid` to
    turn it into an exception.
    """

    #: Whether there is no violation of severity error.
    valid: bool
    #: Violations, ordered by instance location, keyword location and code.
    violations: tuple[Violation, ...] = ()
    #: Whether more violations may exist than are listed.
    truncated: bool = False
    #: Digest of the tool definition validated against; "" for a bare schema.
    definition_digest: str = ""
    #: Digest of the schema validated against.
    schema_digest: str = ""
    #: Text for the model whose arguments were invalid, for a ``CallToolResult`` with
    #: ``isError: true``. "" if the verdict is valid.
    tool_error_text: str = ""
    #: Revision of the registry in which the target was resolved.
    registry_revision: int = 0
    #: Whether to act on the verdict. False for servers that the service only reports on, by
    #: its configuration: their payloads pass, valid or not.
    enforced: bool = True
    #: The payload after the options that change payloads; None if none of them was set
    #: or nothing was changed. ``valid`` and ``violations`` of the verdict are about the
    #: payload as sent.
    repair: Repair | None = None
    #: If the verdict on arguments or on a tool result is invalid: the
    #: ``CallToolResult`` to return instead, with ``isError: true``.
    call_tool_result: JsonText = NO_TEXT
    #: If the violation is a protocol error rather than a tool error: the ``error`` of
    #: the JSON-RPC response to return.
    json_rpc_error: JsonText = NO_TEXT

    def raise_for_invalid(self) -> None:
        """Raise if the verdict is invalid and enforced.

        A repair has no influence: `InvalidPayload` is about the payload as sent, even if
        its ``verdict.repair`` is valid.

        Raises:
            InvalidPayload: The verdict is invalid and enforced.
        """
        if self.enforced and not self.valid:
            raise InvalidPayload(self)


class InvalidPayload(Exception):
    """A payload is invalid. Raised only by `Verdict.raise_for_invalid`.

    The text describes the first errors. It contains values of the payload, unless
    `Options.hide_values` was set.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict)
        self.verdict = verdict

    def __str__(self) -> str:
        errors = [v for v in self.verdict.violations if v.severity is Severity.ERROR]
        lines = [describe_violation(error) for error in errors]
        return list_lines("the payload is invalid", lines, truncated=self.verdict.truncated)


def describe_violation(violation: Violation) -> str:
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
