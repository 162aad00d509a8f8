"""Sample payloads at the edges of a schema, near its differences from another.

The generator walks both schemas side by side. Its payloads are guesses: only evaluation
decides whether a schema admits a payload. It is deterministic and bounded, so the same
schemas always get the same payloads.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.compat.pattern_samples import PatternSampler, pattern_texts
from sidecheck_server.core.compat.sample_places import (
    MAX_VALUES,
    Differences,
    Place,
    Sampler,
    SubschemaChoices,
    count_item_positions,
    edges_of,
    is_unique,
    names_of,
    schemas_of_item,
    schemas_of_property,
)
from sidecheck_server.core.compat.scalar_samples import TYPES, scalar_values, types_of
from sidecheck_server.core.json_values import canonical_json
from sidecheck_server.core.limits import Budget, Exhausted, spend
from sidecheck_server.core.types import JsonValue

__all__ = ["sample_payloads"]

_PLACE = 400
"""Steps per location in a payload."""

_MAX_DEPTH = 12
_MAX_PROPERTIES = 60

_UNDECLARED = "undeclared"


def sample_payloads(
    admitting: NormalForm, other: NormalForm, budget: Budget
) -> Iterator[JsonValue]:
    """Yield distinct payloads that *admitting* may admit and *other* may reject.

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
        self._choices = SubschemaChoices(admitting, budget)
        self._other_choices = SubschemaChoices(other, budget)
        self.differ = Differences(admitting, other).differ
        self._budget = budget
        self._texts = PatternSampler(budget)

    def values(
        self, schemas: Sequence[Any], others: Sequence[Any], depth: int
    ) -> Iterator[JsonValue]:
        """Yield values for a location to which *schemas* apply; plain ones come first.

        *others* are the schemas of the other form for the same location.
        """
        spend(self._budget, _PLACE)
        hints = self._other_choices.flatten(others)
        if not hints and not any(isinstance(schema, dict) and schema for schema in schemas):
            if False not in schemas:
                yield from _PLAIN_VALUES
            return
        alternatives = [
            self._sample_alternative(nodes, hints, depth)
            for nodes in self._choices.alternatives(schemas)
        ]
        # The first of each alternative, then the second of each, and so on.
        for group in zip_longest(*alternatives, fillvalue=_FILLER):
            yield from (value for value in group if value is not _FILLER)

    def _sample_alternative(
        self, nodes: list[dict[str, Any]], hints: list[dict[str, Any]], depth: int
    ) -> Iterator[Any]:
        value_lists = [node["enum"] for node in nodes if "enum" in node]
        value_lists += [[node["const"]] for node in nodes if "const" in node]
        if value_lists:
            # The first value comes first, then values that the other schema does not list.
            values = min(value_lists, key=len)
            known = {canonical_json(value) for node in hints for value in node.get("enum", ())}
            yield from islice(values, 1)
            yield from (value for value in values if canonical_json(value) not in known)
            yield from values
            return
        kinds = [kind for kind in TYPES if kind in types_of(nodes)]
        # Constrained types come first, then types that the other schema allows.
        expected = types_of(hints)
        kinds.sort(key=lambda kind: (not _is_constrained(nodes, kind), kind not in expected))
        makers = [self._sample_type(kind, nodes, hints, depth) for kind in kinds]
        if kinds and _is_constrained(nodes, kinds[0]):
            yield from islice(makers[0], MAX_VALUES // 3)
        for group in zip_longest(*makers, fillvalue=_FILLER):
            yield from (value for value in group if value is not _FILLER)

    def _sample_type(
        self, kind: str, nodes: list[dict[str, Any]], hints: list[dict[str, Any]], depth: int
    ) -> Iterator[Any]:
        if not nodes and kind in ("object", "array") and kind not in types_of(hints[:1]):
            return iter(({} if kind == "object" else [],))
        if kind == "object":
            return self._sample_objects(nodes, hints, depth) if depth <= _MAX_DEPTH else iter(({},))
        if kind == "array":
            place = Place(nodes, hints, depth)
            return _sample_arrays(self, place) if depth <= _MAX_DEPTH else iter(([],))
        return scalar_values(kind, nodes, hints, self._texts)

    def _sample_objects(
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
        names = list(dict.fromkeys([*differing, *required, *declared]))[:_MAX_PROPERTIES]
        makers: dict[str, Iterator[Any]] = {
            name: islice(
                self.values(
                    schemas_of_property(nodes, name), schemas_of_property(hints, name), depth + 1
                ),
                MAX_VALUES,
            )
            for name in dict.fromkeys([*names, *required])
        }
        base = {name: next(makers[name], None) for name in required}
        self._add_required(base, nodes, makers)
        yield dict(base)
        least = max(
            (int(node["minProperties"]) for node in nodes if "minProperties" in node), default=0
        )
        for name in islice(declared, max(0, min(least, _MAX_PROPERTIES) - len(base))):
            base.setdefault(name, next(makers[name], None))
        for count in sorted(edges_of((*nodes, *hints), _COUNTS_OF_PROPERTIES)):
            more = min(max(0, count - len(base)), _MAX_PROPERTIES)
            yield {**base, **{f"{_UNDECLARED}{number}": 1 for number in range(more)}}
        makers |= self._sample_undeclared(nodes, hints, depth)
        # Vary one property at a time, in turns, beginning with those whose schemas differ.
        rounds = chain.from_iterable(
            zip_longest(
                *(
                    _pair_with_name(name, maker)
                    for name, maker in makers.items()
                    if (name in differing) is is_differing
                ),
                fillvalue=_FILLER,
            )
            for is_differing in (True, False)
        )
        full = dict(base)
        for group in rounds:
            for pair in group:
                if pair is _FILLER:
                    continue
                name, value = pair
                full.setdefault(name, value) if name in declared else None
                variant = {**base, name: value}
                self._add_required(variant, nodes, {})
                yield variant
        yield full
        for name in required:
            yield {key: value for key, value in full.items() if key != name}

    def _add_required(
        self, value: dict[str, Any], nodes: list[dict[str, Any]], makers: dict[str, Iterator[Any]]
    ) -> None:
        """Add the properties that properties of *value* require."""
        for node in nodes:
            for name, requirements in node.get("dependentRequired", {}).items():
                if name in value:
                    for other in requirements:
                        if other not in value:
                            schemas = schemas_of_property(nodes, other)
                            samples = makers.get(other) or self.values(schemas, (), _MAX_DEPTH)
                            value[other] = next(samples, None)

    def _sample_undeclared(
        self, nodes: list[dict[str, Any]], hints: list[dict[str, Any]], depth: int
    ) -> dict[str, Iterator[Any]]:
        """Return values for properties that *nodes* do not declare, by name."""
        own, others = (_name_patterns(side) for side in (nodes, hints))
        from_patterns = [
            text
            for pattern in (*own, *others)
            for text in (
                pattern_texts(pattern)[:2]
                if own == others
                else self._texts.sample((pattern,), (*own, *others))[:4]
            )
        ][:16]
        named = [node["propertyNames"] for node in nodes if "propertyNames" in node]
        if named:
            restrictions = [node["propertyNames"] for node in hints if "propertyNames" in node]
            names = islice(self.values(named, restrictions, depth + 1), MAX_VALUES)
            from_patterns += [name for name in names if isinstance(name, str)]
        # A pattern without an end anchor matches longer names, too.
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


def _name_patterns(nodes: list[dict[str, Any]]) -> list[str]:
    """Return the first patterns of names of properties."""
    return [*names_of(nodes, "patternProperties")][:4]


_PLAIN_VALUES: tuple[JsonValue, ...] = ("a", 1, True, None, {}, [], 0.5)
_FILLER: Any = object()


def _pair_with_name(name: str, values: Iterator[Any]) -> Iterator[tuple[str, Any]]:
    return ((name, value) for value in values)


def _is_constrained(nodes: list[dict[str, Any]], kind: str) -> bool:
    return kind == "object" and any(not _CONSTRAINTS.isdisjoint(node) for node in nodes)


_CONSTRAINTS = frozenset({"properties", "required", "patternProperties", "propertyNames"})


_COUNTS_OF_PROPERTIES = ("minProperties", "maxProperties")


_MAX_ITEMS = 20
_COUNTS_OF_ITEMS = ("minItems", "maxItems", "minContains", "maxContains")
_ARRAY_KEYWORDS = (*_COUNTS_OF_ITEMS, "contains", "uniqueItems", "prefixItems")


def _sample_arrays(sampler: Sampler, place: Place) -> Iterator[list[Any]]:
    """Yield arrays for *place*, with values of *sampler* as items."""
    nodes, hints = place.nodes, place.hints
    least = int(max((node["minItems"] for node in nodes if "minItems" in node), default=0))
    if least > _MAX_ITEMS:
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
                MAX_VALUES,
            )
        )
        for index in range(max(least, len(contained), 1))
    ]
    firsts = [values[0] if values else None for values in items]
    base = _replace_duplicates(firsts, items) if is_unique(nodes) else firsts
    if least == 0 and not contained:
        yield []
    yield list(base)
    if any(node.get("uniqueItems") for node in hints):
        yield [base[0], base[0]]
    pool = [value for values in items for value in values] or [None]
    edges = sorted(edges_of((*nodes, *hints), _COUNTS_OF_ITEMS) | {2})
    item_variants = (
        [*base[:index], value, *base[index + 1 :]]
        for index, values in enumerate(items)
        for value in values
    )
    length_variants = (
        [pool[index % len(pool)] for index in range(length)]
        for length in edges
        if least <= length <= _MAX_ITEMS
    )
    longer_arrays = _sample_longer(sampler, place, base, pool[0])
    if _only_items_differ(sampler, place, len(items)):
        # Differences deep inside the items are then among the first samples.
        yield from item_variants
    # Alternate between the kinds, since enclosing values use only the first samples.
    variations = zip_longest(item_variants, length_variants, longer_arrays, fillvalue=_FILLER)
    for group in variations:
        yield from (value for value in group if value is not _FILLER)


def _only_items_differ(sampler: Sampler, place: Place, count: int) -> bool:
    """Return whether schemas differ in the first *count* items, but not in lengths."""
    numbers = [
        {(name, str(node[name])) for node in side for name in _ARRAY_KEYWORDS if name in node}
        for side in (place.nodes, place.hints)
    ]
    return numbers[0] == numbers[1] and any(
        sampler.differ(schemas_of_item(place.nodes, index), schemas_of_item(place.hints, index))
        for index in range(count)
    )


def _sample_longer(
    sampler: Sampler, place: Place, base: list[Any], filler: Any
) -> Iterator[list[Any]]:
    """Yield arrays longer than *base*, up to the last item with its own schema."""
    nodes, hints = place.nodes, place.hints
    for index in range(len(base), min(count_item_positions((*nodes, *hints)), _MAX_ITEMS)):
        samples = sampler.values(
            schemas_of_item(nodes, index), schemas_of_item(hints, index), place.depth + 1
        )
        for value in islice(samples, MAX_VALUES):
            yield [*base, *[filler] * (index - len(base)), value]


def _replace_duplicates(firsts: list[Any], items: list[list[Any]]) -> list[Any]:
    """Return *firsts* with duplicates replaced by other values of *items*."""
    used: set[bytes] = set()
    distinct = []
    for first, values in zip(firsts, items, strict=True):
        fresh = (value for value in values if canonical_json(value) not in used)
        value = next(fresh, first)
        used.add(canonical_json(value))
        distinct.append(value)
    return distinct
