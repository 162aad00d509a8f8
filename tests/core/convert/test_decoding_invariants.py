"""Encoded values are decoded to the original, and broken mappings are rejected."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.core.convert.argument_decoder import build_decoder
from sidecheck_server.core.convert.decode_arguments import MAX_INTERPRETATIONS, decode_arguments
from sidecheck_server.core.convert.mapping import ToolMapping, mapping_from_json, mapping_to_json
from sidecheck_server.core.convert.schema_graph import Encoding, Entries, SchemaNode
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Exhausted, Limits
from support.json_texts import MUTATIONS

LIMITS = Limits()
NAMES = ["a", "b", "name", "value", "__proto__", "", "a/b", "é"]

Drawn = tuple[SchemaNode, Any, Any]
"""A node, a value of the original, and the same value encoded."""

SCALARS: list[tuple[str, st.SearchStrategy[Any]]] = [
    ("integer", st.integers(-3, 3)),
    ("string", st.sampled_from(["", "x", "[1]"])),
    ("boolean", st.booleans()),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner),
    max_leaves=5,
)


@st.composite
def scalars(draw: st.DrawFn) -> Drawn:
    name, values = draw(st.sampled_from(SCALARS))
    value = draw(values)
    return SchemaNode((), {"type": name}), value, value


@st.composite
def json_texts(draw: st.DrawFn) -> Drawn:
    value = draw(JSON)
    return (
        SchemaNode((), {"type": "string"}, encoding=Encoding(json_text=True)),
        value,
        json.dumps(value),
    )


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Drawn]) -> Drawn:
    renamed: dict[str, str] = {}
    nulls: list[str] = []
    properties: dict[str, SchemaNode] = {}
    original: dict[str, Any] = {}
    encoded: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4)):
        node, value, given_value = draw(inner)
        in_api = f"api_{name}" if draw(st.booleans()) else name
        if in_api != name:
            renamed[in_api] = name
        if draw(st.booleans()):
            properties[in_api] = SchemaNode((), {"anyOf": [node, SchemaNode((), {"type": "null"})]})
            nulls.append(in_api)
        else:
            properties[in_api] = node
        if in_api in nulls and draw(st.booleans()):
            encoded[in_api] = None
        else:
            original[name], encoded[in_api] = value, given_value
    keywords: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": SchemaNode((), never=True),
    }
    encoding = Encoding(tuple(nulls), renamed)
    return SchemaNode((), keywords, encoding=encoding), original, encoded


@st.composite
def maps(draw: st.DrawFn, inner: st.SearchStrategy[Drawn]) -> Drawn:
    node, value, given_value = draw(inner)
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
    properties = {"name": SchemaNode((), {"type": "string"}), "value": node}
    keywords = {
        "type": "array",
        "items": SchemaNode(
            (), {"type": "object", "properties": properties, "required": ["name", "value"]}
        ),
    }
    entries = [{"name": name, "value": given_value} for name in names]
    return (
        SchemaNode((), keywords, encoding=Encoding(entries=Entries())),
        dict.fromkeys(names, value),
        entries,
    )


@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[Drawn]) -> Drawn:
    node, value, given_value = draw(inner)
    count = draw(st.integers(0, 3))
    return SchemaNode((), {"type": "array", "items": node}), [value] * count, [given_value] * count


@st.composite
def tuples(draw: st.DrawFn, inner: st.SearchStrategy[Drawn]) -> Drawn:
    drawn = draw(st.lists(inner, max_size=3))
    nodes = [node for node, _, _ in drawn]
    return (
        SchemaNode((), {"type": "array", "prefixItems": nodes}),
        [value for _, value, _ in drawn],
        [given_value for _, _, given_value in drawn],
    )


@st.composite
def referred(draw: st.DrawFn, inner: st.SearchStrategy[Drawn]) -> Drawn:
    node, value, given_value = draw(inner)
    return SchemaNode((), {"$ref": node}), value, given_value


@st.composite
def wrapped(draw: st.DrawFn, inner: st.SearchStrategy[Drawn]) -> Drawn:
    node, value, given_value = draw(inner)
    keywords = {"type": "object", "properties": {"input": node}, "required": ["input"]}
    return (
        SchemaNode((), keywords, encoding=Encoding(wrapped="input")),
        value,
        {"input": given_value},
    )


@st.composite
def tagged_unions(draw: st.DrawFn, inner: st.SearchStrategy[Drawn]) -> Drawn:
    """Return a union whose branches are distinguished by a constant property."""
    drawn = draw(st.lists(inner, min_size=1, max_size=3))
    keyword = draw(st.sampled_from(["anyOf", "oneOf"]))
    branches = [
        SchemaNode(
            (),
            {
                "type": "object",
                "properties": {"kind": SchemaNode((), {"const": number}), "it": node},
                "required": ["kind", "it"],
            },
        )
        for number, (node, _, _) in enumerate(drawn)
    ]
    chosen = draw(st.integers(0, len(drawn) - 1))
    _, value, given_value = drawn[chosen]
    return (
        SchemaNode((), {keyword: branches}),
        {"kind": chosen, "it": value},
        {"kind": chosen, "it": given_value},
    )


def anything(inner: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    makers: list[Callable[[st.SearchStrategy[Drawn]], st.SearchStrategy[Drawn]]] = [
        objects,
        maps,
        arrays,
        tuples,
        referred,
        wrapped,
        tagged_unions,
    ]
    return st.one_of(*[maker(inner) for maker in makers])


DRAWN = st.recursive(scalars() | json_texts(), anything, max_leaves=12)


@given(DRAWN)
@settings(max_examples=300, deadline=None)
def test_encoded_values_are_decoded_to_the_original(drawn: Drawn) -> None:
    """There is one interpretation if the branches of unions are distinct."""
    node, value, given_value = drawn
    decoder = build_decoder(node)
    mapping = ToolMapping(ModelApi.OPENAI_CHAT, "n", "s", "t", "sha256:" + "0" * 64, True, decoder)
    decoded = mapping_from_json(mapping_to_json(mapping), LIMITS)

    assert mapping == decoded
    assert [value] == [
        item.value for item in decode_arguments(given_value, decoded.decoder, [LIMITS.steps])
    ]


@st.composite
def broken_plans(draw: st.DrawFn) -> bytes:
    node, _, _ = draw(DRAWN)
    mapping = ToolMapping(
        ModelApi.OPENAI_CHAT, "n", "s", "t", "sha256:" + "0" * 64, True, build_decoder(node)
    )
    text = mapping_to_json(mapping)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 4))
        text = text[:start] + draw(st.sampled_from([b"", *MUTATIONS])) + text[end:]
    return text


def decoders(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(NAMES)
    branches: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {"when": st.just({})}, optional={"as": inner}
    )
    properties: dict[str, st.SearchStrategy[Any]] = {
        "nulls": st.lists(names, max_size=2),
        "renamed": st.dictionaries(names, names, max_size=2),
        "properties": st.dictionaries(names, inner, max_size=2),
        "values": inner,
        "items": inner,
        "prefix": st.lists(st.none() | inner, max_size=2),
        "entries": st.just({"name": "name", "value": "value"}),
        "json_text": st.just(True),
        "wrapped": names,
        "also": st.lists(inner, max_size=2),
        "any_of": st.lists(branches, max_size=2),
        "ref": st.sampled_from(["d0", "d1"]),
    }
    return st.fixed_dictionaries({}, optional=properties)


NO_GUIDE: dict[str, Any] = {}
GUIDES = st.recursive(st.just(NO_GUIDE), decoders, max_leaves=6)


@given(broken_plans(), JSON)
@settings(max_examples=300, deadline=None)
def test_a_mutated_mapping_is_valid_or_rejected(text: bytes, value: Any) -> None:
    """A valid one can be applied."""
    try:
        decoder = mapping_from_json(text, LIMITS).decoder
    except RequestError:
        return
    follow(decoder, value)


@given(
    st.tuples(GUIDES, GUIDES, GUIDES),
    JSON | st.lists(st.fixed_dictionaries({"name": st.sampled_from(NAMES), "value": JSON})),
)
@settings(max_examples=150, deadline=None)
def test_any_valid_decoder_can_be_applied(guides: Any, value: Any) -> None:
    """Its contents are arbitrary."""
    decoder = {**guides[0], "defs": {"d0": guides[1], "d1": guides[2]}}
    text = json.dumps(
        {
            "sidecheck_mapping": 1,
            "api": "gemini",
            "name": "n",
            "tool": "t",
            "definition_digest": "sha256:" + "0" * 64,
            "strict": False,
            "decoder": decoder,
        }
    ).encode()
    try:
        read = mapping_from_json(text, LIMITS).decoder
    except RequestError:
        return
    follow(read, value)


def follow(decoder: dict[str, Any] | None, value: Any) -> None:
    budget = [100_000]
    original = json.dumps(value)
    try:
        result = list(decode_arguments(value, decoder, budget))
    except Exhausted:
        assert budget[0] < 0
        return
    assert 1 <= len(result) <= MAX_INTERPRETATIONS
    assert original == json.dumps(value)
