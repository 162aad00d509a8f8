"""Compiled patterns: the values of `pattern` and the keys of `patternProperties`.

JSON Schema defines both as ECMA-262 patterns, matched with Unicode semantics and
anywhere in the text (2020-12 Core section 6.4, Validation section 6.3.3).

RE2 decides a match in time linear in program and text. The binding inside google-re2 is
called directly, here and nowhere else: the public `search` translates byte offsets to
characters, which takes 3.8 us a call on a short text against 0.6 us, and the public
`compile` keeps every automaton in a cache of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial

import re2

from sidecheck_server.core.limits import Limits
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

RE2 = re2._re2.RE2  # noqa: SLF001 - see the module's docstring


@dataclass(frozen=True, slots=True)
class Automaton:
    """An expression of RE2, compiled.

    `size` counts the instructions of the program, each of which is visited at
    most once for each byte of the text.
    """

    size: int
    match: Callable[[object, bytes, int, int], list[tuple[int, int]]]

    def build_matcher(self) -> Callable[[bytes], bool]:
        """Return the function that matches a text in UTF-8 from its start."""
        match, anchor = self.match, RE2.Anchor.ANCHOR_START

        def matches(data: bytes) -> bool:
            return match(anchor, data, 0, len(data))[0][0] == 0

        return matches


def build_automaton(expression: str, max_memory: int) -> Automaton | None:
    """Return the automaton for an ASCII *expression* of RE2, or None if RE2 rejects it.

    *max_memory* bounds, in bytes, the program and the states that it caches while it
    matches. Once the states no longer fit, RE2 continues without them: slower by at
    most the size of the program, and with the same result.
    """
    options = re2.Options()
    options.max_mem = max_memory
    options.never_capture = True
    options.log_errors = False
    binding = RE2(expression.encode("ascii"), options)
    if not binding.ok():
        return None
    return Automaton(size=binding.ProgramSize(), match=binding.Match)


#: Most look-aheads of a pattern: each is an automaton with its own memory.
MOST_LOOK_AHEADS = 7

#: Memory of an automaton, in bytes: program and states.
MEMORY = 1 << 20

#: Memory for each instruction of a program that needs more. RE2 keeps two thirds for the
#: program, with 8 bytes for an instruction, and removes up to half of them at last.
MEMORY_PER_INSTRUCTION = 24

#: The cost of a pattern that backtracks; greater than any budget.
UNBOUNDED = 1 << 60

#: Most cached patterns. Each may hold its memory in states, and schemas in use hold their
#: own patterns.
MOST_CACHED = 64

DEFAULTS = Limits()

Find = Callable[[bytes, int, int], list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    `search` returns whether it matches anywhere in a text. It takes every str, with lone
    surrogates too, and raises nothing. `cost` is the size of the
    compiled program, summed over its automata: *cost* times the length of the
    text in UTF-8 bounds the steps of a search, each of a third of a nanosecond with
    the patterns and texts of real tools, and of 15 with the worst. It is `UNBOUNDED` for a pattern
    that needs backtracking: only a process that can be killed, and whose memory is
    limited, may run that, however short the text.
    """

    source: str
    cost: int
    search: Callable[[str], bool] = field(repr=False, compare=False)
    #: The match function of a pattern with one automaton, for callers that avoid the
    #: frames of `search`. It takes a text in UTF-8, start and end, and returns the spans
    #: of the match; the first starts at 0 if there is a match.
    find: Find | None = field(default=None, repr=False, compare=False)


def compile_pattern(source: str, limits: Limits = DEFAULTS) -> Pattern:
    """Return the compiled pattern for *source*, an ECMA-262 pattern with the `u` flag.

    Of *limits* those of patterns apply; at most `pattern_instructions` may be in the
    automata of the pattern together. Look-aheads right after a leading `^` are run in
    linear time; other look-around and back-references need backtracking, and are run if
    `allow_backtracking` says so. A pattern that needs none is the same either way.

    Raises:
        PatternError: the pattern is not ECMA-262, needs more than linear time
            and *limits* do not allow that, or is over a bound.
    """
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
    """Return whether *source* is a pattern of ECMA-262 that linear time cannot decide.

    False for patterns that are rejected either way: invalid ones, and those that exceed a
    bound before. *source* is parsed, not compiled.
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
    # Few processes run such patterns, and importing `regex` takes as long as the whole core.
    from sidecheck_server.core.patterns.backtracking import (  # noqa: PLC0415
        build_backtracking_search,
    )

    return Pattern(source, UNBOUNDED, build_backtracking_search(source, max_repetitions))


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
    matches, cost, find = build_search(translation, max_instructions, max_instructions)

    def search(text: str) -> bool:
        try:
            return matches(text.encode())
        except UnicodeEncodeError:
            return matches(join_surrogates(text).encode("utf-8", "surrogatepass"))

    return Pattern(source, cost, search, find)


def count_look_aheads(translation: Translation) -> int:
    conditions = translation.conditions
    return len(conditions) + sum(
        count_look_aheads(condition.translation) for condition in conditions
    )


def build_search(
    translation: Translation, available: int, max_instructions: int
) -> tuple[Callable[[bytes], bool], int, Find | None]:
    """Return the match function for UTF-8, the size of all automata, and `Pattern.find`.

    Raises PatternError where they are larger than *available*, which is what other
    automata have left of *max_instructions*.
    """
    # Memory is the only reason for None: RE2 supports every part of a translation.
    automaton = build_automaton(translation.expression, MEMORY) or build_automaton(
        translation.expression, max(MEMORY, MEMORY_PER_INSTRUCTION * max_instructions)
    )
    if automaton is None or automaton.size > available:
        raise PatternError.over_bound(
            0,
            "pattern_instructions",
            max_instructions,
            "the pattern is too large once compiled",
            "repeat less, or bound a length with `maxLength` instead",
        )
    matches, cost = automaton.build_matcher(), automaton.size
    conditions = []
    for condition in translation.conditions:
        holds, size, _ = build_search(condition.translation, available - cost, max_instructions)
        conditions.append((holds, not condition.negated))
        cost += size
    if not conditions:
        return matches, cost, partial(automaton.match, RE2.Anchor.ANCHOR_START)

    def matches_all(data: bytes) -> bool:
        return matches(data) and all(holds(data) is expected for holds, expected in conditions)

    return matches_all, cost, None
