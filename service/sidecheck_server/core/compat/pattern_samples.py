"""Texts that patterns match, near the differences from other patterns.

Texts follow the plain parts of a pattern: boundaries and back-references are ignored, so a
text may not match. The engine that validates decides which texts come first.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, zip_longest

from sidecheck_server.core.compat.pattern_sketch import (
    Choice,
    Piece,
    Repetition,
    Sketch,
    read_sketch,
)
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.patterns.codepoints import Ranges
from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.pattern import Pattern, compile_pattern

__all__ = ["PatternSampler", "pattern_texts"]

_VARIANTS = 6
_MAX_MATCH = 200


@lru_cache(maxsize=512)
def pattern_texts(pattern: str) -> tuple[str, ...]:
    """Return a few distinct texts that *pattern* may match."""
    sketch = read_sketch(pattern)
    if sketch is None:
        return ()
    texts = (_spell(sketch.whole, variant) for variant in range(_VARIANTS))
    return tuple(dict.fromkeys(text[:_MAX_MATCH] for text in texts))


def _spell(piece: Piece, variant: int) -> str:
    if not isinstance(piece, Choice):
        return _character(piece, variant)
    sequence = piece.alternatives[variant % len(piece.alternatives)]
    text = ""
    for repetition in sequence:
        # Odd variants repeat as rarely as possible, even ones at least once if allowed.
        least = repetition.least if variant % 2 else max(repetition.least, 1)
        count = least if repetition.most is None else min(least, repetition.most)
        if variant >= 4 and (repetition.most is None or repetition.most > count):
            count += 1
        for number in range(min(count, _MAX_MATCH)):
            text += _spell(repetition.piece, variant + number)
            if len(text) > _MAX_MATCH:
                return text
    return text


_PRINTABLE = ((97, 122), (48, 57), (65, 90), (32, 126))
"""Preferred ranges of a class: lower-case letters, digits, upper-case, printable ASCII."""


def _character(members: Ranges, variant: int) -> str:
    if not members:
        return ""
    for low, high in (_PRINTABLE[variant // 2 % len(_PRINTABLE)], *_PRINTABLE):
        for first, last in members:
            begin, end = max(first, low), min(last, high)
            if begin <= end:
                return chr(begin + variant % (end - begin + 1))
    return chr(members[0][0])


_SEARCH = 20_000
"""Steps of one search for texts, beside those for the work of the engine."""
_MAX_TEXTS = 600
_MAX_PATTERNS = 8
_MAX_MATCHING = 4_000_000
"""Maximum instructions that the engine visits in one search; it takes a few milliseconds."""
_INSTRUCTIONS_PER_STEP = 100


class PatternSampler:
    """Searches for texts that distinguish patterns, each made once; they spend *budget*."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._known: dict[object, tuple[str, ...]] = {}

    def sample(
        self, patterns: tuple[str, ...], others: tuple[str, ...], texts: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """Return *texts*, and texts for *patterns*, that all *patterns* match.

        The first ones differ in which of *others* they match. If *patterns* match none of
        them, all are returned.

        Raises:
            Exhausted: the budget is spent.
        """
        if set(patterns) == set(others):
            return tuple(dict.fromkeys(chain(texts, *map(pattern_texts, patterns))))
        key = patterns, others, texts
        if key not in self._known:
            spend(self._budget, _SEARCH)
            found, work = _search_texts(patterns[:_MAX_PATTERNS], others[:_MAX_PATTERNS], texts)
            spend(self._budget, work // _INSTRUCTIONS_PER_STEP)
            self._known[key] = found
        return self._known[key]


@lru_cache(maxsize=256)
def _search_texts(
    patterns: tuple[str, ...], others: tuple[str, ...], texts: tuple[str, ...]
) -> tuple[tuple[str, ...], int]:
    """Return texts as `PatternSampler.sample` does, and the work of the engine."""
    own = [_compile(pattern) for pattern in patterns]
    compared = [_compile(pattern) for pattern in others]
    matched: dict[tuple[bool | None, ...], list[str]] = {}
    candidates = dict.fromkeys(islice(_candidates(patterns, others, texts), _MAX_TEXTS))
    work = 0
    for text in candidates:
        cost = sum(pattern.cost for pattern in (*own, *compared) if pattern) * (4 * len(text) + 1)
        if work + cost > _MAX_MATCHING:
            # Whether they match is left to evaluation, which has more steps.
            matched.setdefault((), []).append(text)
            continue
        work += cost
        if all(pattern is None or pattern.search(text) for pattern in own):
            matches = tuple(pattern.search(text) if pattern else None for pattern in compared)
            matched.setdefault(matches, []).append(text)
    if not matched:
        return tuple(candidates), work
    # The first of each kind, then the second of each kind, and so on.
    groups = zip_longest(*matched.values())
    return tuple(text for group in groups for text in group if text is not None), work


def _compile(pattern: str) -> Pattern | None:
    """Return the compiled *pattern*; None if it is not one, or needs backtracking."""
    try:
        return compile_pattern(pattern)
    except PatternError:
        return None


_MAX_LENGTH = 10_000
"""Maximum characters of a text."""
_MAX_CHARACTERS = 200_000
"""Maximum characters of all texts of a search."""
_AROUND = ("a", "0", " ", "-", "\n", "Z", "é")
"""Texts before and after a match."""
_MAX_AROUND = 24


def _candidates(
    patterns: tuple[str, ...], others: tuple[str, ...], texts: tuple[str, ...]
) -> Iterator[str]:
    own = [sketch for sketch in map(read_sketch, patterns) if sketch]
    compared = [sketch for sketch in map(read_sketch, others) if sketch]
    speller = _Speller([*own, *compared])
    first_texts = dict.fromkeys(chain(texts, *map(pattern_texts, patterns)))
    examples = [speller.spell(sketch.whole) for sketch in own] or [*texts[:1]]
    # What look-around excludes, alone and around a match.
    inner = [
        text
        for sketch in (*compared, *own)
        for look in sketch.looks
        for text in chain((speller.spell(look),), islice(speller.vary(look), 6))
    ]
    around = [*_AROUND, *inner, *speller.ends(_MAX_AROUND)]
    streams: list[Iterator[str]] = [speller.vary(sketch.whole) for sketch in own]
    streams += [
        iter([*inner, *speller.ends(_MAX_AROUND)]),
        (
            text
            for example in examples
            for part in around
            for text in (example + part, part + example)
        ),
        chain.from_iterable(map(pattern_texts, others)),
        chain.from_iterable(islice(speller.vary(sketch.whole), 60) for sketch in compared),
        *(speller.vary_pairs(sketch.whole) for sketch in own),
    ]
    remaining = _MAX_CHARACTERS
    for text in chain(first_texts, _alternate(streams)):
        if len(text) <= _MAX_LENGTH:
            remaining -= len(text)
            if remaining < 0:
                return
            yield text


def _alternate(streams: Sequence[Iterator[str]]) -> Iterator[str]:
    """Yield the first item of each stream, then the second of each, and so on."""
    for group in zip_longest(*streams):
        yield from (text for text in group if text is not None)


_MAX_ENDS = 400
_MAX_MEMBERS = 40
_MAX_COUNTS = 16
_MAX_ALTERNATIVES = 60
_MAX_PARTS = 40
_MAX_PAIR_PARTS = 8
_MAX_PAIR_TEXTS = 6
_MAX_DEPTH = 12
_SURROGATES = range(0xD800, 0xE000)


class _Speller:
    """Texts of the pieces of several patterns, one part varied at a time."""

    def __init__(self, sketches: Sequence[Sketch]) -> None:
        ends = {
            point
            for sketch in sketches
            for members in sketch.classes
            for first, last in members[:_MAX_ENDS]
            for point in (first, last, first - 1, last + 1)
        }
        points = (point for point in ends if 0 <= point <= 0x10FFFF and point not in _SURROGATES)
        # Printable ASCII comes first: a witness is for people, too.
        self._points = sorted(points, key=lambda point: (not 32 <= point < 127, point))
        self._counts = sorted(
            {
                count + step
                for sketch in sketches
                for count in sketch.counts
                for step in (-1, 0, 1)
                if 0 <= count + step <= _MAX_LENGTH
            }
        )

    def ends(self, count: int) -> list[str]:
        """Return the first *count* characters at the ends of classes."""
        return [chr(point) for point in self._points[:count]]

    def spell(self, piece: Piece) -> str:
        """Return the plainest text of *piece*."""
        if not isinstance(piece, Choice):
            return _character(piece, 0)
        return self._spell_sequence(piece.alternatives[0])

    def _spell_sequence(self, sequence: Sequence[Repetition]) -> str:
        text = ""
        for repetition in sequence:
            text += self._spell_repetition(repetition)
            if len(text) > _MAX_LENGTH:
                break
        return text

    def _spell_repetition(self, repetition: Repetition) -> str:
        return self._repeat(self.spell(repetition.piece), _plain_count(repetition))

    @staticmethod
    def _repeat(text: str, count: int) -> str:
        """Return *count* times *text*, or a text that is too long."""
        return text * min(count, _MAX_LENGTH // max(len(text), 1) + 1)

    def vary(self, piece: Piece, depth: int = 0) -> Iterator[str]:
        """Yield other texts of *piece* than the plainest."""
        if not isinstance(piece, Choice):
            yield from islice(
                (chr(point) for point in self._points if _contains(piece, point)), _MAX_MEMBERS
            )
            return
        if depth > _MAX_DEPTH:
            return
        alternatives = piece.alternatives[:_MAX_ALTERNATIVES]
        yield from map(self._spell_sequence, alternatives[1:])
        yield from _alternate([self._vary_sequence(item, depth) for item in alternatives])

    def _vary_sequence(self, sequence: list[Repetition], depth: int) -> Iterator[str]:
        parts = [self._spell_repetition(repetition) for repetition in sequence]
        yield from _alternate(
            [
                self._surround(parts, index, self._vary_repetition(sequence[index], depth))
                for index in range(min(len(sequence), _MAX_PARTS))
            ]
        )

    @staticmethod
    def _surround(parts: Sequence[str], index: int, texts: Iterator[str]) -> Iterator[str]:
        before, after = "".join(parts[:index]), "".join(parts[index + 1 :])
        return (before + text + after for text in texts)

    def _vary_repetition(self, repetition: Repetition, depth: int) -> Iterator[str]:
        """Yield texts of *repetition*: other counts, then other texts of its piece."""
        plain, count = self.spell(repetition.piece), _plain_count(repetition)
        yield from (self._repeat(plain, number) for number in self._counts_of(repetition))
        for text in self.vary(repetition.piece, depth + 1):
            if count <= 1:
                yield text
            else:
                rest = self._repeat(plain, count - 1)
                yield from (rest + text, text + rest, self._repeat(text, count))
            if count <= 1 and (repetition.most is None or repetition.most > 1):
                yield from (plain + text, text + plain)

    def _counts_of(self, repetition: Repetition) -> list[int]:
        least, most = repetition.least, repetition.most
        edges = (
            {least, least + 1, least + 2} if most is None else {least, least + 1, most - 1, most}
        )
        counts = sorted(edges | {*self._counts})
        fitting = [
            count
            for count in counts
            if least <= count <= min(_MAX_LENGTH, _MAX_LENGTH if most is None else most)
        ]
        half = _MAX_COUNTS // 2
        return fitting if len(fitting) <= _MAX_COUNTS else [*fitting[:half], *fitting[-half:]]

    def vary_pairs(self, piece: Piece) -> Iterator[str]:
        """Yield texts of *piece* with two of its parts varied."""
        sequences = piece.alternatives[:4] if isinstance(piece, Choice) else []
        for sequence in sequences:
            parts = [self._spell_repetition(repetition) for repetition in sequence]
            indexes = [index for index, item in enumerate(sequence) if _is_variable(item)]
            indexes = indexes[:_MAX_PAIR_PARTS]
            texts = {
                index: list(islice(self._vary_repetition(sequence[index], 0), _MAX_PAIR_TEXTS))
                for index in indexes
            }
            for left in indexes:
                for right in indexes[indexes.index(left) + 1 :]:
                    for first in texts[left]:
                        for second in texts[right]:
                            varied = [*parts]
                            varied[left], varied[right] = first, second
                            yield "".join(varied)


def _plain_count(repetition: Repetition) -> int:
    count = max(repetition.least, 1)
    return count if repetition.most is None else min(count, repetition.most)


def _is_variable(repetition: Repetition) -> bool:
    """Return whether *repetition* has several texts."""
    members = repetition.piece
    is_single = not isinstance(members, Choice) and (
        not members or (len(members) == 1 and members[0][0] == members[0][1])
    )
    return not is_single or repetition.least != repetition.most


def _contains(members: Ranges, point: int) -> bool:
    return any(first <= point <= last for first, last in members)
