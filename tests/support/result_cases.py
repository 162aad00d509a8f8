"""Shared cases of definitions adapted to protocol versions, and of normalized tool results.

The core, the API and every client run them. ``returned`` has one property: the kind and the
value that the tool returned, as JSON. ``want`` has the result, or null where another test has
the text of an error, and whether the returned value is valid.
"""

import json
from typing import Any

import pytest
from support.shared_material import REPOSITORY

__all__ = ["ADAPTATIONS", "RESULTS", "text_of"]


def _cases(folder: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}: {case['name']}")
        for path in sorted((REPOSITORY / "tests" / "cases" / folder).glob("*.json"))
        for case in json.loads(path.read_text())["cases"]
    ]


ADAPTATIONS = _cases("adaptation")
RESULTS = _cases("results")


def text_of(value: Any) -> bytes:
    """Return the JSON text of *value*."""
    return json.dumps(value).encode()
