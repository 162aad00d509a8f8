"""JSON text that the server wrote, for the caller to pass on."""

import json
from typing import Any, Final

__all__ = ["NO_TEXT", "JsonText"]


class JsonText(bytes):
    """JSON text in UTF-8, or b"" where there is none.

    It is sent on as it is, as any ``bytes``, or decoded with `value`.
    """

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The text, decoded anew at each use; None where there is none."""
        return json.loads(self) if self else None


#: The text that is not there.
NO_TEXT: Final = JsonText()
