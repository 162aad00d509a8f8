"""What was encoded by a schema comes back, and what is broken ends in a refusal."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.convert.guides import guide_of
from sidecheck_server.core.convert.part import Entries, Part, Undo
from sidecheck_server.core.convert.plan import Plan, plan_from_json, plan_to_json
from sidecheck_server.core.convert.restoring import MOST_READINGS, readings
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from support.json_texts import MUTATIONS

LIMITS = Limits()
NAMES = ["a", "b", "name", "value", "__proto__", "", "a/b", "é"]

Drawn = tuple[Part, Any, Any]
"""A part, a value of its original, and the same value as it was encoded."""

SCALARS: list[tuple[str, st.SearchStrategy[Any]]] = [
    ("integer", st.integers(-3, 3)),
    ("string", st.sampled_from(["", "x", "[1]"])),
    ("boolean", st.booleans()),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(NAMES), below),
    max_leaves=5,
)


@st.composite
def scalars(draw: st.DrawFn) -> Drawn:
    name, values = draw(st.sampled_from(SCALARS))
    value = draw(values)
    return Part((), {"type": name}), value, value


@st.composite
def json_texts(draw: st.DrawFn) -> Drawn:
    value = draw(JSON)
    return Part((), {"type": "string"}, undo=Undo(json_text=True)), value, json.dumps(value)


@st.composite
def objects(draw: st.DrawFn, below: st.SearchStrategy[Drawn]) -> Drawn:
    undo = Undo()
    properties: dict[str, Part] = {}
    original: dict[str, Any] = {}
    encoded: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4)):
        part, value, given_value = draw(below)
        in_api = f"api_{name}" if draw(st.booleans()) else name
        if in_api != name:
            undo.renamed[in_api] = name
        if draw(st.booleans()):
            properties[in_api] = Part((), {"anyOf": [part, Part((), {"type": "null"})]})
            undo.nulls.append(in_api)
        else:
            properties[in_api] = part
        if in_api in undo.nulls and draw(st.booleans()):
            encoded[in_api] = None
        else:
            original[name], encoded[in_api] = value, given_value
    keywords: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": Part((), never=True),
    }
    return Part((), keywords, undo=undo), original, encoded


@st.composite
def maps(draw: st.DrawFn, below: st.SearchStrategy[Drawn]) -> Drawn:
    part, value, given_value = draw(below)
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
    both = {"name": Part((), {"type": "string"}), "value": part}
    keywords = {
        "type": "array",
        "items": Part((), {"type": "object", "properties": both, "required": ["name", "value"]}),
    }
    entries = [{"name": name, "value": given_value} for name in names]
    return Part((), keywords, undo=Undo(entries=Entries())), dict.fromkeys(names, value), entries


@st.composite
def arrays(draw: st.DrawFn, below: st.SearchStrategy[Drawn]) -> Drawn:
    part, value, given_value = draw(below)
    count = draw(st.integers(0, 3))
    return Part((), {"type": "array", "items": part}), [value] * count, [given_value] * count


@st.composite
def tuples(draw: st.DrawFn, below: st.SearchStrategy[Drawn]) -> Drawn:
    drawn = draw(st.lists(below, max_size=3))
    parts = [part for part, _, _ in drawn]
    return (
        Part((), {"type": "array", "prefixItems": parts}),
        [value for _, value, _ in drawn],
        [given_value for _, _, given_value in drawn],
    )


@st.composite
def referred(draw: st.DrawFn, below: st.SearchStrategy[Drawn]) -> Drawn:
    part, value, given_value = draw(below)
    return Part((), {"$ref": part}), value, given_value


@st.composite
def wrapped(draw: st.DrawFn, below: st.SearchStrategy[Drawn]) -> Drawn:
    part, value, given_value = draw(below)
    keywords = {"type": "object", "properties": {"input": part}, "required": ["input"]}
    return Part((), keywords, undo=Undo(wrapped="input")), value, {"input": given_value}


@st.composite
def tagged_unions(draw: st.DrawFn, below: st.SearchStrategy[Drawn]) -> Drawn:
    """Return a union whose branches a constant member tells apart."""
    drawn = draw(st.lists(below, min_size=1, max_size=3))
    keyword = draw(st.sampled_from(["anyOf", "oneOf"]))
    branches = [
        Part(
            (),
            {
                "type": "object",
                "properties": {"kind": Part((), {"const": number}), "it": part},
                "required": ["kind", "it"],
            },
        )
        for number, (part, _, _) in enumerate(drawn)
    ]
    chosen = draw(st.integers(0, len(drawn) - 1))
    _, value, given_value = drawn[chosen]
    return (
        Part((), {keyword: branches}),
        {"kind": chosen, "it": value},
        {"kind": chosen, "it": given_value},
    )


def anything(below: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    makers: list[Callable[[st.SearchStrategy[Drawn]], st.SearchStrategy[Drawn]]] = [
        objects,
        maps,
        arrays,
        tuples,
        referred,
        wrapped,
        tagged_unions,
    ]
    return st.one_of(*[maker(below) for maker in makers])


DRAWN = st.recursive(scalars() | json_texts(), anything, max_leaves=12)


@given(DRAWN)
@settings(max_examples=300, deadline=None)
def test_what_was_encoded_comes_back(drawn: Drawn) -> None:
    """There is one reading where the branches of unions tell themselves apart."""
    part, value, given_value = drawn
    guide = guide_of(part)
    plan = Plan(ModelApi.OPENAI_CHAT, "n", "s", "t", "sha256:" + "0" * 64, True, guide)
    again = plan_from_json(plan_to_json(plan), LIMITS)

    assert plan == again
    assert [value] == [each.value for each in readings(given_value, again.guide, [LIMITS.steps])]


@st.composite
def broken_plans(draw: st.DrawFn) -> bytes:
    part, _, _ = draw(DRAWN)
    plan = Plan(ModelApi.OPENAI_CHAT, "n", "s", "t", "sha256:" + "0" * 64, True, guide_of(part))
    text = plan_to_json(plan)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 4))
        text = text[:start] + draw(st.sampled_from([b"", *MUTATIONS])) + text[end:]
    return text


def guides(below: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(NAMES)
    branches: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {"when": st.just({})}, optional={"as": below}
    )
    members: dict[str, st.SearchStrategy[Any]] = {
        "nulls": st.lists(names, max_size=2),
        "renamed": st.dictionaries(names, names, max_size=2),
        "members": st.dictionaries(names, below, max_size=2),
        "values": below,
        "items": below,
        "prefix": st.lists(st.none() | below, max_size=2),
        "entries": st.just({"name": "name", "value": "value"}),
        "json_text": st.just(True),
        "wrapped": names,
        "also": st.lists(below, max_size=2),
        "any_of": st.lists(branches, max_size=2),
        "ref": st.sampled_from(["d0", "d1"]),
    }
    return st.fixed_dictionaries({}, optional=members)


NO_GUIDE: dict[str, Any] = {}
GUIDES = st.recursive(st.just(NO_GUIDE), guides, max_leaves=6)


@given(broken_plans(), JSON)
@settings(max_examples=300, deadline=None)
def test_a_broken_plan_is_a_plan_or_is_refused(text: bytes, value: Any) -> None:
    """And what is a plan can be followed."""
    try:
        guide = plan_from_json(text, LIMITS).guide
    except RequestError:
        return
    follow(guide, value)


@given(
    st.tuples(GUIDES, GUIDES, GUIDES),
    JSON | st.lists(st.fixed_dictionaries({"name": st.sampled_from(NAMES), "value": JSON})),
)
@settings(max_examples=150, deadline=None)
def test_any_guide_that_is_read_can_be_followed(made: Any, value: Any) -> None:
    """It may say whatever it likes."""
    guide = {**made[0], "defs": {"d0": made[1], "d1": made[2]}}
    text = json.dumps(
        {
            "sidecheck_plan": 1,
            "api": "gemini",
            "name": "n",
            "tool": "t",
            "definition_digest": "sha256:" + "0" * 64,
            "strict": False,
            "guide": guide,
        }
    ).encode()
    try:
        read = plan_from_json(text, LIMITS).guide
    except RequestError:
        return
    follow(read, value)


def follow(guide: dict[str, Any] | None, value: Any) -> None:
    budget = [100_000]
    before = json.dumps(value)
    try:
        found = list(readings(value, guide, budget))
    except Exhausted:
        assert budget[0] < 0
        return
    assert 1 <= len(found) <= MOST_READINGS
    assert before == json.dumps(value)
