"""Locations of registries: a file, or a URI whose password must never be shown."""

import re
from pathlib import Path
from typing import Final, TypeAlias

__all__ = ["HISTORY_SECONDS", "PostgresLocation", "RegistryLocation"]

HISTORY_SECONDS: Final = 86_400.0
"""Default of the seconds for which a registry on PostgreSQL keeps its changes."""

_SCHEMES = ("postgresql://", "postgres://")
_OTHER_CONNECTION: Final = re.compile(
    r"\s*(?:[a-z][\w+.-]*://|postgres(?:ql)?:|"
    r"(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=)",
    re.IGNORECASE | re.ASCII,
)
_HOST: Final = r"(?:[\w.%-]*|\[[\w:.%]*\])(?::\d+)?"
_UNAMBIGUOUS_URI: Final = re.compile(
    rf"postgres(?:ql)?://(?:[^/?#@]*@)?(?P<shown>{_HOST}(?:,{_HOST})*(?:/[^/?#@]*)?)(?:\?[^?#@]*)?"
)


class PostgresLocation:
    """A connection URI of libpq; its string form omits user, password, parameters.

    The class is not a dataclass, since code that prints settings shows the fields of those.
    """

    __slots__ = ("_uri",)

    def __init__(self, uri: str) -> None:
        self._uri = uri

    @property
    def uri(self) -> str:
        """The complete URI, with its password."""
        return self._uri

    @staticmethod
    def is_uri(text: str) -> bool:
        """Return whether *text* has the scheme of a PostgreSQL URI."""
        return text.startswith(_SCHEMES)

    @staticmethod
    def is_other_connection(text: str) -> bool:
        """Return whether *text* is a connection in another form, rather than a file.

        Examples are URIs of other programs and the keywords of libpq. They may have a password.
        """
        return not text.startswith(_SCHEMES) and _OTHER_CONNECTION.match(text) is not None

    @property
    def is_unambiguous(self) -> bool:
        """Whether the parts of the URI, the password among them, are unambiguous.

        They are not if special characters are unescaped. Then neither the URI nor errors of
        libpq about its parts may be shown.
        """
        return _UNAMBIGUOUS_URI.fullmatch(self.uri) is not None

    def __str__(self) -> str:
        matched = _UNAMBIGUOUS_URI.fullmatch(self.uri)
        return "postgresql://…" if matched is None else f"postgresql://{matched['shown']}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PostgresLocation) and other.uri == self.uri

    def __hash__(self) -> int:
        return hash(self.uri)

    def __repr__(self) -> str:
        return f"PostgresLocation({str(self)!r})"


#: A file, a database, or None for memory.
RegistryLocation: TypeAlias = Path | PostgresLocation | None
