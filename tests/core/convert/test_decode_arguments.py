"""Decoding of arguments, with every change recorded."""

from typing import Any

import pytest
from sidecheck_server.core.types import ChangeRule
from support.decoded_arguments import (
    DECODED,
    ENTRIES,
    JOINED,
    NULL,
    TEXT,
    UNWRAPPED,
    entry,
    properties,
    read,
)


@pytest.mark.parametrize(
    ("decoder", "arguments", "value", "changes"),
    [
        pytest.param(None, {"a": None}, {"a": None}, {}, id="no decoder"),
        pytest.param(
            {"nulls": ["a"]}, {"a": None}, {}, {"/a": NULL}, id="a null for an absent property"
        ),
        pytest.param({"nulls": ["a"]}, {"a": 0}, {"a": 0}, {}, id="a value where null may stand"),
        pytest.param({"nulls": ["a"]}, {"b": None}, {"b": None}, {}, id="a null that is one"),
        pytest.param({"nulls": ["a"]}, [None], [None], {}, id="an array where an object was meant"),
        pytest.param(
            {"nulls": ["a_b"], "renamed": {"a_b": "a b"}},
            {"a_b": None},
            {},
            {"/a_b": NULL},
            id="nulls have the name in the API",
        ),
        pytest.param(
            {"renamed": {"a_b": "a b"}, **properties(a_b={"nulls": ["c"]})},
            {"a_b": {"c": None, "d": 1}, "e": 2},
            {"a b": {"d": 1}, "e": 2},
            {"/a_b/c": NULL},
            id="renamed",
        ),
        pytest.param(
            {"renamed": {"a_b": "a b"}},
            {"a_b": 1, "a b": 2},
            {"a_b": 1, "a b": 2},
            {},
            id="the original name is there as well",
        ),
        pytest.param(
            {"renamed": {"x": "a", "y": "a"}},
            {"x": 1, "y": 2},
            {"a": 1, "y": 2},
            {},
            id="two names of one original",
        ),
        pytest.param(
            {"renamed": {"proto": "__proto__"}, **properties(__class__=TEXT)},
            {"proto": 1, "__class__": "[]", "__init__": {}},
            {"__proto__": 1, "__class__": [], "__init__": {}},
            {"/__class__": DECODED},
            id="names that mean something to a language",
        ),
        pytest.param(
            {**properties(a={}), "values": {"nulls": ["n"]}},
            {"a": {"n": None}, "b": {"n": None}},
            {"a": {"n": None}, "b": {}},
            {"/b/n": NULL},
            id="other properties only",
        ),
        pytest.param(
            {"items": {"nulls": ["n"]}, "prefix": [None, TEXT]},
            [{"n": None}, "{}", {"n": None}],
            [{"n": None}, {}, {}],
            {"/1": DECODED, "/2/n": NULL},
            id="items after the first ones",
        ),
        pytest.param(
            {"prefix": [TEXT]}, ["1", "2"], [1, "2"], {"/0": DECODED}, id="the first item only"
        ),
        pytest.param({"prefix": [TEXT]}, [], [], {}, id="no items"),
        pytest.param(
            properties(m=ENTRIES),
            {"m": [entry("a", 1), entry("b", None)]},
            {"m": {"a": 1, "b": None}},
            {"/m": JOINED},
            id="entries",
        ),
        pytest.param(properties(m=ENTRIES), {"m": []}, {"m": {}}, {"/m": JOINED}, id="no entries"),
        pytest.param(
            {"entries": {"name": "k", "value": "v", "each": {"nulls": ["n"]}}},
            [{"k": "a", "v": {"n": None}}],
            {"a": {}},
            {"": JOINED, "/0/v/n": NULL},
            id="entries whose values are decoded",
        ),
        pytest.param(
            {"entries": {"name": "name", "value": "value", "each": ENTRIES}},
            [entry("a", [entry("b", 1)])],
            {"a": {"b": 1}},
            {"": JOINED, "/0/value": JOINED},
            id="entries of entries",
        ),
        pytest.param(TEXT, '{"a": [1]}', {"a": [1]}, {"": DECODED}, id="JSON text"),
        pytest.param(TEXT, '"null"', "null", {"": DECODED}, id="the JSON text of a string"),
        pytest.param(TEXT, "null", None, {"": DECODED}, id="the JSON text of null"),
        pytest.param(
            properties(a=TEXT), {"a": '"[1]"'}, {"a": "[1]"}, {"/a": DECODED}, id="decoded once"
        ),
        pytest.param(
            {"wrapped": "input", "inner": {"nulls": ["a"]}},
            {"input": {"a": None}},
            {},
            {"": UNWRAPPED, "/input/a": NULL},
            id="wrapped",
        ),
        pytest.param(
            {"wrapped": "input"}, {"input": 1}, 1, {"": UNWRAPPED}, id="wrapped not an object"
        ),
        pytest.param(
            {"wrapped": "a", "also": [{"wrapped": "b", "inner": TEXT}]},
            {"a": "1"},
            "1",
            {"": UNWRAPPED},
            id="wrapped as one decoder says",
        ),
        pytest.param(
            {"ref": "d", "defs": {"d": {"nulls": ["a"], **properties(b={"ref": "d"})}}},
            {"a": None, "b": {"a": None, "b": {"a": None}}},
            {"b": {"b": {}}},
            {"/a": NULL, "/b/a": NULL, "/b/b/a": NULL},
            id="a reference",
        ),
        pytest.param(
            {"also": [{"nulls": ["a"]}, properties(b=TEXT)], **properties(b={"nulls": ["c"]})},
            {"a": None, "b": "[]"},
            {"b": []},
            {"/a": NULL, "/b": DECODED},
            id="several decoders of one value",
        ),
        pytest.param(
            properties(**{"a/b~": {"nulls": [""]}}),
            {"a/b~": {"": None}},
            {"a/b~": {}},
            {"/a~1b~0/": NULL},
            id="pointers are escaped",
        ),
    ],
)
def test_encoded_values_are_decoded(
    decoder: dict[str, Any], arguments: Any, value: Any, changes: dict[str, ChangeRule]
) -> None:
    """There is one interpretation; the input is not modified."""
    original = repr(arguments)

    assert [(value, changes)] == read(decoder, arguments)
    assert original == repr(arguments)


@pytest.mark.parametrize(
    ("decoder", "value"),
    [
        pytest.param(ENTRIES, [entry("a", 1), entry("a", 2)], id="a name twice"),
        pytest.param(ENTRIES, [entry("a", 1), {"name": "b"}], id="an entry without a value"),
        pytest.param(ENTRIES, [{**entry("a", 1), "x": 2}], id="an entry with another property"),
        pytest.param(ENTRIES, [entry(1, 2)], id="a name that is not a string"),
        pytest.param(ENTRIES, [["a", 1]], id="entries that are not objects"),
        pytest.param(ENTRIES, {"a": 1}, id="an object already"),
        pytest.param(ENTRIES, None, id="null for entries"),
        pytest.param(TEXT, 5, id="a number for JSON text"),
        pytest.param(TEXT, {"a": 1}, id="an object for JSON text"),
        pytest.param(TEXT, "", id="an empty text"),
        pytest.param(TEXT, "hello", id="a text that is not JSON"),
        pytest.param(TEXT, '{"a": 1, "a": 2}', id="a text with a key twice"),
        pytest.param(TEXT, "[NaN]", id="a text with NaN"),
        pytest.param(TEXT, "[1] 2", id="a text with something after it"),
        pytest.param(TEXT, "\ud800", id="a text with half of a surrogate pair"),
        pytest.param(
            {"wrapped": "input"}, {"input": 1, "more": 2}, id="more than the wrapped property"
        ),
        pytest.param({"wrapped": "input"}, {"inputs": 1}, id="another property than the wrapper"),
        pytest.param({"wrapped": "input"}, {}, id="nothing wrapped"),
    ],
)
def test_values_of_another_form_are_unchanged(decoder: dict[str, Any], value: Any) -> None:
    """Validation reports them."""
    assert [({"a": value}, {})] == read(properties(a=decoder), {"a": value})


def test_the_depth_of_decoded_texts_is_limited() -> None:
    """It includes the depth of the value around the text."""
    decoder = {"wrapped": "input", "inner": properties(a={"items": TEXT})}
    fits = {"input": {"a": ["[[]]"]}}
    deeper = {"input": {"a": ["[[[]]]"]}}

    assert [{"a": [[[]]]}] == [value for value, _ in read(decoder, fits, max_depth=4)]
    assert [{"a": ["[[[]]]"]}] == [value for value, _ in read(decoder, deeper, max_depth=4)]
