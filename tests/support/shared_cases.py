"""Cases shared by the tests of the core, the API and every client.

A case file holds texts, so that broken JSON can stand in it and any language can
read it. ``want`` is a verdict (``valid``, and of each violation the fields that
matter) or a rejection (its reason, and the violations of the schema).

A case is judged under a ``schema``, or under a ``tool``; then it also has a ``subject``,
which names what the payload is, and may want replies, which stand as JSON, or a ``repair``.
"""

import json
from typing import Any

import pytest
from support.shared_material import REPOSITORY

__all__ = ["CALLS", "VALIDATE", "matches"]

_FOLDER = REPOSITORY / "tests" / "cases" / "validate"


def _cases(under: str) -> list[Any]:
    """Return the cases that validate against a ``schema``, or against a ``tool``."""
    return [
        pytest.param(case, id=f"{path.stem}: {case['name']}")
        for path in sorted(_FOLDER.glob("*.json"))
        for case in json.loads(path.read_text())["cases"]
        if under in case
    ]


VALIDATE = _cases("schema")
CALLS = _cases("tool")


def matches(expected: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
    """Return *actual* reduced to the keys of *expected*."""
    reduced = {key: value for key, value in actual.items() if key in expected}
    if "violations" in expected and len(expected["violations"]) == len(
        actual.get("violations", ())
    ):
        reduced["violations"] = [
            {key: actual_violation[key] for key in expected_violation}
            for expected_violation, actual_violation in zip(
                expected["violations"], actual["violations"], strict=True
            )
        ]
    return reduced or actual
