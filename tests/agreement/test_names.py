"""The engines treat every property name as plain text.

Each hostile name is put wherever a schema can have a name, beside one that differs
from it in little.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from agreement.editions import EDITIONS, Edition, edition_named
from agreement.engines import Engines, create_engines
from agreement.schemas import Question
from agreement.values import NAMES
from sidecheck_server.core.types import Draft, as_pointer

HOSTILE = (*NAMES, "\u2028", "\u2029", "\x85", "a\u2028b", "\U0010ffff")
INTEGER, TEXT = {"type": "integer"}, {"type": "string"}

#: Makes a schema, a valid payload and an invalid payload from a name and a similar name.
Position = Callable[[Edition, str, str], tuple[Any, Any, Any]]


def _property(_edition: Edition, name: str, similar_name: str) -> tuple[Any, Any, Any]:
    return (
        {"properties": {name: INTEGER, similar_name: TEXT}},
        {name: 1, similar_name: ""},
        {name: "", similar_name: 1},
    )


def _required(_edition: Edition, name: str, similar_name: str) -> tuple[Any, Any, Any]:
    return {"required": [name]}, {name: None}, {similar_name: None}


def _closed(_edition: Edition, name: str, similar_name: str) -> tuple[Any, Any, Any]:
    schema = {"properties": {name: INTEGER}, "additionalProperties": False}
    return schema, {name: 1}, {similar_name: 1}


def _dependency(_edition: Edition, name: str, similar_name: str) -> tuple[Any, Any, Any]:
    return {"dependencies": {name: [similar_name]}}, {name: 1, similar_name: 1}, {name: 1}


def _dependent_schema(_edition: Edition, name: str, similar_name: str) -> tuple[Any, Any, Any]:
    return {"dependencies": {name: {"required": [similar_name]}}}, {similar_name: 1}, {name: 1}


def _definition(edition: Edition, name: str, similar_name: str) -> tuple[Any, Any, Any]:
    keyword = edition.definitions_keyword
    references = [
        {"$ref": "#" + quote(as_pointer((keyword, property_name)), safe="/~")}
        for property_name in (name, similar_name)
    ]
    schema = {
        keyword: {name: INTEGER, similar_name: TEXT},
        "properties": {"x": references[0], "y": references[1]},
    }
    return schema, {"x": 1, "y": ""}, {"x": "", "y": 1}


def _enumerated(_edition: Edition, name: str, similar_name: str) -> tuple[Any, Any, Any]:
    return {"enum": [name, {name: [name]}]}, {name: [name]}, {name: [similar_name]}


def _pattern(_edition: Edition, name: str, similar_name: str) -> tuple[Any, Any, Any]:
    literal = "".join(
        character if character.isalnum() else f"\\u{{{ord(character):x}}}" for character in name
    )
    schema = {"patternProperties": {f"^{literal}$": INTEGER}, "additionalProperties": False}
    return schema, {name: 1}, {similar_name: 1}


def _tagged(_edition: Edition, name: str, similar_name: str) -> tuple[Any, Any, Any]:
    branches = [
        {"type": "object", "properties": {name: {"enum": [tag]}}, "required": [name]}
        for tag in (name, similar_name)
    ]
    return {"oneOf": branches}, {name: similar_name}, {similar_name: name}


POSITIONS = {
    "property": _property,
    "required": _required,
    "closed": _closed,
    "dependency": _dependency,
    "dependent schema": _dependent_schema,
    "definition": _definition,
    "enumerated": _enumerated,
    "pattern": _pattern,
    "tagged": _tagged,
}


@pytest.mark.parametrize("edition", [EDITIONS[0], EDITIONS[-1]], ids=lambda edition: edition.name)
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_hostile_names_are_plain_text(edition: Edition, position: Position) -> None:
    """The fast engine distinguishes every hostile name from a similar name."""
    failures = []
    for name in HOSTILE:
        similar_name = name.swapcase() if name.swapcase() != name else f"{name}_"
        schema, valid, invalid = position(edition, name, similar_name)
        created = create_engines(Question(edition, schema, {}))
        if not isinstance(created, Engines) or created.compiled.fast is None:
            failures.append((name, str(created)))
            continue
        engines = (created.compiled.fast, created.compiled.complete)
        verdicts = [engine.is_valid(payload) for engine in engines for payload in (valid, invalid)]
        if verdicts != [True, False, True, False]:
            failures.append((name, str(verdicts)))

    assert [] == failures


def test_names_that_look_like_references() -> None:
    """``$ref`` and ``$id`` are keywords in a schema, and plain names of properties."""
    edition = edition_named("draft-07")
    assert edition.draft is Draft.DRAFT_07
    schema = {
        "properties": {"$ref": TEXT, "$id": INTEGER, "x": {"$ref": "#/properties/$ref"}},
        "required": ["$ref", "$id"],
        "default": {"$ref": "#/nowhere"},
    }
    engines = create_engines(Question(edition, schema, {}))
    assert isinstance(engines, Engines)
    assert engines.compiled.fast is not None

    payloads: list[Any] = [
        {"$ref": "#", "$id": 1, "x": ""},
        {"$ref": "#", "$id": 1, "x": 1},
        {"$ref": 1, "$id": 1},
    ]
    assert [True, False, False] == [engines.compiled.fast.is_valid(payload) for payload in payloads]
