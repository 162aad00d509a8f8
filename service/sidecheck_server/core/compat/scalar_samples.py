"""Strings, numbers, booleans and null at the edges of schemas.

Texts for a pattern follow its plain parts only: look-around, back-references and boundaries
are ignored, so a text may not match.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

from sidecheck_server.core.json_values import has_type, is_number
from sidecheck_server.core.patterns.codepoints import Ranges
from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.groups import LOOK_AROUND, Group, GroupKind, Quantifier
from sidecheck_server.core.patterns.reading import Assertion, PatternReader
from sidecheck_server.core.types import Draft

__all__ = ["TYPES", "pattern_texts", "scalar_values", "types_of"]

TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
"""The types of JSON Schema, in the order in which values are tried."""

_MAX_TEXT = 1 << 20
"""Maximum characters of a text."""
_DEFAULT_MAX_TEXT = 10_000
"""Maximum characters of a text without ``maxLength``."""
_PLAIN = "abcdefghijklmnopqrstuvwxyz"
_TEXTS = ("a", "text", "", "A1", "-", "0", "é", "a b", "2020-01-01")


def types_of(nodes: Iterable[dict[str, Any]]) -> frozenset[str]:
    """Return the types that all *nodes* allow."""
    allowed = frozenset(TYPES)
    for node in nodes:
        types = node.get("type", TYPES)
        named = {types} if isinstance(types, str) else set(types)
        allowed &= named | ({"integer"} if "number" in named else set())
    return allowed


def scalar_values(
    kind: str, nodes: list[dict[str, Any]], hints: list[dict[str, Any]]
) -> Iterator[Any]:
    """Yield values of the type *kind* for *nodes*, with *hints* of the other form."""
    if kind == "boolean":
        return iter((True, False))
    if kind == "null":
        return iter((None,))
    constants = _constants(kind, hints)
    if kind == "string":
        return chain(_strings(nodes, hints), constants)
    return chain(_numbers(kind, nodes, hints), constants)


def _constants(kind: str, hints: list[dict[str, Any]]) -> Iterator[Any]:
    for node in hints:
        for value in (*node.get("enum", ()), *([node["const"]] if "const" in node else ())):
            if has_type(value, kind, Draft.DRAFT_2020_12):
                yield value


def _strings(nodes: list[dict[str, Any]], hints: list[dict[str, Any]]) -> Iterator[str]:
    least = int(max(_values(nodes, "minLength"), default=0))
    most = min(int(min(_values(nodes, "maxLength"), default=_DEFAULT_MAX_TEXT)), _MAX_TEXT)
    if least > _MAX_TEXT:
        return
    patterns = [node["pattern"] for node in nodes if "pattern" in node]
    excluded = [node["not"] for node in nodes if isinstance(node.get("not"), dict)]
    other_patterns = [node["pattern"] for node in (*hints, *excluded) if "pattern" in node]
    texts = list(dict.fromkeys(text for pattern in patterns for text in pattern_texts(pattern)))
    own = (int(value) for name in _LENGTHS for value in _values(nodes, name))
    edges = {*own, *(int(value) for name in _LENGTHS for value in _values(hints, name))}
    lengths = sorted({edge + step for edge in edges for step in (-1, 0, 1)})
    if texts:
        yield from texts
        for length in lengths:
            if least <= length <= most:
                # A pattern that ends in a repetition often admits more of the last character.
                yield from (_stretch(text, length) for text in texts[:2])
        return
    fitting = [text for text in _TEXTS if least <= len(text) <= most]
    yield from fitting[:1] or [_stretch(_PLAIN, least)]
    for length in lengths:
        if least <= length <= most:
            yield _stretch(_PLAIN, length)
    yield from fitting[1:]
    for pattern in other_patterns:
        yield from pattern_texts(pattern)


_LENGTHS = ("minLength", "maxLength")


def _stretch(text: str, length: int) -> str:
    if length <= len(text):
        return text[:length]
    return text + (text[-1:] or "a") * (length - len(text))


def _numbers(
    kind: str, nodes: list[dict[str, Any]], hints: list[dict[str, Any]]
) -> Iterator[float]:
    own = [value for name in _BOUNDS for value in _values(nodes, name)]
    others = [value for name in _BOUNDS for value in _values(hints, name)]
    steps = [*_values(nodes, "multipleOf")]
    edges = [*own, *others]
    # Integers are numbers, too, so fractions come first here.
    fractions: list[float] = []
    if kind == "number":
        fractions = [0.5, 1.5, *(edge + 0.5 for edge in edges if abs(edge) < _MAX_EXACT), -0.5]
    near: list[float] = [*fractions, 1, 0, *steps, *edges, *_values(hints, "multipleOf")]
    # Sums and quotients of larger numbers are inexact, or overflow.
    edges = [edge for edge in edges if abs(edge) < _MAX_EXACT]
    steps = [step for step in steps if 1 / _MAX_EXACT < step < _MAX_EXACT]
    near += [edge + step for edge in edges for step in (1, -1)]
    near += [step * factor for step in steps for factor in (2, 3, -1, 10)]
    for step in steps:
        near += [edge // step * step + offset for edge in edges for offset in (0, step)]
    near += [10, -1, 100, 7, 1_000_000, -1_000_000]
    exact = kind == "integer"
    for value in dict.fromkeys(near):
        if exact and isinstance(value, float):
            if not value.is_integer():
                continue
            value = int(value)  # noqa: PLW2901  (the same number)
        if all(_is_within_bounds(value, node) for node in nodes):
            yield value


_MAX_EXACT = 2**50
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def _is_within_bounds(value: float, node: dict[str, Any]) -> bool:
    bounds = {name: node[name] for name in _BOUNDS if is_number(node.get(name))}
    return (
        value >= bounds.get("minimum", value)
        and value <= bounds.get("maximum", value)
        and ("exclusiveMinimum" not in bounds or value > bounds["exclusiveMinimum"])
        and ("exclusiveMaximum" not in bounds or value < bounds["exclusiveMaximum"])
    )


def _values(nodes: Iterable[dict[str, Any]], keyword: str) -> list[Any]:
    return [node[keyword] for node in nodes if is_number(node.get(keyword))]


_VARIANTS = 6
_MAX_MATCH = 200


@dataclass(slots=True)
class _Repetition:
    """Piece of a pattern, with its minimum and maximum count; None is no maximum."""

    piece: "_Piece"
    least: int = 1
    most: int | None = 1


@dataclass(slots=True)
class _Choice:
    """The alternatives of a group, each a sequence."""

    alternatives: list[list[_Repetition]] = field(default_factory=lambda: [[]])


_Piece: TypeAlias = Ranges | _Choice


@lru_cache(maxsize=512)
def pattern_texts(pattern: str) -> tuple[str, ...]:
    """Return a few distinct texts that *pattern* may match."""
    reader = _Sketch(pattern)
    try:
        reader.read()
    except PatternError:
        return ()
    texts = (_spell(reader.choices[0], variant) for variant in range(_VARIANTS))
    return tuple(dict.fromkeys(text[:_MAX_MATCH] for text in texts))


class _Sketch(PatternReader):
    """Reader of the plain parts of a pattern."""

    def __init__(self, source: str) -> None:
        super().__init__(source, max_repetitions=10_000)
        self.choices = [_Choice()]

    def _add(self, piece: _Piece) -> None:
        self.choices[-1].alternatives[-1].append(_Repetition(piece))

    def add_characters(self, members: Ranges) -> None:
        self._add(members)

    def add_assertion(self, assertion: Assertion) -> None:
        """Ignore the assertion."""

    def add_reference(self, start: int, target: str) -> None:  # noqa: ARG002  (overrides)
        self._add(())

    def add_quantifier(self, quantifier: Quantifier) -> None:
        last = self.choices[-1].alternatives[-1][-1]
        last.least, last.most = quantifier.least, quantifier.most

    def add_alternative(self) -> None:
        self.choices[-1].alternatives.append([])

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        self.choices.append(_Choice())
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:
        choice = self.choices.pop()
        self._add(() if group.kind in LOOK_AROUND else choice)


def _spell(piece: _Piece, variant: int) -> str:
    if not isinstance(piece, _Choice):
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
