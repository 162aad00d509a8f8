"""Pages of the documentation: generated ones are current, and named paths and codes exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sidecheck_server.core.compat.rules import CHANGE_RULES
from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.infer.diagnostics import DiagnosticCode
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.portability.facts import Effect
from sidecheck_server.core.portability.lints import REQUIREMENTS
from sidecheck_server.core.portability.target import Target
from sidecheck_server.core.portability.targets import FACTS
from sidecheck_server.observability.log_events import EVENTS
from support.running import RunningServer

from docs.generate.codes import TABLES
from docs.generate.logs import COMMON_FIELDS
from docs.generate.pages import PAGES, REPOSITORY

SERVICE = REPOSITORY / "service" / "sidecheck_server"
WRITTEN = [
    *REPOSITORY.glob("*.md"),
    *(REPOSITORY / "docs").rglob("*.md"),
    *(REPOSITORY / "clients").glob("*/README.md"),
]
# Names in upper snake case that are not codes.
_OTHER_NAMES = {
    "CONNECTION_CLOSED",
    "DYLD_INSERT_LIBRARIES",
    "ENDED_SESSIONS",
    "GRPC_VERBOSITY",
    "LD_PRELOAD",
    "MISNAMED_CERTIFICATE",
    "PASS_THROUGH",
    "PROPERTY_NAMES",
    "REQUEST_HEADERS",
    "SIDECHECK_CONFIG",
    "SIDECHECK_ENVOY_ADMIN",
    "SIDECHECK_LINK_DESCRIPTOR",
    "SIDECHECK_LISTEN",
    "SIDECHECK_TLS",
    "SIDECHECK_TLS_CA",
    "SIDECHECK_TLS_CERTIFICATE",
    "SIDECHECK_TLS_CLIENT_CERT",
    "SIDECHECK_TLS_CLIENT_KEY",
    "SIDECHECK_TLS_SERVER_NAME",
    "SIDECHECK_TOKEN",
    "SIDECHECK_TOKEN_WITHOUT_TLS",
    "SIDECHECK_UNIX_SOCKET",
    "SIDECHECK_UPSTREAM_TOKEN",
    "SIDECHECK_WRAPPED",
    "TCP_KEEPCNT",
    "TCP_KEEPIDLE",
    "TCP_KEEPINTVL",
    "TLS_CONNECTION_CLOSED",
    "TLS_NOT_SPOKEN",
    "TYPE_CHECKING",
    "UNEVALUATED_PROPERTIES",
    "UNTRUSTED_CERTIFICATE",
}
# Files of users, files that examples write, and what `make` builds.
#: Paths of users, and a method of MCP that is named like a folder.
_ELSEWHERE = re.compile(
    r"^(/|~|build/|server/discover|\w+\.(json|jsonl|py|toml|db|sarif)$)|[<>*…{}$()=]|://|^-"
)


@pytest.mark.parametrize("path", PAGES)
def test_a_generated_page_is_current(path: str) -> None:
    """`make docs` updates it."""
    assert PAGES[path]() == (REPOSITORY / path).read_text(encoding="utf-8")


def test_every_code_is_documented_once() -> None:
    """Every documented code occurs in the source."""
    documented = [name for table in TABLES.values() for name in table]
    keywords = set(TABLES["Keywords of JSON Schema"]) - {"FALSE_SCHEMA"}
    occurring = _names_in_code() - CATALOGUE.keys() - ErrorReason.__members__.keys()
    occurring -= DiagnosticCode.__members__.keys() | _OTHER_NAMES
    # Portability has a page of its own.
    occurring -= {fact.hazard.code for fact in FACTS} | REQUIREMENTS.keys()
    occurring -= Effect.__members__.keys() - set(documented) | Target.__members__.keys()
    # Variables of OpenTelemetry.
    occurring = {name for name in occurring if not name.startswith("OTEL_")}
    # Codes of changes have a page of their own, and some are those of pinned tools too. The
    # source makes many of them from a part that several have.
    parts = {
        name for name in occurring if any(code.startswith(f"{name}_") for code in CHANGE_RULES)
    }
    occurring -= (CHANGE_RULES.keys() | parts) - (set(documented) - keywords)

    assert len(documented) == len(set(documented))
    assert occurring == set(documented) - keywords - {"UNKNOWN_TOOL"}


def test_every_reason_and_diagnostic_is_documented() -> None:
    """Each has a row with a meaning."""
    page = (REPOSITORY / "docs/reference/errors.md").read_text()
    for name in (*ErrorReason, *DiagnosticCode):
        assert re.search(rf"^\| `{name}` \|.*[a-z]{{3}}", page, re.MULTILINE), name


@pytest.mark.parametrize("page", ["README.md", "docs/conformance.md"])
def test_the_number_of_rules_is_current(page: str) -> None:
    """No generator writes it, since it is in prose."""
    text = (REPOSITORY / page).read_text()

    assert {str(len(CATALOGUE))} == set(re.findall(r"\b(\d{3})(?= rules|, over 1,000)", text))


def test_events_of_a_server_are_documented(shared_server: RunningServer) -> None:
    """All events of other tests are documented with all their fields."""
    shared_server.log_text()
    documented = {
        event.name: {*event.fields, *event.optional_fields, *COMMON_FIELDS}
        for event in EVENTS.values()
    }

    assert shared_server.events
    for event in shared_server.events:
        assert event.keys() <= documented[event["event"]]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_paths_in_a_page_exist(page: Path) -> None:
    """These are words in code font that look like paths, and targets of links."""
    text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    words = [word for code in re.findall(r"`([^`]+)`", text) for word in code.split()]
    named = [word for word in words if "/" in word and _is_path(word)]
    linked = re.findall(r"sidecheck/sidecheck/(?:blob|tree)/main/([^)#\s]+)", text)

    assert [] == [name for name in (*named, *linked) if not _exists(name, page)]


def _is_path(name: str) -> bool:
    top = name.partition("/")[0]
    known = {path.name for folder in (REPOSITORY, SERVICE) for path in folder.iterdir()}
    return not _ELSEWHERE.search(name) and top in known


def _exists(name: str, page: Path) -> bool:
    return any((folder / name).exists() for folder in (REPOSITORY, SERVICE, page.parent))


def _names_in_code() -> set[str]:
    names = set()
    for path in SERVICE.rglob("*.py"):
        if path.name == "finding_words.py":
            continue  # It describes codes that other modules report.
        tree = ast.parse(path.read_text(encoding="utf-8"))
        exported = {id(node) for node in _exports(tree)}
        for node in ast.walk(tree):
            match node:
                case ast.Constant(value=str(text)) if id(node) not in exported:
                    if re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+", text):
                        names.add(text)
    return names


def _exports(tree: ast.Module) -> Iterator[ast.AST]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                yield from ast.walk(node)
