"""The table of keywords: the drafts of each, and the positions of subschemas."""

from typing import Any

import pytest
from sidecheck_server.core.schemas.keywords import KEYWORDS, keywords_of, subschemas
from sidecheck_server.core.types import Draft
from support.compiling import dialect

SINCE_06 = {"const", "contains", "propertyNames"}
SINCE_07 = {"if", "then", "else"}
SINCE_2019 = {
    "$defs",
    "contentSchema",
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "unevaluatedItems",
    "unevaluatedProperties",
}
A, B = {"title": "a"}, {"title": "b"}


@pytest.mark.parametrize(
    ("draft", "new", "removed"),
    [
        pytest.param(Draft.DRAFT_06, SINCE_06, set(), id="draft-06"),
        pytest.param(Draft.DRAFT_07, SINCE_07, set(), id="draft-07"),
        pytest.param(Draft.DRAFT_2019_09, SINCE_2019 | {"$recursiveRef"}, set(), id="2019-09"),
        pytest.param(
            Draft.DRAFT_2020_12,
            {"$dynamicRef", "prefixItems"},
            {"$recursiveRef", "additionalItems"},
            id="2020-12",
        ),
    ],
)
def test_each_draft_adds_and_drops_keywords(draft: Draft, new: set[str], removed: set[str]) -> None:
    """Each is compared with the draft before it."""
    order = list(Draft)
    previous = KEYWORDS[order[order.index(draft) - 1]].keys()

    assert (new, removed) == (KEYWORDS[draft].keys() - previous, previous - KEYWORDS[draft].keys())


def test_keywords_of_later_drafts_are_annotations() -> None:
    """Draft 4 has none of the keywords of its successors."""
    later = SINCE_06 | SINCE_07 | SINCE_2019 | {"$recursiveRef", "$dynamicRef", "prefixItems"}

    assert set() == later & KEYWORDS[Draft.DRAFT_04].keys()


@pytest.mark.parametrize(
    ("name", "schema", "paths"),
    [
        pytest.param("2020-12", {"not": A}, [("not",)], id="a schema"),
        pytest.param("2020-12", {"not": True}, [("not",)], id="a boolean schema"),
        pytest.param(
            "2020-12", {"anyOf": [A, B]}, [("anyOf", 0), ("anyOf", 1)], id="an array of schemas"
        ),
        pytest.param(
            "2020-12",
            {"properties": {"$ref": A, "not": B}},
            [("properties", "$ref"), ("properties", "not")],
            id="properties called like keywords",
        ),
        pytest.param(
            "2020-12",
            {"const": {"not": A}, "enum": [{"not": A}], "default": A, "examples": [A]},
            [],
            id="data",
        ),
        pytest.param("2020-12", {"x-note": {"not": A}, "foo": A}, [], id="unknown keywords"),
        pytest.param(
            "2020-12",
            {"dependencies": {"a": ["b"], "b": A}},
            [("dependencies", "b")],
            id="names among schemas",
        ),
        pytest.param("draft-07", {"items": A}, [("items",)], id="items that are one schema"),
        pytest.param(
            "draft-07", {"items": [A, B]}, [("items", 0), ("items", 1)], id="items that are listed"
        ),
        pytest.param("draft-07", {"prefixItems": [A], "$defs": {"a": A}}, [], id="too early"),
        pytest.param("2020-12", {"additionalItems": A}, [], id="too late"),
        pytest.param(
            "2019-09",
            {"$defs": {"a": A}, "definitions": {"b": B}},
            [("$defs", "a"), ("definitions", "b")],
            id="definitions under both names",
        ),
        pytest.param(
            "draft-04",
            {"additionalProperties": False, "type": "object"},
            [("additionalProperties",)],
            id="a boolean in draft 4",
        ),
        pytest.param("2020-12", {"allOf": 1, "properties": 2, "$defs": None}, [], id="no schemas"),
    ],
)
def test_keywords_have_the_subschemas_of_the_draft(
    name: str, schema: Any, paths: list[tuple[str | int, ...]]
) -> None:
    """There are no other subschemas."""
    subschemas_ = list(subschemas(schema, dialect(name).draft))

    assert paths == [path for path, _ in subschemas_]
    for path, value in subschemas_:
        expected = schema
        for step in path:
            expected = expected[step]
        assert expected is value


@pytest.mark.parametrize(
    ("draft", "vocabularies", "keywords"),
    [
        pytest.param(
            Draft.DRAFT_2020_12,
            set(),
            {"$ref", "$dynamicRef", "$defs", "definitions"},
            id="none but the core",
        ),
        pytest.param(
            Draft.DRAFT_2020_12,
            {"unevaluated", "unknown"},
            {"$ref", "$dynamicRef", "$defs", "definitions"}
            | {"unevaluatedItems", "unevaluatedProperties"},
            id="one of its own in 2020-12",
        ),
        pytest.param(
            Draft.DRAFT_2020_12,
            {"format-assertion"},
            {"$ref", "$dynamicRef", "$defs", "definitions", "format"},
            id="the assertion of formats",
        ),
        pytest.param(
            Draft.DRAFT_2019_09,
            {"format"},
            {"$ref", "$recursiveRef", "$defs", "definitions", "format"},
            id="formats in 2019-09",
        ),
    ],
)
def test_vocabularies_bring_their_keywords(
    draft: Draft, vocabularies: set[str], keywords: set[str]
) -> None:
    """The core is always there."""
    assert keywords == keywords_of(draft, frozenset(vocabularies))
