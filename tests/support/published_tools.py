"""The definitions of the corpus of published tools."""

from sidecheck_server.registry.definitions import Definition
from support.definitions import define_tool
from support.shared_material import read_records, shared

__all__ = ["published_tools"]


def published_tools() -> dict[str, list[Definition]]:
    """Return the tools of each server, with distinct names per server; skip without the corpus."""
    servers: dict[str, dict[str, Definition]] = {}
    for record in read_records(shared("corpus/tools.jsonl.gz")):
        tool = record["tool"]
        server = record["prov"].get("server") or record["prov"]["repo"]
        servers.setdefault(server, {})[tool["name"]] = define_tool(tool["name"], tool)
    return {server: list(tools.values()) for server, tools in servers.items()}
