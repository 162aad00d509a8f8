"""What becomes of a payload under the options that change payloads."""

import json
from dataclasses import dataclass
from typing import Any

from sidecheck.violations import Violation

__all__ = ["Change", "Repair"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a payload, or one that was not made and why."""

    #: Where, as a JSON Pointer (RFC 6901) into the payload before this change.
    pointer: str
    #: The stable code of the rule that allows it in upper snake case, for example
    #: ``STRING_TO_INTEGER`` or ``DEFAULT_SKIPPED``.
    code: str
    #: Which part of the schema asked for it, as a JSON Pointer, or "" where unknown.
    keyword_location: str = ""
    #: What was done, for a person.
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A payload as `Options` leave it: ``coercion``, ``unknown_arguments``, ``apply_defaults``.

    They are carried out in this order. The server changes nothing by itself: the
    caller decides whether to go on with the repaired payload.
    """

    #: The repaired payload: JSON text in UTF-8.
    payload: bytes
    #: Whether the repaired payload is valid.
    valid: bool
    #: What is wrong with the repaired payload, as in `Verdict.violations`.
    violations: tuple[Violation, ...] = ()
    #: Whether more violations may exist than are listed.
    truncated: bool = False
    #: Everything that was done. What is not listed was not changed.
    changes: tuple[Change, ...] = ()

    @property
    def value(self) -> Any:
        """The repaired payload, decoded anew at each use.

        Python turns numbers with a fraction into binary ones; whoever needs every digit
        takes ``payload``.

        Raises:
            ValueError: An integer has more digits than `sys.set_int_max_str_digits` allows.
        """
        return json.loads(self.payload)
