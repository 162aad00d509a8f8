"""Definitions with the digests of their texts, as a registrar makes them."""

import json
from collections.abc import Mapping

from sidecheck_server.core.mcp.tool_definitions import identify_tool
from sidecheck_server.core.types import Document
from sidecheck_server.registry.definitions import Definition

__all__ = ["define_tool"]


def define_tool(
    name: str,
    properties: Mapping[str, object] | None = None,
    documents: tuple[Document, ...] = (),
    *,
    version: str = "2025-11-25",
    spaces: int = 0,
) -> Definition:
    """Return the definition of the tool *name* with *properties* beside an input schema.

    The *spaces* at the end of the text do not change its digest.
    """
    tool = {"name": name, "inputSchema": {"type": "object"}, **(properties or {})}
    text = json.dumps(tool, ensure_ascii=False).encode() + b" " * spaces
    identity = identify_tool(text, documents)
    assert identity is not None
    return Definition(
        identity.digest,
        name,
        text,
        documents,
        identity.input_digest,
        identity.output_digest,
        version,
    )
