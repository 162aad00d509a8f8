"""Specification URLs of rules exist in the specification of every version."""

import pytest
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.rules.catalogue import RULES
from sidecheck_server.core.mcp.rules.rule import type_clause

_SITE = "https://modelcontextprotocol.io/specification/"
_FEATURES = {
    "client/roots",
    "client/sampling",
    "server/prompts",
    "server/resources",
    "server/tools",
    "server/utilities/completion",
    "server/utilities/logging",
    "server/utilities/pagination",
}
_LEGACY = _FEATURES | {
    "basic",
    "basic/lifecycle",
    "basic/utilities/cancellation",
    "basic/utilities/ping",
    "basic/utilities/progress",
}
_PAGES = {
    "2024-11-05": _LEGACY | {"basic/messages"},
    "2025-03-26": _LEGACY | {"basic/transports"},
    "2025-06-18": _LEGACY | {"basic/transports", "client/elicitation", "schema"},
    "2025-11-25": _LEGACY | {"basic/utilities/tasks", "client/elicitation", "schema"},
    "2026-07-28": _FEATURES
    | {
        "basic",
        "basic/patterns",
        "basic/patterns/cancellation",
        "basic/patterns/mrtr",
        "basic/patterns/progress",
        "basic/patterns/subscriptions",
        "basic/transports/stdio",
        "basic/versioning",
        "client/elicitation",
        "deprecated",
        "schema",
        "server/utilities/caching",
    },
}
# Headings that were added to a page after its first version.
_HEADINGS_SINCE = {
    "basic#messages": "2025-03-26",
    "basic#requests": "2025-03-26",
    "basic#responses": "2025-03-26",
    "basic#notifications": "2025-03-26",
    "basic#meta": "2025-06-18",
    "server/utilities/completion#error-handling": "2025-03-26",
    "basic#icons": "2025-11-25",
    "basic#implementation-requirements": "2025-11-25",
    "basic#schema-validation": "2025-11-25",
    "server/tools#tool-names": "2025-11-25",
    "basic#composition-keyword-resource-use": "2026-07-28",
    "basic#error-codes": "2026-07-28",
    "basic#ref-resolution": "2026-07-28",
    "server/tools#x-mcp-header": "2026-07-28",
}


def _places(version: str) -> list[tuple[str, str]]:
    """Return code and specification page of every rule of *version* that has one."""
    clauses = [(rule.code, rule.clause.url(version)) for rule in RULES if rule.holds_in(version)]
    types = [("a type", type_clause("Tool").url(version))]
    return [
        (code, clause.removeprefix(f"{_SITE}{version}/"))
        for code, clause in (*clauses, *types)
        if clause.startswith(_SITE)
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_version_has_the_page(version: str) -> None:
    missing = [
        (code, place)
        for code, place in _places(version)
        if place.partition("#")[0] not in _PAGES[version]
    ]
    assert [] == missing


@pytest.mark.parametrize("version", VERSIONS)
def test_the_version_has_the_heading(version: str) -> None:
    early = [
        (code, place)
        for code, place in _places(version)
        if version < _HEADINGS_SINCE.get(place, version)
    ]
    assert [] == early
