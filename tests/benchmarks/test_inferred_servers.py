"""Tools of published servers are inferred from their source text alone."""

from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from support.shared_material import shared, unavailable

Script = Callable[[str], ModuleType]


@pytest.fixture
def published(script: Script) -> Any:
    """The module that reads the servers; without them, the test is skipped."""
    module = script("published_servers")
    if not module.servers():
        unavailable("build/servers is not there; make build/servers/.made downloads it")
    return module


def test_most_tools_are_inferred(published: Any) -> None:
    """Of some three hundred tools, and most of them without a warning."""
    found = [one.outcome(published.WIDE) for one in published.servers()]
    tools = sum(one.tools for one in found)
    assert len(found) >= 6
    assert tools >= 300
    assert sum(one.inferred for one in found) / tools >= 0.95
    assert sum(one.clean for one in found) / tools >= 0.9


def test_what_is_not_inferred_is_refused_for_a_reason(published: Any) -> None:
    """Nearly all that is rejected refers to other files."""
    rejected: Counter[str] = Counter()
    for one in published.servers():
        rejected += one.outcome(published.WIDE).rejected
    assert {"UNRESOLVED_NAME", "UNSUPPORTED_SYNTAX"} >= set(rejected)


def test_the_script_tells_of_every_server(
    published: Any, script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """In a table for texts within the limit, and in one for all of them."""
    monkeypatch.setattr("sys.argv", ["inferred_servers.py"])
    inferred = script("inferred_servers")
    script("report").run(inferred.measure, None)
    printed = capsys.readouterr().out
    names = [f"| {one.name} {one.version} " for one in published.servers()]
    assert [2] * len(names) == [printed.count(name) for name in names]


# What the very release published, against what its text says.
_SAME_RELEASE = {
    "mcp-server-fetch": {"titles": 1, "closed root": 1},
    "mcp-server-git": {
        "titles": 12,
        "closed root": 12,
        # A function makes them.
        "annotations": 5,
        # An f-string, left out with a warning.
        "descriptions of parameters": 1,
    },
    "mcp-server-time": {"titles": 2, "closed root": 2, "descriptions of parameters": 2},
}


@pytest.mark.parametrize("server", _SAME_RELEASE)
def test_definitions_differ_in_what_is_known(server: str, published: Any, script: Script) -> None:
    """From those that the same release of a server published, tool by tool."""
    shared("mcp/captured")
    kinds = script("definition_kinds")
    theirs = published.published_tools()[server]
    ours = next(
        one.outcome(published.WIDE) for one in published.servers() if one.name == server
    ).definitions
    assert set(theirs) == set(ours)
    assert _SAME_RELEASE[server] == Counter(
        kind for name in theirs for kind in kinds.differences(theirs[name], ours[name])
    )
