"""Published MCP servers, read and never run: tools inferred from their source texts.

The servers are wheels in ``build/servers``, which the Makefile downloads by
``tests/servers.lock``. What some of them published themselves comes from the shared material:
answers to ``tools/list`` of the very release, or of an earlier one.
"""

import gzip
import json
import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.infer.diagnostics import SourceError
from sidecheck_server.core.infer.functions import find_functions, select_functions
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.source import parse_source
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.types import Severity

__all__ = ["LIMITS", "WIDE", "Outcome", "Server", "published_tools", "servers"]

_REPOSITORY = Path(__file__).resolve().parent.parent
_FOLDER = _REPOSITORY / "build" / "servers"
LIMITS = Limits()
#: Limits that admit every text of the servers.
WIDE = Limits(source_bytes=1 << 20)

#: Where the answers of a server are: a file of captures, or the origin that records name.
_CAPTURED = MappingProxyType({"fetch": "mcp-server-fetch", "git": "mcp-server-git",
                              "time": "mcp-server-time"})  # fmt: skip
_ORIGINS = MappingProxyType(
    {
        "brnardo/meta-ads-mcp": "meta-ads-mcp",
        "genomoncology/biomcp": "biomcp-python",
        "gongrzhe/office-powerpoint-mcp-server": "office-powerpoint-mcp-server",
        "jkawamoto/mcp-youtube-transcript": "mcp-youtube-transcript",
        "nickclyde/duckduckgo-mcp-server": "duckduckgo-mcp-server",
        "openags/paper-search-mcp": "paper-search-mcp",
        "utensils/mcp-nixos": "mcp-nixos",
    }
)


@dataclass(slots=True)
class Outcome:
    """Outcome of the inference of tool functions."""

    tools: int = 0
    clean: int = 0
    warned: int = 0
    #: Why tools were not inferred: how many, by the first code.
    rejected: Counter[str] = field(default_factory=Counter)
    #: Warnings by code.
    warnings: Counter[str] = field(default_factory=Counter)
    definitions: dict[str, Any] = field(default_factory=dict)

    @property
    def inferred(self) -> int:
        """Number of inferred definitions."""
        return self.clean + self.warned

    def add(self, other: "Outcome") -> None:
        """Add the counts of *other*."""
        self.tools += other.tools
        self.clean += other.clean
        self.warned += other.warned
        self.rejected += other.rejected
        self.warnings += other.warnings
        self.definitions |= other.definitions


@dataclass(frozen=True, slots=True)
class Server:
    """Server, with the source texts of a release."""

    name: str
    version: str
    #: By path.
    texts: Mapping[str, bytes]

    def outcome(self, limits: Limits) -> Outcome:
        """Infer the decorated functions of each source text."""
        whole = Outcome()
        for text in self.texts.values():
            whole.add(_outcome(text, limits))
        return whole


def servers() -> list[Server]:
    """Return the downloaded servers, by name."""
    return sorted(map(_server, _FOLDER.glob("*.whl")), key=lambda one: one.name)


def published_tools() -> dict[str, dict[str, Any]]:
    """Return published definitions by server and tool; {} without the shared material."""
    shared = Path(os.environ.get("SIDECHECK_SHARED") or _REPOSITORY.parent / "shared")
    found: dict[str, dict[str, Any]] = {}
    for file, server in _CAPTURED.items():
        path = shared / "mcp" / "captured" / f"{file}.json"
        if path.exists():
            pages = json.loads(path.read_text(encoding="utf-8"))["tools_list"]
            tools = [tool for page in pages for tool in page["result"]["tools"]]
            found[server] = {tool["name"]: tool for tool in tools}
    corpus = shared / "corpus" / "tools.jsonl.gz"
    if corpus.exists():
        with gzip.open(corpus, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                server = _ORIGINS.get(record["prov"].get("origin"), "")
                if server:
                    found.setdefault(server, {})[record["tool"]["name"]] = record["tool"]
    return found


def _server(path: Path) -> Server:
    with zipfile.ZipFile(path) as wheel:
        name, version = _named(wheel)
        texts = {one: wheel.read(one) for one in wheel.namelist() if one.endswith(".py")}
    return Server(name, version, texts)


def _named(wheel: zipfile.ZipFile) -> tuple[str, str]:
    file = next(one for one in wheel.namelist() if one.endswith(".dist-info/METADATA"))
    lines = wheel.read(file).decode().splitlines()
    said = dict(line.split(": ", 1) for line in lines[:10] if ": " in line)
    return said["Name"], said["Version"]


def _outcome(text: bytes, limits: Limits) -> Outcome:
    names = list(_decorated(text))
    outcome = Outcome(len(names))
    if not names:
        return outcome
    try:
        inferred = infer_tools(text, InferenceOptions(functions=tuple(names)), limits)
    except RequestError as error:
        outcome.rejected[error.reason.value.upper()] = len(names)
        return outcome
    diagnostics: dict[str, list[tuple[Severity, str]]] = {}
    for diagnostic in inferred.diagnostics:
        diagnostics.setdefault(diagnostic.function, []).append(
            (diagnostic.severity, diagnostic.code)
        )
    definitions = {tool.function: tool.json for tool in inferred.tools}
    for name in names:
        reported = diagnostics.get(name, [])
        errors = [code for severity, code in reported if severity is Severity.ERROR]
        if name not in definitions:
            outcome.rejected[errors[0] if errors else "?"] += 1
            continue
        definition = json.loads(definitions[name])
        outcome.definitions[definition["name"]] = definition
        outcome.clean += not reported
        outcome.warned += bool(reported)
        outcome.warnings.update({code for _, code in reported})
    return outcome


def _decorated(text: bytes) -> Iterator[str]:
    """Yield the functions with a tool decorator."""
    try:
        every = find_functions(parse_source(text))
    except SourceError:
        return
    for function in select_functions(every, ()):
        if function.decorator is not None:
            yield function.name
