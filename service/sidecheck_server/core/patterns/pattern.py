"""Compiled patterns: the values of `pattern` and the keys of `patternProperties`.

JSON Schema defines both as ECMA-262 patterns, matched with Unicode semantics and
anywhere in the text (2020-12 Core section 6.4, Validation section 6.3.3).

RE2 decides a match in time linear in program and text. Texts are matched as bytes: for a
str, google-re2 converts byte offsets to characters, which takes three times as long.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import re2

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns.class_sequences import AsciiMatch, build_ascii_matcher
from sidecheck_server.core.patterns.codepoints import join_surrogates
from sidecheck_server.core.patterns.cursor import PatternError, PatternFault
from sidecheck_server.core.patterns.groups import Translation
from sidecheck_server.core.patterns.translation import translate

__all__ = [
    "UNBOUNDED",
    "Automaton",
    "Pattern",
    "build_automaton",
    "compile_pattern",
    "needs_backtracking",
]

#: Matches a text in UTF-8 from its start; returns None if it does not match.
Match = Callable[[bytes], object | None]


@dataclass(frozen=True, slots=True)
class Automaton:
    """An expression of RE2, compiled.

    `size` is the number of instructions of the program; each is visited at most once for
    each byte of the text. `memory` is the estimated size in bytes after many searches.
    """

    size: int
    memory: int
    match: Match

    def build_matcher(self) -> Callable[[bytes], bool]:
        """Return a predicate: whether a text in UTF-8 matches from its start."""
        match = self.match

        def matches(data: bytes) -> bool:
            return match(data) is not None

        return matches


def build_automaton(expression: str, max_memory: int) -> Automaton | None:
    """Return the automaton for an ASCII *expression*, or None if RE2 rejects it.

    *max_memory* bounds the program and the states cached during matching, in bytes. If the
    states do not fit, RE2 continues without them: slower by at most a factor of the program
    size, with the same result.
    """
    options = re2.Options()
    options.max_mem = max_memory
    options.never_capture = True
    options.log_errors = False
    try:
        regexp = re2.compile(expression.encode("ascii"), options)
    except re2.error:
        return None
    # Decision 0074: google-re2 caches 128 automata of any size; our caches bound bytes.
    re2.purge()
    size: int = regexp.programsize
    return Automaton(size, _estimate_memory(expression, size), regexp.match)


def _estimate_memory(expression: str, size: int) -> int:
    """Return the estimated memory of RE2 for *expression*, in bytes."""
    tables = min(TABLES_BYTES + TABLE_BYTES * size, MOST_TABLES)
    program = BYTES_PER_INSTRUCTION * size
    return AUTOMATON_BYTES + BYTES_PER_CHARACTER * len(expression) + program + tables


#: Most look-aheads of a pattern; each is an automaton with separate memory.
MOST_LOOK_AHEADS = 7

#: Memory limit of an automaton, program and states, in bytes; enough for the patterns of
#: real tools. Decision 0052: caches charge a pattern for all states that fit into it.
MEMORY = 48 << 10

#: Factor by which the memory limit grows until a large program fits.
MEMORY_FACTOR = 3

#: Memory for each instruction of the largest program, in bytes. RE2 reserves two thirds of
#: the limit for the program, at 8 bytes for an instruction, and may finally remove half of
#: the instructions.
MEMORY_PER_INSTRUCTION = 24

# Memory of RE2 in bytes, as measured by tests/core/test_memory.py: for an automaton, for its
# expression, for its program, and for the tables and states made from the program. A limit
# raised for a large program leaves little additional space for tables and states.
AUTOMATON_BYTES = 500
BYTES_PER_CHARACTER = 2
BYTES_PER_INSTRUCTION = 8
TABLES_BYTES = 2500
TABLE_BYTES = 80
MOST_TABLES = MEMORY // 3

#: Bytes of the Python objects around an automaton.
PATTERN_BYTES = 1500

#: Cost of a backtracking pattern; exceeds every budget.
UNBOUNDED = 1 << 60

#: Most cached patterns, of at most a megabyte each. Schemas in use keep their own patterns.
MOST_CACHED = 16

DEFAULTS = Limits()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    `search` returns whether it matches anywhere in a text. It takes any str, including lone
    surrogates, and raises nothing. `cost` is the size of the compiled program, summed over
    all automata: *cost* times the length of the text in UTF-8 bounds the visited
    instructions of a search, each of which takes a third of a nanosecond with the patterns
    and texts of real tools, and 15 in the worst case. It is `UNBOUNDED` for a pattern that
    needs backtracking: only a process that can be killed and has limited memory may run it.
    """

    source: str
    cost: int
    #: Estimated size after many searches, in bytes.
    memory: int
    search: Callable[[str], bool] = field(repr=False, compare=False)
    #: The match function of a pattern with one automaton, for callers that avoid the call
    #: frames of `search`.
    match: Match | None = field(default=None, repr=False, compare=False)
    #: The match function for texts in ASCII, of a pattern that `re` matches in linear time.
    match_ascii: AsciiMatch | None = field(default=None, repr=False, compare=False)


def compile_pattern(source: str, limits: Limits = DEFAULTS) -> Pattern:
    """Return the compiled pattern for *source*, an ECMA-262 pattern with the `u` flag.

    Its automata together may have at most `pattern_instructions` of *limits*. Look-aheads
    right after a leading `^` run in linear time; other look-around and back-references need
    backtracking, and run only with `allow_backtracking`. That limit has no effect on other
    patterns.

    Raises:
        PatternError: the pattern is not ECMA-262, exceeds a bound, or needs backtracking
            that *limits* do not allow.
    """
    # Decision 0016: backtracking is off by default, since its time has no bound in steps.
    repetitions = limits.pattern_repetitions
    try:
        return build_pattern(
            source, limits.pattern_length, repetitions, limits.pattern_instructions
        )
    except PatternError as error:
        if not limits.allow_backtracking or error.fault is not PatternFault.NOT_LINEAR:
            raise
    return build_backtracking_pattern(source, repetitions)


def needs_backtracking(source: str) -> bool:
    """Return whether *source* is valid but cannot be matched in linear time.

    False for patterns that are rejected anyway, as invalid or too large. *source* is parsed,
    not compiled.
    """
    try:
        translate(
            join_surrogates(source), DEFAULTS.pattern_repetitions, DEFAULTS.pattern_instructions
        )
    except PatternError as error:
        return error.fault is PatternFault.NOT_LINEAR
    return False


@lru_cache(maxsize=MOST_CACHED)
def build_backtracking_pattern(source: str, max_repetitions: int) -> Pattern:
    # Imported late: few processes need `regex`, and importing it takes as long as the core.
    from sidecheck_server.core.patterns.backtracking import (  # noqa: PLC0415
        build_backtracking_search,
    )

    search = build_backtracking_search(source, max_repetitions)
    return Pattern(source, UNBOUNDED, PATTERN_BYTES, search)


@lru_cache(maxsize=MOST_CACHED)
def build_pattern(
    source: str, max_length: int, max_repetitions: int, max_instructions: int
) -> Pattern:
    if len(source) > max_length:
        raise PatternError.over_bound(
            max_length,
            "pattern_length",
            max_length,
            f"the pattern has {len(source):,} characters",
            "write it shorter, or as several patterns under `allOf` or `anyOf`",
        )
    translation = translate(join_surrogates(source), max_repetitions, max_instructions)
    look_aheads = count_look_aheads(translation)
    if look_aheads > MOST_LOOK_AHEADS:
        raise PatternError.over_bound(
            0,
            "pattern_look_aheads",
            MOST_LOOK_AHEADS,
            f"the pattern has {look_aheads} look-aheads",
            "state some of the conditions in schemas under `allOf`",
        )
    built = build_search(translation, max_instructions, max_instructions)
    matches = built.matches

    def search(text: str) -> bool:
        try:
            return matches(text.encode())
        except UnicodeEncodeError:
            return matches(join_surrogates(text).encode("utf-8", "surrogatepass"))

    memory = PATTERN_BYTES + built.memory
    # Decision 0075: RE2's match creates objects of Python, which costs more than a short text.
    sequence = build_ascii_matcher(source)
    if sequence is None:
        return Pattern(source, built.cost, memory, search, built.match)
    return Pattern(
        source, built.cost, memory + sequence.memory, search, built.match, sequence.match
    )


def count_look_aheads(translation: Translation) -> int:
    conditions = translation.conditions
    return len(conditions) + sum(
        count_look_aheads(condition.translation) for condition in conditions
    )


@dataclass(frozen=True, slots=True)
class Search:
    """The automata of a translation: match function for UTF-8, and total size."""

    matches: Callable[[bytes], bool]
    cost: int
    memory: int
    match: Match | None


def build_search(translation: Translation, available: int, max_instructions: int) -> Search:
    """Build the automata of *translation*.

    Raises PatternError if they have more instructions than *available*, the remainder of
    *max_instructions* after other automata of the pattern.
    """
    automaton = build_smallest_automaton(translation.expression, max_instructions)
    if automaton is None or automaton.size > available:
        raise PatternError.over_bound(
            0,
            "pattern_instructions",
            max_instructions,
            "the pattern is too large once compiled",
            "repeat less, or bound a length with `maxLength` instead",
        )
    matches, cost, memory = automaton.build_matcher(), automaton.size, automaton.memory
    conditions = []
    for condition in translation.conditions:
        search = build_search(condition.translation, available - cost, max_instructions)
        conditions.append((search.matches, not condition.negated))
        cost += search.cost
        memory += search.memory
    if not conditions:
        return Search(matches, cost, memory, automaton.match)

    def matches_all(data: bytes) -> bool:
        return matches(data) and all(check(data) is expected for check, expected in conditions)

    return Search(matches_all, cost, memory, None)


def build_smallest_automaton(expression: str, max_instructions: int) -> Automaton | None:
    """Return the automaton for *expression* with close to the least possible memory.

    None means that it needs too much: RE2 supports every part of a translation.
    """
    memory, most = MEMORY, MEMORY_PER_INSTRUCTION * max_instructions
    automaton = build_automaton(expression, memory)
    while automaton is None and memory < most:
        memory = min(memory * MEMORY_FACTOR, most)
        automaton = build_automaton(expression, memory)
    return automaton
