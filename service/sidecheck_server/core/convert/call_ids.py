"""Grammars of the ids of calls, and the ids that stand for those that a grammar rejects."""

import hashlib
import re
import string
from dataclasses import dataclass

__all__ = ["CallIdGrammar"]

_DIGITS = string.digits + string.ascii_letters
"""Digits of base 62, which every grammar allows."""

_MAPPED_LENGTH = 32
"""Length of a mapped id where the grammar allows it: 190 bits of the hash."""


@dataclass(frozen=True, slots=True)
class CallIdGrammar:
    """Grammar of the ids of calls. The empty id is never allowed."""

    #: Largest length, in characters; None is no limit.
    longest: int | None = None
    #: Smallest length, in characters.
    shortest: int = 1
    #: Allowed characters, as a character class of a regular expression; "" is any.
    characters: str = ""
    #: Description of the allowed characters.
    description: str = "characters"

    @property
    def allowed(self) -> str:
        """Description of the allowed ids."""
        if self.longest is None:
            return f"{self.shortest} or more {self.description}"
        if self.shortest == self.longest:
            return f"{self.longest} {self.description}"
        return f"{self.shortest} to {self.longest} {self.description}"

    def admits(self, call_id: str) -> bool:
        """Return whether *call_id* is allowed."""
        if len(call_id) < self.shortest or (
            self.longest is not None and len(call_id) > self.longest
        ):
            return False
        return not self.characters or re.search(f"[^{self.characters}]", call_id) is None

    def map_id(self, call_id: str) -> str:
        """Return *call_id* if it is allowed, or else an id that its hash determines.

        The result is a function of *call_id* alone, so the message with the call and the message
        with its result agree although nothing is stored.
        """
        if self.admits(call_id):
            return call_id
        digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest()
        number, digits = int.from_bytes(digest), []
        for _ in range(min(self.longest or _MAPPED_LENGTH, _MAPPED_LENGTH)):
            number, digit = divmod(number, len(_DIGITS))
            digits.append(_DIGITS[digit])
        return "".join(digits)
