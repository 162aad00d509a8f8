"""Universally unique identifiers: the format ``uuid``.

The standard library's `uuid.UUID` also takes braces, URNs and misplaced hyphens.
"""

import re

__all__ = ["is_uuid"]

UUID = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def is_uuid(text: str) -> bool:
    """Return whether *text* is a UUID of any version and variant (RFC 4122, section 3)."""
    return UUID.fullmatch(text) is not None
