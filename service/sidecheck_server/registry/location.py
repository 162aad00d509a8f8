"""Locations of registries: a file, or a URI, which may have a password that nothing may show."""

import re
from pathlib import Path
from typing import Final, TypeAlias

__all__ = ["HISTORY_SECONDS", "PostgresLocation", "RegistryLocation"]

HISTORY_SECONDS: Final = 86_400.0
"""For how long a registry on PostgreSQL keeps its changes, unless told otherwise."""

_SCHEMES = ("postgresql://", "postgres://")
_OTHER_CONNECTION: Final = re.compile(
    r"\s*(?:[a-z][\w+.-]*://|postgres(?:ql)?:|"
    r"(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=)",
    re.IGNORECASE | re.ASCII,
)
_HOST: Final = r"(?:[\w.%-]*|\[[\w:.%]*\])(?::\d+)?"
_CLEAR_URI: Final = re.compile(
    rf"postgres(?:ql)?://(?:[^/?#@]*@)?(?P<shown>{_HOST}(?:,{_HOST})*(?:/[^/?#@]*)?)(?:\?[^?#@]*)?"
)


class PostgresLocation:
    """A connection URI of libpq. As a text, it has neither user, password nor parameters.

    It has no fields, which whatever writes out settings would show.
    """

    __slots__ = ("_uri",)

    def __init__(self, uri: str) -> None:
        self._uri = uri

    @property
    def uri(self) -> str:
        """The URI as it was given."""
        return self._uri

    @staticmethod
    def is_uri(text: str) -> bool:
        """Return whether *text* begins as a URI of PostgreSQL does."""
        return text.startswith(_SCHEMES)

    @staticmethod
    def is_other_connection(text: str) -> bool:
        """Return whether *text* names a connection in another way, rather than a file.

        As do the URIs of other programs, and the keywords of libpq. It may have a password.
        """
        return not text.startswith(_SCHEMES) and _OTHER_CONNECTION.match(text) is not None

    @property
    def is_clear(self) -> bool:
        """Whether it is certain which part of the URI is a password.

        It is not where special characters stand unescaped. Then neither it nor what others say
        of its parts may be shown.
        """
        return _CLEAR_URI.fullmatch(self.uri) is not None

    def __str__(self) -> str:
        matched = _CLEAR_URI.fullmatch(self.uri)
        return "postgresql://…" if matched is None else f"postgresql://{matched['shown']}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PostgresLocation) and other.uri == self.uri

    def __hash__(self) -> int:
        return hash(self.uri)

    def __repr__(self) -> str:
        return f"PostgresLocation({str(self)!r})"


#: A file, a database, or None for memory.
RegistryLocation: TypeAlias = Path | PostgresLocation | None
