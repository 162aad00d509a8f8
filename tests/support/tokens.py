"""Files of tokens."""

import json
from collections.abc import Sequence
from typing import Any

from sidecheck_server.access.tokens import hash_of

__all__ = ["TOKENS", "bearer", "entry", "tokens_file"]

#: Tokens by name.
TOKENS = {
    name: f"sct_{name}-{'x' * 40}"
    for name in ("validator", "registrar", "both", "admin", "limited", "stranger")
}


def entry(name: str, *roles: str, servers: Sequence[str] = ()) -> str:
    """Return the entry of the token *name*."""
    content: dict[str, Any] = {"name": name, "sha256": hash_of(TOKENS[name]), "roles": roles}
    if servers:
        content["servers"] = servers
    return "\n".join(["[[tokens]]", *(f"{key} = {json.dumps(content[key])}" for key in content)])


def tokens_file() -> str:
    """Return a file of all tokens but "stranger"; "limited" is for the server "mine"."""
    return "\n\n".join(
        (
            "# Who may call.",
            entry("validator", "validate"),
            entry("registrar", "register"),
            entry("both", "validate", "register"),
            entry("admin", "admin"),
            entry("limited", "validate", "register", servers=["mine"]),
        )
    )


def bearer(name: str | None) -> tuple[tuple[str, str], ...]:
    """Return the metadata with the token *name*, or none."""
    return () if name is None else (("authorization", f"Bearer {TOKENS[name]}"),)
