"""Tools of published servers are inferred from their source text alone."""

from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from support.shared_material import shared, unavailable

Script = Callable[[str], ModuleType]


@pytest.fixture
def inferred(script: Script) -> Any:
    """The module that reads the servers; without them, the test is skipped."""
    module = script("inferred_servers")
    if not module.read_servers():
        unavailable("build/servers is not there; make build/servers/.made downloads it")
    return module


def test_most_tools_are_inferred(inferred: Any) -> None:
    """Of some three hundred tools, most are inferred without a warning."""
    outcomes = [server.infer() for server in inferred.read_servers()]
    tools = sum(outcome.tools for outcome in outcomes)
    assert len(outcomes) >= 6
    assert tools >= 300
    assert sum(outcome.inferred for outcome in outcomes) / tools >= 0.95
    assert sum(outcome.clean for outcome in outcomes) / tools >= 0.9


def test_rejected_tools_have_an_expected_reason(inferred: Any) -> None:
    """Most rejected functions refer to other files."""
    rejected: Counter[str] = Counter()
    for server in inferred.read_servers():
        rejected += server.infer().rejected
    assert {"UNRESOLVED_NAME", "UNSUPPORTED_SYNTAX"} >= set(rejected)


def test_report_lists_every_server(
    inferred: Any, script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """The table has a row for each."""
    monkeypatch.setattr("sys.argv", ["inferred_servers.py"])
    script("harness.report").run(inferred.measure, None)
    printed = capsys.readouterr().out
    names = [f"| {server.name} {server.version} " for server in inferred.read_servers()]
    assert [1] * len(names) == [printed.count(name) for name in names]


# Definitions that the same release published, against those inferred from its text.
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


@pytest.mark.parametrize("name", _SAME_RELEASE)
def test_differences_from_the_same_release_are_known(
    name: str, inferred: Any, script: Script
) -> None:
    """All published tools are inferred, with the known kinds of differences."""
    shared("mcp/captured")
    kinds = script("harness.definition_kinds")
    theirs = inferred.published_tools()[name]
    ours = next(
        server.infer() for server in inferred.read_servers() if server.name == name
    ).definitions
    assert set(theirs) == set(ours)
    assert _SAME_RELEASE[name] == Counter(
        kind for tool in theirs for kind in kinds.differences(theirs[tool], ours[tool])
    )
