"""What FastMCP and the MCP SDK infer otherwise is known, function by function, and judged."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("fastmcp", reason="the group bench of pyproject.toml is not installed")

KNOWN = json.loads(Path(__file__).with_name("inference_differences.json").read_text())


@pytest.fixture
def differences(script: Callable[[str], ModuleType]) -> Any:
    return script("inference_differences")


def test_the_differences_are_those_that_are_known(differences: Any) -> None:
    """A release of either that infers otherwise, or a change of ours, is seen here."""
    assert KNOWN == differences.found()


def test_every_difference_has_been_judged(differences: Any) -> None:
    """By peer and kind; and nothing is judged that is no difference."""
    kinds = {
        (peer, kind) for peers in KNOWN.values() for peer, each in peers.items() for kind in each
    }
    assert set(differences.JUDGED) == kinds
