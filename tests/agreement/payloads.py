"""Generates payloads that a schema probably accepts.

It gathers the subschemas that apply to a location, with one branch of each choice, and makes
a value that satisfies most of them. The value may be invalid; the engines decide that.
"""

import copy
import operator
import re
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from agreement.values import INTEGERS, NAMES, NUMBERS, PATTERNS, STRINGS, any_value

__all__ = ["PayloadMaker"]

_ABOUT = {
    "object": {"properties", "required", "minProperties", "maxProperties", "patternProperties"}
    | {"additionalProperties", "propertyNames", "unevaluatedProperties", "dependentRequired"}
    | {"dependencies", "dependentSchemas"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}
    | {"unevaluatedItems"},
    "string": {"minLength", "maxLength", "pattern"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}
_BREAKS = {
    "minimum": operator.lt,
    "maximum": operator.gt,
    "exclusiveMinimum": operator.le,
    "exclusiveMaximum": operator.ge,
}
_DEEPEST = 10
_LARGEST = 60


class PayloadMaker:
    """Makes payloads for the schemas of one document."""

    def __init__(
        self,
        random: Random,
        follow: Callable[[dict[str, Any]], Any],
        *,
        names: tuple[str, ...] = NAMES[:12],
        hides_siblings: bool = False,
    ) -> None:
        self.random = random
        self.follow = follow
        self.names = names
        self.hides_siblings = hides_siblings
        self._left = 0

    def make(self, *schemas: Any, depth: int = 0) -> Any:
        """Return a value that all *schemas* probably accept."""
        self._left = _LARGEST if depth == 0 else self._left - 1
        if depth > _DEEPEST + 3 or self._left < 0:
            return None
        applicable = self._gather(schemas)
        choices = [values for values in map(_listed, _values(applicable, "enum")) if values]
        choices += [[value] for value in _values(applicable, "const")]
        if choices:
            return copy.deepcopy(self.random.choice(min(choices, key=len)))
        kind = self._kind(applicable)
        if kind == "object":
            return self._object(applicable, depth)
        if kind == "array":
            return self._array(applicable, depth)
        if kind == "string":
            return self._string(applicable)
        if kind in ("integer", "number"):
            return self._number(applicable, kind)
        return {"null": None, "boolean": self.random.random() < 0.5}.get(
            kind, any_value(self.random, self.names, depth)
        )

    def _gather(self, schemas: Iterable[Any]) -> list[dict[str, Any]]:
        """Return *schemas* and the subschemas that apply to the same location."""
        gathered: list[dict[str, Any]] = []
        pending = list(schemas)
        visited: set[int] = set()
        while pending and len(visited) < 30:
            schema = pending.pop()
            if not isinstance(schema, dict) or id(schema) in visited:
                continue
            visited.add(id(schema))
            references = [name for name in _REFERENCES if name in schema]
            if references:
                pending.append(self.follow(schema))
                if self.hides_siblings:
                    continue
            gathered.append(schema)
            pending += _listed(schema.get("allOf"))
            for choice in ("anyOf", "oneOf"):
                if branches := _listed(schema.get(choice)):
                    pending.append(self.random.choice(branches))
            if "if" in schema:
                is_chosen = self.random.random() < 0.5
                pending += [schema["if"], schema.get("then")] if is_chosen else [schema.get("else")]
        return gathered

    def _kind(self, applicable: list[dict[str, Any]]) -> str:
        allowed = set(_KINDS)
        for schema in applicable:
            types = schema.get("type", _KINDS)
            named = {types} if isinstance(types, str) else set(types)
            named |= {"integer"} if "number" in named else set()
            allowed = allowed & named or named
        keywords = {name for keyword_group in applicable for name in keyword_group}
        implied_kinds = [
            kind for kind, about in _ABOUT.items() if about & keywords and kind in allowed
        ]
        if implied_kinds and self.random.random() < 0.85:
            return self.random.choice(implied_kinds)
        return self.random.choice(sorted(allowed))

    def _number(self, applicable: list[dict[str, Any]], kind: str) -> Any:
        edges = [v for n in _ABOUT["number"] for v in _values(applicable, n) if _is_number(v)]
        near = [edge + step for edge in edges if abs(edge) < 2**53 for step in (-1, 0, 1)]
        divisors = [v for v in _values(applicable, "multipleOf") if _is_number(v)]
        near += [divisor * n for divisor in divisors for n in (0, 1, 3, 10)]
        candidates = [*near, *edges, *INTEGERS[:6]]
        is_integer = kind == "integer"
        candidates += INTEGERS if is_integer else NUMBERS
        if is_integer:
            candidates = [v for v in candidates if isinstance(v, int) or v.is_integer()]
        fitting = [v for v in candidates if all(_within(v, schema) for schema in applicable)]
        return self.random.choice(fitting or candidates)

    def _string(self, applicable: list[dict[str, Any]]) -> str:
        patterns = [str(v) for v in _values(applicable, "pattern")]
        matching = [text for pattern in patterns for text in PATTERNS.get(pattern, ())]
        pool = [t for t in matching if all(_matches(p, t) for p in patterns)] or matching
        text = self.random.choice(pool or STRINGS)
        min_length = int(max(_numbers(applicable, "minLength"), default=0))
        max_length = int(min(_numbers(applicable, "maxLength"), default=1000))
        return (text + "a" * max(min_length - len(text), 0))[:max_length]

    def _array(self, applicable: list[dict[str, Any]], depth: int) -> list[Any]:
        min_items = int(max(_numbers(applicable, "minItems"), default=0))
        max_items = int(min(_numbers(applicable, "maxItems"), default=min_items + 3))
        contained = _values(applicable, "contains")
        expected = self.random.randint(min_items, max(min_items, min(max_items, min_items + 3)))
        expected = max(expected, min(len(contained), max_items))
        count = expected if depth < _DEEPEST else min_items
        items = [
            self.make(*self._schemas_of_item(applicable, index), depth=depth + 1)
            for index in range(min(count, 20))
        ]
        for schema in contained:
            for _ in range(int(max(_numbers(applicable, "minContains"), default=1))):
                if items:
                    position = self.random.randrange(len(items))
                    there = self._schemas_of_item(applicable, position)
                    items[position] = self.make(schema, *there, depth=depth + 1)
        return items

    def _schemas_of_item(self, applicable: list[dict[str, Any]], index: int) -> list[Any]:
        schemas = []
        for schema in applicable:
            items = schema.get("items")
            first = schema.get("prefixItems", items if isinstance(items, list) else [])
            rest = schema.get("additionalItems") if isinstance(items, list) else items
            schemas.append(first[index] if index < len(first) else rest)
            schemas.append(schema.get("unevaluatedItems"))
        return schemas

    def _object(self, applicable: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        required = [name for names in _values(applicable, "required") for name in _listed(names)]
        declared = [
            n for properties in _values(applicable, "properties") for n in _keys(properties)
        ]
        chosen = dict.fromkeys(required)
        if depth < _DEEPEST:
            chosen |= {name: None for name in declared if self.random.random() < 0.6}
            chosen |= dict.fromkeys(self._other_names(applicable))
        for _ in range(2):
            for keyword in ("dependentRequired", "dependencies"):
                for properties in _values(applicable, keyword):
                    for name in _keys(properties):
                        if name in chosen:
                            chosen |= dict.fromkeys(_listed(properties[name]))
        joining = [
            properties[name]
            for keyword in ("dependentSchemas", "dependencies")
            for properties in _values(applicable, keyword)
            for name in _keys(properties)
            if name in chosen and isinstance(properties[name], dict)
        ]
        if joining and depth < _DEEPEST:
            applicable = [*applicable, *self._gather(joining)]
        max_properties = int(min(_numbers(applicable, "maxProperties"), default=30))
        return {
            name: self.make(*self._schemas_of_member(applicable, name), depth=depth + 1)
            for name in list(chosen)[:max_properties]
        }

    def _other_names(self, applicable: list[dict[str, Any]]) -> list[str]:
        closed = any(
            schema.get(keyword) is False
            for schema in applicable
            for keyword in ("additionalProperties", "unevaluatedProperties")
        )
        min_properties = int(max(_numbers(applicable, "minProperties"), default=0))
        named = _values(applicable, "propertyNames")
        count = self.random.choice((0, 0, 0, 1)) if closed else self.random.choice((0, 0, 1, 2))
        candidates = [self.random.choice(self.names) for _ in range(max(count, min_properties))]
        if named:
            generated = [self.make(*named, {"type": "string"}, depth=_DEEPEST) for _ in candidates]
            candidates = [name if isinstance(name, str) else "" for name in generated]
        for members in _values(applicable, "patternProperties"):
            for pattern in _keys(members):
                if self.random.random() < 0.5:
                    candidates.append(self.random.choice(PATTERNS.get(pattern, ("a",))))
        return candidates

    def _schemas_of_member(self, applicable: list[dict[str, Any]], name: str) -> list[Any]:
        schemas: list[Any] = []
        for schema in applicable:
            properties, by_pattern = (
                schema[keyword] if isinstance(schema.get(keyword), dict) else {}
                for keyword in ("properties", "patternProperties")
            )
            matching = [properties[name]] if name in properties else []
            matching += [by_pattern[p] for p in by_pattern if _matches(p, name)]
            schemas += matching or [schema.get("additionalProperties")]
            schemas.append(schema.get("unevaluatedProperties"))
        return schemas


_KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _values(applicable: list[dict[str, Any]], keyword: str) -> list[Any]:
    return [schema[keyword] for schema in applicable if keyword in schema]


def _numbers(applicable: list[dict[str, Any]], keyword: str) -> list[float]:
    return [value for value in _values(applicable, keyword) if _is_number(value)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _within(value: float, schema: dict[str, Any]) -> bool:
    bounds = {name: schema[name] for name in _BREAKS if _is_number(schema.get(name))}
    return not any(_BREAKS[name](value, bound) for name, bound in bounds.items())


def _matches(pattern: str, text: str) -> bool:
    # `re` differs from ECMA-262; an approximation suffices.
    try:
        return re.search(pattern.replace("\\p{L}", "[^\\W\\d_]"), text) is not None
    except re.error:
        return False
