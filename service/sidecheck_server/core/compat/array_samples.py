"""Arrays at the edges of schemas."""

from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any

from sidecheck_server.core.compat.sample_places import (
    MOST_VALUES,
    Place,
    Sampler,
    edges_of,
    is_unique,
    positions_of_items,
    schemas_of_item,
)
from sidecheck_server.core.json_values import canonical_json

__all__ = ["sample_arrays"]

_MOST_ITEMS = 20
_COUNTS_OF_ITEMS = ("minItems", "maxItems", "minContains", "maxContains")
_ABOUT_ITEMS = (*_COUNTS_OF_ITEMS, "contains", "uniqueItems", "prefixItems")
_NOTHING: Any = object()


def sample_arrays(sampler: Sampler, place: Place) -> Iterator[list[Any]]:
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
