"""Names that an API takes: allowed, each one's own, and the same in any order."""

import hashlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.core.convert.names import Named, member_names, tool_names
from sidecheck_server.core.convert.words import ServerPrefix
from sidecheck_server.core.mcp.name_grammars import NameGrammar

DASHES = NameGrammar(64, "A-Za-z0-9_-", "letters")
SHORT = NameGrammar(34, "A-Za-z0-9_", "letters", "A-Za-z_", "a letter")
GRAMMARS = st.sampled_from([DASHES, SHORT])
# Few characters, so that names meet; hashes of some of them, so that they meet those too.
SOME = ["a", "é", "a_b", "a.b", "a b", "", "3", "3d", "a" * 40, "a" * 41, "日本語"]


def short_hash(server: str, name: str) -> str:
    whole = f"{len(server)}:{server}{name}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).hexdigest()[:8]


def long_hash(server: str, name: str, attempt: int) -> str:
    whole = f"{len(server)}:{server}{name}:{attempt}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).hexdigest()[:32]


CRAFTED = [
    *(f"a_b_{short_hash('', name)}" for name in ("a.b", "a b")),
    *(f"a_b_{long_hash('', 'a.b', attempt)}" for attempt in (2, 3)),
]
NAMES = st.sampled_from([*SOME, *CRAFTED]) | st.text(max_size=70) | st.text("a_.", max_size=4)
SERVERS = st.sampled_from(["", "s", "s__a", "é"])
TOOLS = st.lists(st.builds(Named, SERVERS, NAMES), unique=True, max_size=12)
PREFIXES = st.sampled_from(list(ServerPrefix))


def named(*names: str) -> list[Named]:
    return [Named("", name) for name in names]


def given_to(*names: str, grammar: NameGrammar = DASHES) -> list[str]:
    return tool_names(named(*names), grammar, ServerPrefix.AUTOMATIC)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["get_weather"], ["get_weather"]),
        (["get.weather"], ["get_weather"]),
        (["日本"], ["__"]),
        ([""], ["_"]),
        (["a" * 64], ["a" * 64]),
        (["a" * 65], ["a" * 55 + "_" + short_hash("", "a" * 65)]),
        (["a.b", "a_b"], ["a_b_" + short_hash("", "a.b"), "a_b"]),
        (["a.b", "a b"], ["a_b_" + short_hash("", "a.b"), "a_b_" + short_hash("", "a b")]),
        ([], []),
    ],
)
def test_names_are_changed_no_more_than_they_must_be(names: list[str], expected: list[str]) -> None:
    """A name that is allowed stays; what is not allowed becomes "_"; the rest has a hash."""
    assert expected == given_to(*names)


def test_what_may_not_come_first_has_something_before_it() -> None:
    """A grammar may allow fewer characters there."""
    assert ["_3d", "_x"] == given_to("3d", "éx", grammar=SHORT)


@pytest.mark.parametrize(
    ("prefix", "servers", "expected"),
    [
        (ServerPrefix.AUTOMATIC, ["s", "s"], ["a", "b"]),
        (ServerPrefix.AUTOMATIC, ["s", "t"], ["s__a", "t__b"]),
        (ServerPrefix.AUTOMATIC, ["s", ""], ["a", "b"]),
        (ServerPrefix.ALWAYS, ["s", "s"], ["s__a", "s__b"]),
        (ServerPrefix.ALWAYS, ["s", ""], ["s__a", "b"]),
        (ServerPrefix.NEVER, ["s", "t"], ["a", "b"]),
    ],
)
def test_servers_stand_before_their_tools(
    prefix: ServerPrefix, servers: list[str], expected: list[str]
) -> None:
    """Where that is asked for, or there are several."""
    tools = [Named(server, name) for server, name in zip(servers, "ab", strict=True)]

    assert expected == tool_names(tools, DASHES, prefix)


def test_no_two_tools_of_servers_are_taken_for_each_other() -> None:
    """Not if they are named alike, nor if a separator is a part of a name."""
    alike = tool_names([Named("s", "x"), Named("t", "x")], DASHES, ServerPrefix.NEVER)
    joined = [Named("s", "t__x"), Named("s__t", "x")]

    assert [f"x_{short_hash('s', 'x')}", f"x_{short_hash('t', 'x')}"] == alike
    assert [
        f"s__t__x_{short_hash('s', 't__x')}",
        f"s__t__x_{short_hash('s__t', 'x')}",
    ] == tool_names(joined, DASHES, ServerPrefix.ALWAYS)


def test_a_name_in_the_way_of_a_hash_keeps_its_own() -> None:
    """However many tries are foreseen; the one that is meant has the next."""
    first = f"a_b_{short_hash('', 'a.b')}"
    others = [f"a_b_{long_hash('', 'a.b', attempt)}" for attempt in (2, 3)]
    names = given_to("a.b", "a_b", first, *others)

    assert ["a_b", first, *others] == names[1:]
    assert f"a_b_{long_hash('', 'a.b', 4)}" == names[0]


def test_names_whose_short_hashes_are_the_same_have_long_ones() -> None:
    """Such pairs can be searched for."""
    first, second = "\u5011\u4e10", "\u5e33\u4e01"

    assert "f6d14c91" == short_hash("", first) == short_hash("", second)
    assert [f"___{long_hash('', name, 2)}" for name in (first, second)] == given_to(first, second)


@settings(deadline=None)
@given(TOOLS, GRAMMARS, PREFIXES, st.randoms(use_true_random=False))
def test_the_order_of_tools_does_not_matter(
    tools: list[Named], grammar: NameGrammar, prefix: ServerPrefix, random: object
) -> None:
    """Whoever lists them otherwise has the same names."""
    names = dict(zip(tools, tool_names(tools, grammar, prefix), strict=True))
    shuffled = sorted(tools, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert [names[tool] for tool in shuffled] == tool_names(shuffled, grammar, prefix)


@settings(deadline=None)
@given(TOOLS, GRAMMARS, PREFIXES)
def test_names_are_allowed_and_no_two_the_same(
    tools: list[Named], grammar: NameGrammar, prefix: ServerPrefix
) -> None:
    """Whatever the tools are called."""
    names = tool_names(tools, grammar, prefix)
    first = f"[{grammar.first or grammar.characters}]"
    whole = re.compile(f"{first}[{grammar.characters}]{{0,{grammar.longest - 1}}}")

    assert [] == [name for name in names if not whole.fullmatch(name)]
    assert len(tools) == len(set(names))


@settings(deadline=None)
@given(TOOLS, GRAMMARS)
def test_names_that_are_allowed_and_unique_stay(tools: list[Named], grammar: NameGrammar) -> None:
    """If no server stands before them."""
    texts = [tool.name for tool in tools]
    names = tool_names(tools, grammar, ServerPrefix.NEVER)
    stay = [text for text in texts if grammar.admits(text) and texts.count(text) == 1]

    assert stay == [name for text, name in zip(texts, names, strict=True) if text in stay]


@settings(deadline=None)
@given(st.lists(NAMES, max_size=12), GRAMMARS)
def test_members_that_are_not_allowed_have_names_that_no_member_has(
    members: list[str], grammar: NameGrammar
) -> None:
    """And the others keep theirs."""
    renamed = member_names(members, grammar)

    assert {name for name in members if not grammar.admits(name)} == renamed.keys()
    assert not set(members) & set(renamed.values())
    assert len(renamed) == len(set(renamed.values()))
    assert all(map(grammar.admits, renamed.values()))


def test_names_that_foresee_thousands_of_tries_are_no_way_to_keep_a_server_busy() -> None:
    """Tries do not multiply: each that fails was foreseen by one name."""
    foreseen = [f"a_b_{short_hash('', 'a.b')}"]
    foreseen += [f"a_b_{long_hash('', 'a.b', attempt)}" for attempt in range(2, 5_000)]
    alike = ["a.b", *(f"a_b{'.' * count}" for count in range(1, 60)), "a_b"]
    names = given_to(*foreseen, *alike)

    assert len(foreseen) + len(alike) == len(set(names))
    assert f"a_b_{long_hash('', 'a.b', 5_000)}" == names[len(foreseen)]
