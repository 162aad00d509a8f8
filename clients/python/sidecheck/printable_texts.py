"""Texts of a server in errors and verdicts, for terminals and logs."""

import re
from typing import Final

__all__ = ["make_printable"]

#: Controls (ECMA-48), lone surrogates, line and paragraph separators, and format characters
#: that show nothing or change the direction of a text. The ranges do not follow the Unicode
#: version of the interpreter: the clients of all languages have the same.
_NOT_PRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def make_printable(text: str) -> str:
    """Return *text* with a space in place of each character that is not printable."""
    return _NOT_PRINTABLE.sub(" ", text)
