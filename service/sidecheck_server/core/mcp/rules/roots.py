"""Roots: where a client lets servers work."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.formats.uris import is_uri
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_SCHEME = "file://"


@rule(
    "ROOT_URI",
    severity=Severity.ERROR,
    clause=Clause("client/roots", "root"),
    sentence="The uri of a root is a file:// URI.",
    on="Root",
)
def _file(root: Any, context: Context) -> Iterator[Fault]:
    uri = root.get("uri") if isinstance(root, dict) else None
    if not isinstance(uri, str):
        return
    spend(context.budget, min(len(uri), 1 << 16) // 8 + 40)
    if uri[: len(_SCHEME)].lower() != _SCHEME or not is_uri(uri):
        found = Values(hidden=context.hide_values).found(uri)
        yield Fault(("uri",), f"uri must be a file:// URI such as file:///home/ann; found {found}")


RULES: tuple[Rule, ...] = (_file,)
