"""Shared cases of adapted tool definitions and normalized tool output.

They are the same for the core, the wire and every client. ``returned`` has one member, which
says what the tool returned, as JSON. ``want`` has the result, or null where the text of an
error is another test's, and whether what was returned is valid.
"""

import json
from typing import Any

import pytest
from support.shared_material import REPOSITORY

__all__ = ["PROJECTION", "RESULTS", "text_of"]


def _cases(folder: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}: {case['name']}")
        for path in sorted((REPOSITORY / "tests" / "cases" / folder).glob("*.json"))
        for case in json.loads(path.read_text())["cases"]
    ]


PROJECTION = _cases("projection")
RESULTS = _cases("results")


def text_of(value: Any) -> bytes:
    """Return the JSON text of a part of a case."""
    return json.dumps(value).encode()
