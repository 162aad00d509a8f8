"""Arguments come back in the form of the original, and nothing is dropped in silence."""

import time
from itertools import product
from typing import Any

import pytest
from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.convert.restoring import MOST_READINGS, readings
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.words import ChangeRule

ENTRIES = {"entries": {"name": "name", "value": "value"}}
TEXT = {"json_text": True}
NULL, JOINED = ChangeRule.SYNTHETIC_NULL_REMOVED, ChangeRule.ENTRIES_JOINED
DECODED, UNWRAPPED = ChangeRule.JSON_TEXT_DECODED, ChangeRule.ROOT_UNWRAPPED


def members(**guides: Any) -> dict[str, Any]:
    return {"members": guides}


def entry(name: Any, value: Any) -> dict[str, Any]:
    return {"name": name, "value": value}


def read(
    guide: dict[str, Any] | None, arguments: Any, **how: Any
) -> list[tuple[Any, dict[str, ChangeRule]]]:
    """Return all readings: the value, and the rule of each change by its place."""
    found = readings(arguments, guide, [Limits().steps], **how)
    return [
        (each.value, {change.pointer: change.rule for change in each.changes}) for each in found
    ]


@pytest.mark.parametrize(
    ("guide", "arguments", "value", "changes"),
    [
        pytest.param(None, {"a": None}, {"a": None}, {}, id="no guide"),
        pytest.param({"nulls": ["a"]}, {"a": None}, {}, {"/a": NULL}, id="a null that is none"),
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
            {"renamed": {"a_b": "a b"}, **members(a_b={"nulls": ["c"]})},
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
            {"renamed": {"proto": "__proto__"}, **members(__class__=TEXT)},
            {"proto": 1, "__class__": "[]", "__init__": {}},
            {"__proto__": 1, "__class__": [], "__init__": {}},
            {"/__class__": DECODED},
            id="names that mean something to a language",
        ),
        pytest.param(
            {**members(a={}), "values": {"nulls": ["n"]}},
            {"a": {"n": None}, "b": {"n": None}},
            {"a": {"n": None}, "b": {}},
            {"/b/n": NULL},
            id="other members only",
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
            members(m=ENTRIES),
            {"m": [entry("a", 1), entry("b", None)]},
            {"m": {"a": 1, "b": None}},
            {"/m": JOINED},
            id="entries",
        ),
        pytest.param(members(m=ENTRIES), {"m": []}, {"m": {}}, {"/m": JOINED}, id="no entries"),
        pytest.param(
            {"entries": {"name": "k", "value": "v", "each": {"nulls": ["n"]}}},
            [{"k": "a", "v": {"n": None}}],
            {"a": {}},
            {"": JOINED, "/0/v/n": NULL},
            id="entries whose values are guided",
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
            members(a=TEXT), {"a": '"[1]"'}, {"a": "[1]"}, {"/a": DECODED}, id="decoded once"
        ),
        pytest.param(
            {"wrapped": "input", "inner": {"nulls": ["a"]}},
            {"input": {"a": None}},
            {},
            {"": UNWRAPPED, "/input/a": NULL},
            id="wrapped",
        ),
        pytest.param(
            {"wrapped": "input"}, {"input": 1}, 1, {"": UNWRAPPED}, id="wrapped no object"
        ),
        pytest.param(
            {"wrapped": "a", "also": [{"wrapped": "b", "inner": TEXT}]},
            {"a": "1"},
            "1",
            {"": UNWRAPPED},
            id="wrapped as one guide says",
        ),
        pytest.param(
            {"ref": "d", "defs": {"d": {"nulls": ["a"], **members(b={"ref": "d"})}}},
            {"a": None, "b": {"a": None, "b": {"a": None}}},
            {"b": {"b": {}}},
            {"/a": NULL, "/b/a": NULL, "/b/b/a": NULL},
            id="a reference",
        ),
        pytest.param(
            {"also": [{"nulls": ["a"]}, members(b=TEXT)], **members(b={"nulls": ["c"]})},
            {"a": None, "b": "[]"},
            {"b": []},
            {"/a": NULL, "/b": DECODED},
            id="several guides of one value",
        ),
        pytest.param(
            members(**{"a/b~": {"nulls": [""]}}),
            {"a/b~": {"": None}},
            {"a/b~": {}},
            {"/a~1b~0/": NULL},
            id="pointers are escaped",
        ),
    ],
)
def test_what_was_done_is_undone(
    guide: dict[str, Any], arguments: Any, value: Any, changes: dict[str, ChangeRule]
) -> None:
    """There is one reading; what was given is not touched."""
    given = repr(arguments)

    assert [(value, changes)] == read(guide, arguments)
    assert given == repr(arguments)


@pytest.mark.parametrize(
    ("guide", "value"),
    [
        pytest.param(ENTRIES, [entry("a", 1), entry("a", 2)], id="a name twice"),
        pytest.param(ENTRIES, [entry("a", 1), {"name": "b"}], id="an entry without a value"),
        pytest.param(ENTRIES, [{**entry("a", 1), "x": 2}], id="an entry with something else"),
        pytest.param(ENTRIES, [entry(1, 2)], id="a name that is no string"),
        pytest.param(ENTRIES, [["a", 1]], id="entries that are no objects"),
        pytest.param(ENTRIES, {"a": 1}, id="an object already"),
        pytest.param(ENTRIES, None, id="null for entries"),
        pytest.param(TEXT, 5, id="a number for JSON text"),
        pytest.param(TEXT, {"a": 1}, id="an object for JSON text"),
        pytest.param(TEXT, "", id="an empty text"),
        pytest.param(TEXT, "hello", id="a text that is no JSON"),
        pytest.param(TEXT, '{"a": 1, "a": 2}', id="a text with a key twice"),
        pytest.param(TEXT, "[NaN]", id="a text with NaN"),
        pytest.param(TEXT, "[1] 2", id="a text with something after it"),
        pytest.param(TEXT, "\ud800", id="a text with half of a surrogate pair"),
        pytest.param({"wrapped": "input"}, {"input": 1, "more": 2}, id="more than what is wrapped"),
        pytest.param({"wrapped": "input"}, {"inputs": 1}, id="another member than the wrapped one"),
        pytest.param({"wrapped": "input"}, {}, id="nothing wrapped"),
    ],
)
def test_what_has_another_form_stays_as_it_is(guide: dict[str, Any], value: Any) -> None:
    """The judge says what is wrong with it."""
    assert [({"a": value}, {})] == read(members(a=guide), {"a": value})


def test_decoded_texts_nest_no_deeper_than_there_is_room() -> None:
    """What stands around a text counts, in the form that it will have."""
    guide = {"wrapped": "input", "inner": members(a={"items": TEXT})}
    fits = {"input": {"a": ["[[]]"]}}
    deeper = {"input": {"a": ["[[[]]]"]}}

    assert [{"a": [[[]]]}] == [value for value, _ in read(guide, fits, max_depth=4)]
    assert [{"a": ["[[[]]]"]}] == [value for value, _ in read(guide, deeper, max_depth=4)]


def branch(guide: dict[str, Any] | None = None, **when: Any) -> dict[str, Any]:
    return {"when": when} if guide is None else {"when": when, "as": guide}


def union(*branches: dict[str, Any]) -> dict[str, Any]:
    return {"any_of": list(branches)}


STRINGS = branch(types=["string"])


@pytest.mark.parametrize(
    ("guide", "value", "values"),
    [
        pytest.param(
            union(branch({"nulls": ["a"]}, types=["object"]), branch(types=["null"])),
            {"a": None},
            [{}],
            id="a nullable object",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, types=["object"]), branch(types=["null"])),
            None,
            [None],
            id="null of a nullable object",
        ),
        pytest.param(
            union(branch(TEXT, types=["string"]), STRINGS), "1", [1, "1"], id="two branches fit"
        ),
        pytest.param(
            union(STRINGS, branch(TEXT, types=["string"])), "1", ["1", 1], id="in their order"
        ),
        pytest.param(
            union(STRINGS, STRINGS, branch()), "1", ["1"], id="branches without a guide are one"
        ),
        pytest.param(
            union(
                branch({"nulls": ["b"]}, constants={"k": ["b", 1]}),
                branch({"nulls": ["c"]}, constants={"k": [1.0, True]}),
            ),
            {"k": True, "b": None, "c": None},
            [{"k": True, "b": None}],
            id="true is not the constant 1",
        ),
        pytest.param(
            union(
                branch({"nulls": ["a"]}, constants={"k": ["a"]}),
                branch({"nulls": ["b"]}, constants={"k": ["b"]}),
            ),
            {"k": "b", "a": None, "b": None},
            [{"k": "b", "a": None}],
            id="a constant tells",
        ),
        pytest.param(
            union(
                branch({"nulls": ["a"]}, required=["a", "c"]),
                branch({"nulls": ["b"]}, only=["a", "b"]),
            ),
            {"a": None, "b": None},
            [{"a": None}],
            id="required members tell",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, only=["a", "c"]), branch({"nulls": ["b"]})),
            {"a": None, "b": None},
            [{"a": None}],
            id="as many members as can be but others",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, only=["a"]), branch({"nulls": ["b"]}, required=["b"])),
            {"a": None, "b": None},
            [{"a": None}],
            id="members that cannot be tell",
        ),
        pytest.param(
            union(branch({"items": TEXT}, types=["array"], required=["a"])),
            ["1"],
            [[1]],
            id="of an array no members are asked",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, types=["object"], required=["b"]), STRINGS),
            {"a": None},
            [{}],
            id="if none fits the type tells",
        ),
        pytest.param(
            union(branch(TEXT, types=["number"]), branch(TEXT, types=["array"])),
            "1",
            ["1"],
            id="no type fits",
        ),
        pytest.param(
            union(branch({"renamed": {"a": "b"}}), branch({"renamed": {"a": "c"}}), branch()),
            {"a": 1},
            [{"b": 1}, {"c": 1}, {"a": 1}],
            id="branches that rename",
        ),
        pytest.param(
            {"items": union(branch(TEXT), branch())},
            ["1", 2, 3, 4, 5, 6],
            [[1, 2, 3, 4, 5, 6], ["1", 2, 3, 4, 5, 6]],
            id="choices that come to the same",
        ),
        pytest.param(
            {"items": union(branch(TEXT), branch())},
            ["1", "2"],
            [[1, 2], ["1", "2"], ["1", 2], [1, "2"]],
            id="all alike before each by itself",
        ),
        pytest.param(
            union(
                branch({"ref": "d"}, types=["array"]),
                branch({"items": union(branch(TEXT), branch())}, types=["array"]),
            )
            | {"defs": {"d": {"items": {"nulls": ["a"]}}}},
            [{"a": None}, "1"],
            [[{}, "1"], [{"a": None}, "1"], [{"a": None}, 1]],
            id="a union in a union",
        ),
    ],
)
def test_each_branch_that_fits_is_a_reading(
    guide: dict[str, Any], value: Any, values: list[Any]
) -> None:
    """They come in the order in which they are to be judged, each once."""
    assert values == [reading for reading, _ in read(guide, value)]


def test_there_are_sixteen_readings_at_most() -> None:
    """Of 2^30 the likely ones: all are alike, or one is another than the others."""
    guide = {"items": union(branch(TEXT), branch())}
    decoded: list[Any] = [1] * 30
    but_one = [[*decoded[:n], "1", *decoded[n + 1 :]] for n in range(MOST_READINGS - 2)]

    assert [decoded, ["1"] * 30, *but_one] == [value for value, _ in read(guide, ["1"] * 30)]


def test_a_few_choices_are_all_made() -> None:
    """Each combination of four is a reading, and those with fewer others come first."""
    guide = {"items": union(branch(TEXT), branch())}
    found = [tuple(value) for value, _ in read(guide, ["1"] * 4)]

    assert set(product((1, "1"), repeat=4)) == set(found)
    assert sorted(found[2:], key=lambda each: each.count("1")) == found[2:]


def test_readings_are_made_when_they_are_asked_for() -> None:
    """Who takes the first one pays for no other."""
    guide = {"items": union(branch(TEXT), branch())}
    budget = [Limits().steps]
    made = readings(["1"] * 100, guide, budget)
    next(made)
    first = Limits().steps - budget[0]
    rest = len(list(made))

    assert MOST_READINGS - 1 == rest
    assert Limits().steps - budget[0] > 5 * first


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


DOUBLING = {
    "ref": "d",
    "defs": {
        "d": {
            "members": {"a": {"ref": "e", "also": [{"ref": "f"}, {"ref": "d"}]}},
        },
        "e": members(a={"ref": "d", "any_of": [branch({"ref": "f"}), branch({"ref": "e"})]}),
        "f": {"values": {"any_of": [branch({"ref": "d"}), branch({"ref": "e"})]}},
    },
}


@pytest.mark.parametrize(
    ("guide", "arguments"),
    [
        pytest.param(DOUBLING, nested(120), id="references that double at each level"),
        pytest.param(
            {
                "ref": "d",
                "defs": {"d": {"values": union(*[branch({"ref": "d"}) for _ in range(1000)])}},
            },
            nested(120),
            id="a thousand branches at each level",
        ),
        pytest.param(
            {"items": union(*[branch(TEXT, only=[str(n)]) for n in range(1000)])},
            [{}] * 100_000,
            id="a thousand branches for each item",
        ),
        pytest.param(
            {"entries": {"name": "n", "value": "v", "each": {"nulls": ["a"]}}},
            [{"n": str(n), "v": {"a": None}} for n in range(100_000)],
            id="a hundred thousand entries",
        ),
        pytest.param(
            {"items": TEXT}, ["[" * 100] * 10_000, id="ten thousand texts that are no JSON"
        ),
        pytest.param(
            {"items": TEXT},
            [f"[{','.join(['1e300'] * 1300)}]"] * 120,
            id="texts of numbers that take long to read",
        ),
        pytest.param(
            members(**{"k" * 500_000: {"items": {"nulls": ["a"]}}}),
            {"k" * 500_000: [{"a": None}] * 10_000},
            id="ten thousand long pointers",
        ),
    ],
)
def test_whatever_is_given_ends(guide: dict[str, Any], arguments: Any) -> None:
    """The budget bounds all readings together, and tells when there is too much to do.

    Ten million steps are to take a quarter of a second; here they have eight times as long.
    """
    budget = [Limits().steps]
    started = time.process_time()
    try:
        made = len(list(readings(arguments, guide, budget)))
    except Exhausted:
        assert budget[0] < 0
    else:
        assert 1 <= made <= MOST_READINGS
    assert time.process_time() - started < 2


def test_references_that_double_cost_no_more_than_there_are() -> None:
    """Each guide is followed once for each value, by whatever ways it is reached."""
    row = {f"d{n}": {"also": [{"ref": f"d{n + 1}"}, {"ref": f"d{n + 1}"}]} for n in range(60)}
    guide = {"ref": "d0", "defs": {**row, "d60": {"nulls": ["a"]}}}

    assert [({}, {"/a": NULL})] == read(guide, {"a": None})


def test_arguments_deeper_than_the_interpreter_goes_are_too_much() -> None:
    """The bound on nesting is the caller's; here it was not kept."""
    guide = {"ref": "d", "defs": {"d": {"values": {"ref": "d"}}}}

    with pytest.raises(Exhausted):
        list(readings(nested(5000), guide, [Limits().steps]))
