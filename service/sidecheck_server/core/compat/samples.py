"""Payloads at the edges of a schema, aimed at where another schema differs.

The generator walks both schemas side by side. Everything that it makes is a guess: only
the evaluation of a payload says whether a schema admits it. It is deterministic and
bounded, so the same schemas always get the same payloads.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.compat.sample_places import (
    MOST_VALUES,
    Differences,
    Place,
    Sampler,
    SubschemaChoices,
    edges_of,
    is_unique,
    names_of,
    positions_of_items,
    schemas_of_item,
    schemas_of_property,
)
from sidecheck_server.core.compat.scalar_samples import (
    TYPES,
    pattern_texts,
    scalar_values,
    types_of,
)
from sidecheck_server.core.json_values import canonical_json
from sidecheck_server.core.limits import Budget, Exhausted, spend
from sidecheck_server.core.types import JsonValue

__all__ = ["sample_payloads"]

_PLACE = 400
"""Steps of a place in a payload."""

_DEEPEST = 12
_MOST_PROPERTIES = 60

_UNDECLARED = "undeclared"


def sample_payloads(
    admitting: NormalForm, other: NormalForm, budget: Budget
) -> Iterator[JsonValue]:
    """Yield distinct payloads that *admitting* may admit, some of which *other* may reject.

    It ends when *budget* is spent.
    """
    sampler = _Sampler(admitting, other, budget)
    seen: set[bytes] = set()
    try:
        for value in sampler.values([admitting.schema], [other.schema], 0):
            text = canonical_json(value)
            if text not in seen:
                seen.add(text)
                yield value
    except (Exhausted, UnicodeEncodeError):
        return


class _Sampler:
    def __init__(self, admitting: NormalForm, other: NormalForm, budget: Budget) -> None:
        self._own = SubschemaChoices(admitting, budget)
        self._others = SubschemaChoices(other, budget)
        self.differ = Differences(admitting, other).differ
        self._budget = budget

    def values(
        self, schemas: Sequence[Any], others: Sequence[Any], depth: int
    ) -> Iterator[JsonValue]:
        """Yield values for the place where *schemas* apply; plain ones come first.

        *others* are the schemas of the other side for the same place.
        """
        spend(self._budget, _PLACE)
        hints = self._others.flatten(others)
        if not hints and not any(isinstance(schema, dict) and schema for schema in schemas):
            if False not in schemas:
                yield from _ANYTHING
            return
        alternatives = [
            self._of_alternative(nodes, hints, depth) for nodes in self._own.alternatives(schemas)
        ]
        # The first of each alternative, then the second of each, and so on.
        for group in zip_longest(*alternatives, fillvalue=_NOTHING):
            yield from (value for value in group if value is not _NOTHING)

    def _of_alternative(
        self, nodes: list[dict[str, Any]], hints: list[dict[str, Any]], depth: int
    ) -> Iterator[Any]:
        listed = [node["enum"] for node in nodes if "enum" in node]
        listed += [[node["const"]] for node in nodes if "const" in node]
        if listed:
            # Those that the other side does not list come first, after a plain one.
            values = min(listed, key=len)
            known = {canonical_json(value) for node in hints for value in node.get("enum", ())}
            yield from islice(values, 1)
            yield from (value for value in values if canonical_json(value) not in known)
            yield from values
            return
        kinds = [kind for kind in TYPES if kind in types_of(nodes)]
        # What the other side allows and constrains comes first, what it forbids next.
        expected = types_of(hints)
        kinds.sort(key=lambda kind: (not _is_constrained(nodes, kind), kind not in expected))
        makers = [self._of_type(kind, nodes, hints, depth) for kind in kinds]
        if kinds and _is_constrained(nodes, kinds[0]):
            yield from islice(makers[0], MOST_VALUES // 3)
        for group in zip_longest(*makers, fillvalue=_NOTHING):
            yield from (value for value in group if value is not _NOTHING)

    def _of_type(
        self, kind: str, nodes: list[dict[str, Any]], hints: list[dict[str, Any]], depth: int
    ) -> Iterator[Any]:
        if not nodes and kind in ("object", "array") and kind not in types_of(hints[:1]):
            return iter(({} if kind == "object" else [],))
        if kind == "object":
            return self._objects(nodes, hints, depth) if depth <= _DEEPEST else iter(({},))
        if kind == "array":
            place = Place(nodes, hints, depth)
            return _sample_arrays(self, place) if depth <= _DEEPEST else iter(([],))
        return scalar_values(kind, nodes, hints)

    def _objects(
        self, nodes: list[dict[str, Any]], hints: list[dict[str, Any]], depth: int
    ) -> Iterator[dict[str, Any]]:
        required = names_of(nodes, "required")
        declared = dict.fromkeys(
            chain(names_of(nodes, "properties"), names_of(hints, "properties"))
        )
        differing = {
            name: None
            for name in (*required, *declared)
            if self.differ(schemas_of_property(nodes, name), schemas_of_property(hints, name))
        }
        names = list(dict.fromkeys([*differing, *required, *declared]))[:_MOST_PROPERTIES]
        makers: dict[str, Iterator[Any]] = {
            name: islice(
                self.values(
                    schemas_of_property(nodes, name), schemas_of_property(hints, name), depth + 1
                ),
                MOST_VALUES,
            )
            for name in dict.fromkeys([*names, *required])
        }
        base = {name: next(makers[name], None) for name in required}
        self._complete(base, nodes, makers)
        yield dict(base)
        least = max((int(n["minProperties"]) for n in nodes if "minProperties" in n), default=0)
        for name in islice(declared, max(0, min(least, _MOST_PROPERTIES) - len(base))):
            base.setdefault(name, next(makers[name], None))
        for count in sorted(edges_of((*nodes, *hints), _COUNTS_OF_PROPERTIES)):
            more = min(max(0, count - len(base)), _MOST_PROPERTIES)
            yield {**base, **{f"{_UNDECLARED}{number}": 1 for number in range(more)}}
        makers |= self._undeclared(nodes, hints, depth)
        # One property differs at a time, each in turn: first those whose schemas do.
        rounds = chain.from_iterable(
            zip_longest(
                *(
                    _named(name, maker)
                    for name, maker in makers.items()
                    if (name in differing) is first
                ),
                fillvalue=_NOTHING,
            )
            for first in (True, False)
        )
        full = dict(base)
        for group in rounds:
            for pair in group:
                if pair is _NOTHING:
                    continue
                name, value = pair
                full.setdefault(name, value) if name in declared else None
                changed = {**base, name: value}
                self._complete(changed, nodes, {})
                yield changed
        yield full
        for name in required:
            yield {key: value for key, value in full.items() if key != name}

    def _complete(
        self, value: dict[str, Any], nodes: list[dict[str, Any]], makers: dict[str, Iterator[Any]]
    ) -> None:
        """Add the properties that those of *value* require."""
        for node in nodes:
            for name, needed in node.get("dependentRequired", {}).items():
                if name in value:
                    for other in needed:
                        if other not in value:
                            schemas = schemas_of_property(nodes, other)
                            made = makers.get(other) or self.values(schemas, (), _DEEPEST)
                            value[other] = next(made, None)

    def _undeclared(
        self, nodes: list[dict[str, Any]], hints: list[dict[str, Any]], depth: int
    ) -> dict[str, Iterator[Any]]:
        """Return values for properties that *nodes* do not declare, by name."""
        from_patterns = [
            text
            for node in (*nodes, *hints)
            for pattern in islice(node.get("patternProperties", ()), 4)
            for text in pattern_texts(pattern)[:2]
        ][:8]
        # What has no end may go on.
        longer = [f"{text}a" for text in from_patterns[:4]]
        return {
            name: islice(
                self.values(
                    schemas_of_property(nodes, name), schemas_of_property(hints, name), depth + 1
                ),
                4,
            )
            for name in dict.fromkeys([*from_patterns, *longer, _UNDECLARED])
        }


_ANYTHING: tuple[JsonValue, ...] = ("a", 1, True, None, {}, [], 0.5)
_NOTHING: Any = object()


def _named(name: str, values: Iterator[Any]) -> Iterator[tuple[str, Any]]:
    return ((name, value) for value in values)


def _is_constrained(nodes: list[dict[str, Any]], kind: str) -> bool:
    return kind == "object" and any("properties" in node or "required" in node for node in nodes)


_COUNTS_OF_PROPERTIES = ("minProperties", "maxProperties")


_MOST_ITEMS = 20
_COUNTS_OF_ITEMS = ("minItems", "maxItems", "minContains", "maxContains")
_ABOUT_ITEMS = (*_COUNTS_OF_ITEMS, "contains", "uniqueItems", "prefixItems")


def _sample_arrays(sampler: Sampler, place: Place) -> Iterator[list[Any]]:
    """Yield arrays for *place*, by values of *sampler* for their items."""
    nodes, hints = place.nodes, place.hints
    least = int(max((n["minItems"] for n in nodes if "minItems" in n), default=0))
    if least > _MOST_ITEMS:
        return
    contained = [node["contains"] for node in nodes if "contains" in node]
    items = [
        list(
            islice(
                sampler.values(
                    [*schemas_of_item(nodes, index), *contained[index : index + 1]],
                    schemas_of_item(hints, index),
                    place.depth + 1,
                ),
                MOST_VALUES,
            )
        )
        for index in range(max(least, len(contained), 1))
    ]
    firsts = [values[0] if values else None for values in items]
    base = _distinct(firsts, items) if is_unique(nodes) else firsts
    if least == 0 and not contained:
        yield []
    yield list(base)
    if any(node.get("uniqueItems") for node in hints):
        yield [base[0], base[0]]
    pool = [value for values in items for value in values] or [None]
    edges = sorted(edges_of((*nodes, *hints), _COUNTS_OF_ITEMS) | {2})
    of_items = (
        [*base[:i], value, *base[i + 1 :]] for i, each in enumerate(items) for value in each
    )
    of_lengths = (
        [pool[index % len(pool)] for index in range(length)]
        for length in edges
        if least <= length <= _MOST_ITEMS
    )
    beyond = _beyond(sampler, place, base, pool[0])
    if _only_items_differ(sampler, place, len(items)):
        # Then deeper values are among the first ones.
        yield from of_items
    # Each kind of variation in turn, since only the first ones are tried in larger values.
    variations = zip_longest(of_items, of_lengths, beyond, fillvalue=_NOTHING)
    for group in variations:
        yield from (value for value in group if value is not _NOTHING)


def _only_items_differ(sampler: Sampler, place: Place, count: int) -> bool:
    """Return whether the sides differ in the first *count* items, and not in how many."""
    numbers = [
        {(name, str(node[name])) for node in side for name in _ABOUT_ITEMS if name in node}
        for side in (place.nodes, place.hints)
    ]
    return numbers[0] == numbers[1] and any(
        sampler.differ(schemas_of_item(place.nodes, index), schemas_of_item(place.hints, index))
        for index in range(count)
    )


def _beyond(sampler: Sampler, place: Place, base: list[Any], filler: Any) -> Iterator[list[Any]]:
    """Yield arrays that are longer than *base*, by items that have schemas of their own."""
    nodes, hints = place.nodes, place.hints
    for index in range(len(base), min(positions_of_items((*nodes, *hints)), _MOST_ITEMS)):
        made = sampler.values(
            schemas_of_item(nodes, index), schemas_of_item(hints, index), place.depth + 1
        )
        for value in islice(made, MOST_VALUES):
            yield [*base, *[filler] * (index - len(base)), value]


def _distinct(firsts: list[Any], items: list[list[Any]]) -> list[Any]:
    """Return *firsts* with other values of *items* where one occurs twice."""
    used: set[bytes] = set()
    distinct = []
    for first, values in zip(firsts, items, strict=True):
        fresh = (value for value in values if canonical_json(value) not in used)
        value = next(fresh, first)
        used.add(canonical_json(value))
        distinct.append(value)
    return distinct
