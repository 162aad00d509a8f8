"""Strings, numbers, booleans and null at the edges of schemas."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from sidecheck_server.core.compat.pattern_samples import PatternSampler
from sidecheck_server.core.json_values import has_type, is_number
from sidecheck_server.core.types import Draft

__all__ = ["TYPES", "scalar_values", "types_of"]

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
    kind: str, nodes: list[dict[str, Any]], hints: list[dict[str, Any]], sampler: PatternSampler
) -> Iterator[Any]:
    """Yield values of the type *kind* for *nodes*, with *hints* of the other form.

    Raises:
        Exhausted: the budget of *sampler* is spent.
    """
    if kind == "boolean":
        return iter((True, False))
    if kind == "null":
        return iter((None,))
    constants = _constants(kind, hints)
    if kind == "string":
        return chain(_strings(nodes, hints, sampler), constants)
    return chain(_numbers(kind, nodes, hints), constants)


def _constants(kind: str, hints: list[dict[str, Any]]) -> Iterator[Any]:
    for node in hints:
        for value in (*node.get("enum", ()), *([node["const"]] if "const" in node else ())):
            if has_type(value, kind, Draft.DRAFT_2020_12):
                yield value


def _strings(
    nodes: list[dict[str, Any]], hints: list[dict[str, Any]], sampler: PatternSampler
) -> Iterator[str]:
    least = int(max(_values(nodes, "minLength"), default=0))
    most = min(int(min(_values(nodes, "maxLength"), default=_DEFAULT_MAX_TEXT)), _MAX_TEXT)
    if least > _MAX_TEXT:
        return
    patterns = tuple(node["pattern"] for node in nodes if "pattern" in node)
    excluded = [node["not"] for node in nodes if isinstance(node.get("not"), dict)]
    other_patterns = tuple(node["pattern"] for node in (*hints, *excluded) if "pattern" in node)
    own = (int(value) for name in _LENGTHS for value in _values(nodes, name))
    edges = {*own, *(int(value) for name in _LENGTHS for value in _values(hints, name))}
    lengths = sorted({edge + step for edge in edges for step in (-1, 0, 1)})
    lengths = [length for length in lengths if least <= length <= most]
    if patterns:
        texts = sampler.sample(patterns, other_patterns)
        fitting = [text for text in texts if least <= len(text) <= most] or list(texts)
        yield from fitting[:_FIRST_TEXTS]
        for length in lengths:
            # A pattern that ends in a repetition often admits more of the last character.
            yield from (_stretch(text, length) for text in texts[:2])
        yield from fitting[_FIRST_TEXTS:]
        return
    fitting = [text for text in _TEXTS if least <= len(text) <= most]
    plain = fitting[:1] or [_stretch(_PLAIN, least)]
    plain += [_stretch(_PLAIN, length) for length in lengths]
    texts = tuple(dict.fromkeys((*plain, *fitting)))
    yield from sampler.sample((), other_patterns, texts) if other_patterns else texts


_FIRST_TEXTS = 6
"""Number of texts of a pattern that precede texts of other lengths."""
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
