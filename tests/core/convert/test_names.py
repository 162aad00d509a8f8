"""Assigned names: valid, distinct, and independent of order."""

import hashlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.core.convert.names import ToolName, assign_property_names, assign_tool_names
from sidecheck_server.core.convert.types import ServerPrefix
from sidecheck_server.core.mcp.name_grammars import NameGrammar

DASHES = NameGrammar(64, "A-Za-z0-9_-", "letters")
SHORT = NameGrammar(34, "A-Za-z0-9_", "letters", "A-Za-z_", "a letter")
GRAMMARS = st.sampled_from([DASHES, SHORT])
# Few characters, so that names meet; hashes of some of them, so that they meet those too.
SOME = ["a", "é", "a_b", "a.b", "a b", "", "3", "3d", "a" * 40, "a" * 41, "日本語"]


def short_hash(server: str, name: str) -> str:
    hashed = f"{len(server)}:{server}{name}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(hashed).hexdigest()[:8]


def long_hash(server: str, name: str, attempt: int) -> str:
    hashed = f"{len(server)}:{server}{name}:{attempt}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(hashed).hexdigest()[:32]


CRAFTED = [
    *(f"a_b_{short_hash('', name)}" for name in ("a.b", "a b")),
    *(f"a_b_{long_hash('', 'a.b', attempt)}" for attempt in (2, 3)),
]
NAMES = st.sampled_from([*SOME, *CRAFTED]) | st.text(max_size=70) | st.text("a_.", max_size=4)
SERVERS = st.sampled_from(["", "s", "s__a", "é"])
TOOLS = st.lists(st.builds(ToolName, SERVERS, NAMES), unique=True, max_size=12)
PREFIXES = st.sampled_from(list(ServerPrefix))


def named(*names: str) -> list[ToolName]:
    return [ToolName("", name) for name in names]


def converted_names(*names: str, grammar: NameGrammar = DASHES) -> list[str]:
    return assign_tool_names(named(*names), grammar, ServerPrefix.AUTOMATIC)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["get_weather"], ["get_weather"]),
        (["get.weather"], ["get_weather"]),
        (["日本"], ["tool_1"]),
        (["日本", "имя", "tool_2", "!"], ["tool_3", "tool_1", "tool_2", "_"]),
        (["日本_id"], ["___id"]),
        (
            ["été", "e\u0301te\u0301", "ete"],
            ["ete_" + short_hash("", "été"), "ete_" + short_hash("", "e\u0301te\u0301"), "ete"],
        ),
        (["ＡＢ①", "naïve.name"], ["AB1", "naive_name"]),
        (["한글", "नाम"], ["tool_2", "tool_1"]),
        ([""], ["_"]),
        (["a" * 64], ["a" * 64]),
        (["a" * 65], ["a" * 55 + "_" + short_hash("", "a" * 65)]),
        (["a.b", "a_b"], ["a_b_" + short_hash("", "a.b"), "a_b"]),
        (["a.b", "a b"], ["a_b_" + short_hash("", "a.b"), "a_b_" + short_hash("", "a b")]),
        ([], []),
    ],
)
def test_names_are_changed_as_little_as_possible(names: list[str], expected: list[str]) -> None:
    """A valid name stays; invalid characters become "_"; a hash resolves collisions."""
    assert expected == converted_names(*names)


def test_an_invalid_first_character_is_prefixed() -> None:
    """A grammar may allow fewer characters there."""
    assert ["_3d", "_x"] == converted_names("3d", ".x", grammar=SHORT)


@pytest.mark.parametrize(
    ("prefix", "servers", "expected"),
    [
        (ServerPrefix.AUTOMATIC, ["s", "s"], ["a", "b"]),
        (ServerPrefix.AUTOMATIC, ["s", "t"], ["s__a", "t__b"]),
        (ServerPrefix.AUTOMATIC, ["s", ""], ["a", "b"]),
        (ServerPrefix.ALWAYS, ["s", "s"], ["s__a", "s__b"]),
        (ServerPrefix.ALWAYS, ["s", ""], ["s__a", "b"]),
        (ServerPrefix.NEVER, ["s", "t"], ["a", "b"]),
        (ServerPrefix.ALWAYS, ["é", "日"], ["e__a", "___b"]),
    ],
)
def test_names_are_prefixed_with_servers(
    prefix: ServerPrefix, servers: list[str], expected: list[str]
) -> None:
    """This happens on request, or if there are several servers."""
    tools = [ToolName(server, name) for server, name in zip(servers, "ab", strict=True)]

    assert expected == assign_tool_names(tools, DASHES, prefix)


def test_numbers_follow_the_prefix() -> None:
    """A server's name without an ASCII form is left out."""
    tools = [
        ToolName("s", "日"),
        ToolName("s", "月"),
        ToolName("é" * 70, "日"),
        ToolName("火", "日"),
    ]

    names = assign_tool_names(tools, DASHES, ServerPrefix.ALWAYS)

    assert ["s__tool_1", "s__tool_2", "e" * 32 + "tool_1", "tool_1"] == names


def test_properties_are_numbered_in_their_order() -> None:
    names = ["日", "p1", "月", "a", "p3", "ｂ"]

    assert {"日": "p2", "月": "p4", "ｂ": "b"} == assign_property_names(names, DASHES)


def test_prefixed_names_are_distinct() -> None:
    """Names may be equal, or contain the separator."""
    alike = assign_tool_names([ToolName("s", "x"), ToolName("t", "x")], DASHES, ServerPrefix.NEVER)
    joined = [ToolName("s", "t__x"), ToolName("s__t", "x")]

    assert [f"x_{short_hash('s', 'x')}", f"x_{short_hash('t', 'x')}"] == alike
    assert [
        f"s__t__x_{short_hash('s', 't__x')}",
        f"s__t__x_{short_hash('s__t', 'x')}",
    ] == assign_tool_names(joined, DASHES, ServerPrefix.ALWAYS)


def test_a_name_that_collides_with_a_hash_is_kept() -> None:
    """The other name uses the next hash, after any number of attempts."""
    first = f"a_b_{short_hash('', 'a.b')}"
    others = [f"a_b_{long_hash('', 'a.b', attempt)}" for attempt in (2, 3)]
    names = converted_names("a.b", "a_b", first, *others)

    assert ["a_b", first, *others] == names[1:]
    assert f"a_b_{long_hash('', 'a.b', 4)}" == names[0]


def test_names_with_equal_short_hashes_have_long_ones() -> None:
    """Such pairs can be constructed."""
    first, second = "a!!;=%", "a#/+=&"

    assert "011da8fa" == short_hash("", first) == short_hash("", second)
    assert [f"a______{long_hash('', name, 2)}" for name in (first, second)] == converted_names(
        first, second
    )


@settings(deadline=None)
@given(TOOLS, GRAMMARS, PREFIXES, st.randoms(use_true_random=False))
def test_the_order_of_tools_does_not_matter(
    tools: list[ToolName], grammar: NameGrammar, prefix: ServerPrefix, random: object
) -> None:
    names = dict(zip(tools, assign_tool_names(tools, grammar, prefix), strict=True))
    shuffled = sorted(tools, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert [names[tool] for tool in shuffled] == assign_tool_names(shuffled, grammar, prefix)


@settings(deadline=None)
@given(TOOLS, GRAMMARS, PREFIXES)
def test_names_are_valid_and_distinct(
    tools: list[ToolName], grammar: NameGrammar, prefix: ServerPrefix
) -> None:
    """The names of the tools are arbitrary."""
    names = assign_tool_names(tools, grammar, prefix)
    first = f"[{grammar.first or grammar.characters}]"
    pattern = re.compile(f"{first}[{grammar.characters}]{{0,{grammar.longest - 1}}}")

    assert [] == [name for name in names if not pattern.fullmatch(name)]
    assert len(tools) == len(set(names))


@settings(deadline=None)
@given(TOOLS, GRAMMARS)
def test_valid_and_unique_names_are_kept(tools: list[ToolName], grammar: NameGrammar) -> None:
    """Unless they are prefixed."""
    texts = [tool.name for tool in tools]
    names = assign_tool_names(tools, grammar, ServerPrefix.NEVER)
    stay = [text for text in texts if grammar.admits(text) and texts.count(text) == 1]

    assert stay == [name for text, name in zip(texts, names, strict=True) if text in stay]


@settings(deadline=None)
@given(st.lists(NAMES, max_size=12), GRAMMARS)
def test_replaced_property_names_collide_with_no_property(
    properties: list[str], grammar: NameGrammar
) -> None:
    """The others are kept."""
    renamed = assign_property_names(properties, grammar)

    assert {name for name in properties if not grammar.admits(name)} == renamed.keys()
    assert not set(properties) & set(renamed.values())
    assert len(renamed) == len(set(renamed.values()))
    assert all(map(grammar.admits, renamed.values()))


def test_anticipated_attempts_do_not_multiply() -> None:
    """Each failed attempt was anticipated by one name."""
    foreseen = [f"a_b_{short_hash('', 'a.b')}"]
    foreseen += [f"a_b_{long_hash('', 'a.b', attempt)}" for attempt in range(2, 5_000)]
    alike = ["a.b", *(f"a_b{'.' * count}" for count in range(1, 60)), "a_b"]
    names = converted_names(*foreseen, *alike)

    assert len(foreseen) + len(alike) == len(set(names))
    assert f"a_b_{long_hash('', 'a.b', 5_000)}" == names[len(foreseen)]
