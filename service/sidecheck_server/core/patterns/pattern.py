"""Compiled patterns: the values of `pattern` and the names of `patternProperties`.

JSON Schema takes both as ECMA-262 patterns, matched with Unicode semantics and
anywhere in the text (2020-12 Core section 6.4, Validation section 6.3.3).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial

from sidecheck_server.core.patterns.automaton import RE2, build_automaton
from sidecheck_server.core.patterns.codepoints import join_surrogates
from sidecheck_server.core.patterns.faults import PatternFault, PatternRefused
from sidecheck_server.core.patterns.groups import Translation
from sidecheck_server.core.patterns.translation import translate

__all__ = ["UNBOUNDED", "Pattern", "compile_pattern", "needs_backtracking"]

#: A pattern with look-aheads has an automaton for each, and each has memory of its own.
MOST_AUTOMATA = 8

#: The most that all automata of a pattern may cost: about as much as the largest one
#: that fits in a megabyte, so that look-aheads do not multiply the time it takes to compile.
MOST_COST = 60_000

#: The cost of a pattern that backtracks, beyond every budget.
UNBOUNDED = 1 << 60

#: A cached pattern may hold `max_memory` bytes of states, so there are few of them:
#: the schemas that are in use hold their own patterns.
MOST_CACHED = 64

Find = Callable[[bytes, int, int], list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that has been compiled, as it stood in the schema.

    `search` says whether it is found anywhere in a text. It takes every str, one
    with lone surrogates too, and raises nothing. `cost` is the size of the
    compiled program, summed over its automata: *cost* times the length of the
    text in UTF-8 bounds the steps of a search, each of a third of a nanosecond with
    the patterns and texts of real tools, and of 15 with the worst. It is `UNBOUNDED` for a pattern
    that needs backtracking: only a process that can be killed, and whose memory is
    limited, may run that, however short the text.
    """

    source: str
    cost: int
    search: Callable[[str], bool] = field(repr=False, compare=False)
    #: The one automaton of a pattern without look-aheads, for callers that cannot
    #: afford a frame more: of a text in UTF-8, where to start and where to end, it
    #: returns the spans of the match, of which the first starts at 0 if there is one.
    find: Find | None = field(default=None, repr=False, compare=False)


def compile_pattern(
    source: str, *, max_length: int = 1024, max_memory: int = 1 << 20, backtracking: bool = False
) -> Pattern:
    """Return the compiled pattern for *source*, an ECMA-262 pattern with the `u` flag.

    *max_length* bounds the characters of the pattern, *max_memory* the bytes
    that each of its automata (at most 8) may hold. Look-aheads right after a
    leading `^` are run in linear time; other look-around and back-references need
    backtracking, and are run if *backtracking* says so. A pattern that needs none
    is the same either way.

    Raises:
        PatternRefused: the pattern is not ECMA-262, needs more than linear time
            and *backtracking* is false, or is over a bound.
    """
    try:
        return build_pattern(source, max_length, max_memory)
    except PatternRefused as refused:
        if not backtracking or refused.fault is not PatternFault.NOT_LINEAR:
            raise
    return build_backtracking_pattern(source)


def needs_backtracking(source: str) -> bool:
    """Return whether *source* is a pattern of ECMA-262 that linear time cannot decide.

    A pattern that is none, or is over a bound before that shows, does not need it:
    it is refused either way. *source* is read, not compiled.
    """
    try:
        translate(join_surrogates(source))
    except PatternRefused as refused:
        return refused.fault is PatternFault.NOT_LINEAR
    return False


@lru_cache(maxsize=MOST_CACHED)
def build_backtracking_pattern(source: str) -> Pattern:
    # Few processes run such patterns, and reading `regex` takes as long as the rest of the core.
    from sidecheck_server.core.patterns.backtracking import (  # noqa: PLC0415
        build_backtracking_search,
    )

    return Pattern(source, UNBOUNDED, build_backtracking_search(source))


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
    matches, cost, find = build_search(translation, max_memory, MOST_COST)

    def search(text: str) -> bool:
        try:
            return matches(text.encode())
        except UnicodeEncodeError:
            return matches(join_surrogates(text).encode("utf-8", "surrogatepass"))

    return Pattern(source, cost, search, find)


def count_automata(translation: Translation) -> int:
    return 1 + sum(count_automata(condition.translation) for condition in translation.conditions)


def build_search(
    translation: Translation, max_memory: int, most_cost: int
) -> tuple[Callable[[bytes], bool], int, Find | None]:
    """Return what judges a text, as UTF-8, and the size of all its automata; see `Pattern.find`.

    Raises PatternRefused where one of them needs more than *max_memory*, or all
    are larger than *most_cost*.
    """
    automaton = build_automaton(translation.expression, max_memory)
    # Memory is the one reason to have none: a translation holds nothing that RE2 does not take.
    if automaton is None or automaton.size > most_cost:
        raise PatternRefused.at(
            0,
            PatternFault.TOO_LARGE,
            "the pattern is too large once compiled",
            "repeat less, or bound a length with `maxLength` instead",
        )
    matches, cost = automaton.build_matcher(), automaton.size
    conditions = []
    for condition in translation.conditions:
        holds, size, _ = build_search(condition.translation, max_memory, most_cost - cost)
        conditions.append((holds, not condition.negated))
        cost += size
    if not conditions:
        return matches, cost, partial(automaton.match, RE2.Anchor.ANCHOR_START)

    def matches_all(data: bytes) -> bool:
        return matches(data) and all(holds(data) is wanted for holds, wanted in conditions)

    return matches_all, cost, None
