"""Share of the tools of published MCP servers that are inferred from source text.

The servers are wheels in ``build/servers``, which the Makefile downloads by
``tests/servers.lock``; they are read, and never installed or run. Definitions that some of them
publish come from the shared material: responses to ``tools/list`` of the same release, or of an
earlier one.

    python benchmarks/inferred_servers.py [--quick] [--report FOLDER]
"""

import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.definition_kinds import differences
from harness.report import Claim, Effort, MissingRequirement, Section, Table, run
from harness.subjects import REPOSITORY, corpus_records, shared_material
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.infer.diagnostics import SourceError
from sidecheck_server.core.infer.functions import find_functions, select_functions
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.source import parse_source
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.types import Severity

__all__ = ["Outcome", "Server", "measure", "published_tools", "read_servers"]

_FOLDER = REPOSITORY / "build" / "servers"
_MIN_PERCENT = 90
_LIMITS = Limits()

#: Server by the file of its captured responses.
_CAPTURED = MappingProxyType(
    {"fetch": "mcp-server-fetch", "git": "mcp-server-git", "time": "mcp-server-time"}
)
#: Server by the origin in records of the corpus.
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

_TEXT = (
    "The servers are those of `tests/servers.lock`: third-party releases, downloaded and read, "
    "never installed or run. A tool is a function with a decorator called `tool`. Each file is "
    "read separately, as a caller would send it, within the default limits. Published definitions "
    "come from responses to `tools/list`, of the same release for fetch, git and time, and of an "
    "earlier one for the others, whose tools have also changed since. Titles are those that "
    "pydantic makes from names; a closed root is `additionalProperties: false`, which those "
    "servers omit, and ignore unknown arguments."
)


@dataclass(slots=True)
class Outcome:
    """Outcome of the inference of tool functions."""

    tools: int = 0
    clean: int = 0
    warned: int = 0
    #: Number of rejected functions by the code of their first error.
    rejected: Counter[str] = field(default_factory=Counter)
    #: Warnings by code.
    warnings: Counter[str] = field(default_factory=Counter)
    definitions: dict[str, Any] = field(default_factory=dict)

    @property
    def inferred(self) -> int:
        """Number of inferred definitions."""
        return self.clean + self.warned

    def add(self, outcome: "Outcome") -> None:
        """Add the counts and definitions of *outcome*."""
        self.tools += outcome.tools
        self.clean += outcome.clean
        self.warned += outcome.warned
        self.rejected += outcome.rejected
        self.warnings += outcome.warnings
        self.definitions |= outcome.definitions


@dataclass(frozen=True, slots=True)
class Server:
    """Server, with the source texts of a release."""

    name: str
    version: str
    #: By path.
    texts: Mapping[str, bytes]

    def infer(self) -> Outcome:
        """Infer the decorated functions of each source text."""
        return _sum(map(_infer_text, self.texts.values()))


def measure(_effort: Effort) -> Section:
    """Measure and return the section.

    Raises:
        MissingRequirement: the servers are not downloaded.
    """
    servers = read_servers()
    if not servers:
        raise MissingRequirement(
            "no servers in build/servers; `make build/servers/.made` downloads them"
        )
    outcomes = {server.name: server.infer() for server in servers}
    total = _sum(outcomes.values())
    tables = [_table(servers, outcomes, total)]
    published = published_tools()
    if published:
        tables.append(_differences_table(outcomes, published))
    return Section(
        "inferred_servers",
        "Inferring the tools of published servers",
        _TEXT,
        tables,
        [_claim(total)],
    )


def read_servers() -> list[Server]:
    """Return the downloaded servers, by name."""
    return sorted(map(_read_wheel, _FOLDER.glob("*.whl")), key=lambda server: server.name)


def published_tools() -> dict[str, dict[str, Any]]:
    """Return published definitions by server and tool; {} without the shared material."""
    published: dict[str, dict[str, Any]] = {}
    for file, server in _CAPTURED.items():
        path = shared_material() / "mcp" / "captured" / f"{file}.json"
        if path.exists():
            pages = json.loads(path.read_text(encoding="utf-8"))["tools_list"]
            tools = [tool for page in pages for tool in page["result"]["tools"]]
            published[server] = {tool["name"]: tool for tool in tools}
    for record in corpus_records():
        name = _ORIGINS.get(record["prov"].get("origin"))
        if name is not None:
            published.setdefault(name, {})[record["tool"]["name"]] = record["tool"]
    return published


# Inference


def _read_wheel(path: Path) -> Server:
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        lines = wheel.read(metadata).decode().splitlines()
        fields = dict(line.split(": ", 1) for line in lines[:10] if ": " in line)
        texts = {name: wheel.read(name) for name in names if name.endswith(".py")}
    return Server(fields["Name"], fields["Version"], texts)


def _infer_text(text: bytes) -> Outcome:
    names = list(_decorated_functions(text))
    outcome = Outcome(len(names))
    if not names:
        return outcome
    try:
        inferred = infer_tools(text, InferenceOptions(functions=tuple(names)), _LIMITS)
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


def _decorated_functions(text: bytes) -> Iterator[str]:
    """Yield the names of functions with a tool decorator."""
    try:
        functions = find_functions(parse_source(text))
    except SourceError:
        return
    for function in select_functions(functions, ()):
        if function.decorator is not None:
            yield function.name


def _sum(outcomes: Iterable[Outcome]) -> Outcome:
    total = Outcome()
    for outcome in outcomes:
        total.add(outcome)
    return total


# Report


def _table(servers: Iterable[Server], outcomes: Mapping[str, Outcome], total: Outcome) -> Table:
    rows = [
        [f"{server.name} {server.version}", *_cells(outcomes[server.name])] for server in servers
    ]
    rows.append(["**all**", *_cells(total)])
    head = ["server", "tools", "inferred", "without a warning", "warnings", "rejected"]
    return Table("Tools inferred, file by file", head, rows)


def _cells(outcome: Outcome) -> list[str]:
    return [
        str(outcome.tools),
        str(outcome.inferred),
        str(outcome.clean),
        _list_counts(outcome.warnings),
        _list_counts(outcome.rejected),
    ]


def _list_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {code}" for code, count in counts.most_common()) or "-"


def _differences_table(
    outcomes: Mapping[str, Outcome], published: Mapping[str, Mapping[str, Any]]
) -> Table:
    """Return the differences from published definitions of the same name, by kind."""
    rows = []
    for server, theirs in sorted(published.items()):
        ours = outcomes[server].definitions if server in outcomes else {}
        shared = sorted(set(theirs) & set(ours))
        kinds = Counter(kind for name in shared for kind in differences(theirs[name], ours[name]))
        rows.append([server, str(len(theirs)), str(len(shared)), _list_counts(kinds)])
    head = ["server", "published", "inferred by the same name", "differ in"]
    return Table("Differences from published definitions", head, rows)


def _claim(total: Outcome) -> Claim:
    percent = 100 * total.inferred / total.tools
    return Claim(
        "tools of published servers are inferred from their text",
        f"{_MIN_PERCENT} % at least",
        f"{percent:.1f} % ({total.inferred} of {total.tools})",
        percent >= _MIN_PERCENT,
    )


if __name__ == "__main__":
    run(measure, __doc__)
