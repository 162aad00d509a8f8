"""Compiled patterns: the values of `pattern` and the names of `patternProperties`.

JSON Schema takes both as ECMA-262 patterns, matched with Unicode semantics and
anywhere in the text (2020-12 Core section 6.4, Validation section 6.3.3).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial

from sidecheck_server.core.patterns.automaton import RE2, build_automaton
from sidecheck_server.core.patterns.codepoints import join_surrogates
from sidecheck_server.core.patterns.groups import Translation
from sidecheck_server.core.patterns.refusals import PatternFault, PatternRefused
from sidecheck_server.core.patterns.translation import translate

__all__ = ["Pattern", "compile_pattern"]

#: A pattern with look-aheads has an automaton for each, and each has memory of its own.
MOST_AUTOMATA = 8

#: A cached pattern may hold `max_memory` bytes of states, so there are few of them:
#: the schemas that are in use hold their own patterns.
MOST_CACHED = 256

Find = Callable[[bytes, int, int], list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that has been compiled, as it stood in the schema.

    `search` says whether it is found anywhere in a text. It takes every str, one
    with lone surrogates too, and raises nothing. `cost` is the size of the
    compiled program, summed over its automata: *cost* times the length of the
    text in UTF-8 bounds the steps of a search.
    """

    source: str
    cost: int
    search: Callable[[str], bool] = field(repr=False, compare=False)
    #: The one automaton of a pattern without look-aheads, for callers that cannot
    #: afford a frame more: of a text in UTF-8, where to start and where to end, it
    #: returns the spans of the match, of which the first starts at 0 if there is one.
    find: Find | None = field(default=None, repr=False, compare=False)


def compile_pattern(source: str, *, max_length: int = 1024, max_memory: int = 1 << 20) -> Pattern:
    """Return the compiled pattern for *source*, an ECMA-262 pattern with the `u` flag.

    *max_length* bounds the characters of the pattern, *max_memory* the bytes
    that each of its automata (at most 8) may hold. Look-aheads right after a
    leading `^` are run; other look-around, back-references and properties
    without data are not.

    Raises:
        PatternRefused: the pattern is not ECMA-262, needs more than linear time,
            or is over a bound.
    """
    return build_pattern(source, max_length, max_memory)


@lru_cache(maxsize=MOST_CACHED)
def build_pattern(source: str, max_length: int, max_memory: int) -> Pattern:
    if len(source) > max_length:
        raise PatternRefused.at(
            max_length,
            PatternFault.TOO_LARGE,
            f"the pattern goes on, for {len(source)} characters",
            f"no more than {max_length} are allowed",
        )
    translation = translate(join_surrogates(source))
    if count_automata(translation) > MOST_AUTOMATA:
        raise PatternRefused.at(
            0,
            PatternFault.TOO_LARGE,
            f"the pattern has more than {MOST_AUTOMATA - 1} look-aheads",
            "state some of the conditions in schemas under `allOf`",
        )
    matches, cost, find = build_search(translation, max_memory)

    def search(text: str) -> bool:
        try:
            return matches(text.encode())
        except UnicodeEncodeError:
            return matches(join_surrogates(text).encode("utf-8", "surrogatepass"))

    return Pattern(source, cost, search, find)


def count_automata(translation: Translation) -> int:
    return 1 + sum(count_automata(condition.translation) for condition in translation.conditions)


def build_search(
    translation: Translation, max_memory: int
) -> tuple[Callable[[bytes], bool], int, Find | None]:
    """Return what judges a text, as UTF-8, and the size of all its automata; see `Pattern.find`.

    Raises PatternRefused where one of them needs more than *max_memory*.
    """
    expression = translation.expression
    # The length goes first: a program is larger than its expression, and RE2 would
    # spend its time on reading megabytes of classes before it found that out.
    automaton = build_automaton(expression, max_memory) if len(expression) < max_memory else None
    if automaton is None:
        # Memory is the one reason left: a translation holds nothing that RE2 does not take.
        raise PatternRefused.at(
            0,
            PatternFault.TOO_LARGE,
            f"what starts here needs more than {max_memory} bytes once compiled",
            "repeat less, or bound a length with `maxLength` instead",
        )
    matches, cost = automaton.build_matcher(), automaton.size
    conditions = []
    for condition in translation.conditions:
        holds, size, _ = build_search(condition.translation, max_memory)
        conditions.append((holds, not condition.negated))
        cost += size
    if not conditions:
        return matches, cost, partial(automaton.match, RE2.Anchor.ANCHOR_START)

    def matches_all(data: bytes) -> bool:
        return matches(data) and all(holds(data) is wanted for holds, wanted in conditions)

    return matches_all, cost, None
