"""Differences from inferences of FastMCP and the MCP SDK are known, and have judgments."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

KNOWN = json.loads(Path(__file__).with_name("inference_differences.json").read_text())


@pytest.fixture
def inference(script: Callable[[str], ModuleType]) -> Any:
    return script("inference")


def test_differences_are_the_known_ones(inference: Any) -> None:
    """A change of a peer's release, or of Sidecheck, shows here."""
    assert KNOWN == inference.find_differences()


def test_every_difference_has_a_judgment(inference: Any) -> None:
    """Judgments and known differences have the same peers and kinds."""
    kinds = {
        (peer, kind)
        for differences in KNOWN.values()
        for peer, peer_kinds in differences.items()
        for kind in peer_kinds
    }
    assert set(inference.JUDGMENTS) == kinds
