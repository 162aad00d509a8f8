"""Finds payloads for a schema: towards what it accepts, whether or not it can be reached.

The subschemas that evaluate the same place are gathered, one branch of each choice among
them, and a value is made that obeys most of what they say. It is a guess, and no
evaluate: whether the payload is valid, the engines say.
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
        """Return a value towards what all of *schemas* accept."""
        self._left = _LARGEST if depth == 0 else self._left - 1
        if depth > _DEEPEST + 3 or self._left < 0:
            return None
        judging = self._gather(schemas)
        choices = [values for values in map(_listed, _values(judging, "enum")) if values]
        choices += [[value] for value in _values(judging, "const")]
        if choices:
            return copy.deepcopy(self.random.choice(min(choices, key=len)))
        kind = self._kind(judging)
        if kind == "object":
            return self._object(judging, depth)
        if kind == "array":
            return self._array(judging, depth)
        if kind == "string":
            return self._string(judging)
        if kind in ("integer", "number"):
            return self._number(judging, kind)
        return {"null": None, "boolean": self.random.random() < 0.5}.get(
            kind, any_value(self.random, self.names, depth)
        )

    def _gather(self, schemas: Iterable[Any]) -> list[dict[str, Any]]:
        """Return the subschemas that evaluate a place with *schemas*."""
        found: list[dict[str, Any]] = []
        pending = list(schemas)
        seen: set[int] = set()
        while pending and len(seen) < 30:
            schema = pending.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            references = [name for name in _REFERENCES if name in schema]
            if references:
                pending.append(self.follow(schema))
                if self.hides_siblings:
                    continue
            found.append(schema)
            pending += _listed(schema.get("allOf"))
            for choice in ("anyOf", "oneOf"):
                if branches := _listed(schema.get(choice)):
                    pending.append(self.random.choice(branches))
            if "if" in schema:
                taken = self.random.random() < 0.5
                pending += [schema["if"], schema.get("then")] if taken else [schema.get("else")]
        return found

    def _kind(self, judging: list[dict[str, Any]]) -> str:
        allowed = set(_KINDS)
        for each in judging:
            types = each.get("type", _KINDS)
            named = {types} if isinstance(types, str) else set(types)
            named |= {"integer"} if "number" in named else set()
            allowed = allowed & named or named
        keywords = {name for each in judging for name in each}
        told = [kind for kind, about in _ABOUT.items() if about & keywords and kind in allowed]
        if told and self.random.random() < 0.85:
            return self.random.choice(told)
        return self.random.choice(sorted(allowed))

    def _number(self, judging: list[dict[str, Any]], kind: str) -> Any:
        edges = [v for n in _ABOUT["number"] for v in _values(judging, n) if _is_number(v)]
        near = [edge + step for edge in edges if abs(edge) < 2**53 for step in (-1, 0, 1)]
        divisors = [v for v in _values(judging, "multipleOf") if _is_number(v)]
        near += [divisor * n for divisor in divisors for n in (0, 1, 3, 10)]
        candidates = [*near, *edges, *INTEGERS[:6]]
        whole = kind == "integer"
        candidates += INTEGERS if whole else NUMBERS
        if whole:
            candidates = [v for v in candidates if isinstance(v, int) or v.is_integer()]
        fitting = [v for v in candidates if all(_within(v, each) for each in judging)]
        return self.random.choice(fitting or candidates)

    def _string(self, judging: list[dict[str, Any]]) -> str:
        patterns = [str(v) for v in _values(judging, "pattern")]
        matching = [text for pattern in patterns for text in PATTERNS.get(pattern, ())]
        pool = [t for t in matching if all(_matches(p, t) for p in patterns)] or matching
        text = self.random.choice(pool or STRINGS)
        least = int(max(_numbers(judging, "minLength"), default=0))
        most = int(min(_numbers(judging, "maxLength"), default=1000))
        return (text + "a" * max(least - len(text), 0))[:most]

    def _array(self, judging: list[dict[str, Any]], depth: int) -> list[Any]:
        least = int(max(_numbers(judging, "minItems"), default=0))
        most = int(min(_numbers(judging, "maxItems"), default=least + 3))
        contained = _values(judging, "contains")
        expected = self.random.randint(least, max(least, min(most, least + 3)))
        expected = max(expected, min(len(contained), most))
        count = expected if depth < _DEEPEST else least
        items = [
            self.make(*self._schemas_of_item(judging, index), depth=depth + 1)
            for index in range(min(count, 20))
        ]
        for schema in contained:
            for _ in range(int(max(_numbers(judging, "minContains"), default=1))):
                if items:
                    position = self.random.randrange(len(items))
                    there = self._schemas_of_item(judging, position)
                    items[position] = self.make(schema, *there, depth=depth + 1)
        return items

    def _schemas_of_item(self, judging: list[dict[str, Any]], index: int) -> list[Any]:
        schemas = []
        for each in judging:
            items = each.get("items")
            first = each.get("prefixItems", items if isinstance(items, list) else [])
            rest = each.get("additionalItems") if isinstance(items, list) else items
            schemas.append(first[index] if index < len(first) else rest)
            schemas.append(each.get("unevaluatedItems"))
        return schemas

    def _object(self, judging: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        needed = [name for names in _values(judging, "required") for name in _listed(names)]
        declared = [n for members in _values(judging, "properties") for n in _keys(members)]
        chosen = dict.fromkeys(needed)
        if depth < _DEEPEST:
            chosen |= {name: None for name in declared if self.random.random() < 0.6}
            chosen |= dict.fromkeys(self._other_names(judging))
        for _ in range(2):
            for keyword in ("dependentRequired", "dependencies"):
                for members in _values(judging, keyword):
                    for name in _keys(members):
                        if name in chosen:
                            chosen |= dict.fromkeys(_listed(members[name]))
        joining = [
            members[name]
            for keyword in ("dependentSchemas", "dependencies")
            for members in _values(judging, keyword)
            for name in _keys(members)
            if name in chosen and isinstance(members[name], dict)
        ]
        if joining and depth < _DEEPEST:
            judging = [*judging, *self._gather(joining)]
        most = int(min(_numbers(judging, "maxProperties"), default=30))
        return {
            name: self.make(*self._schemas_of_member(judging, name), depth=depth + 1)
            for name in list(chosen)[:most]
        }

    def _other_names(self, judging: list[dict[str, Any]]) -> list[str]:
        closed = any(
            each.get(keyword) is False
            for each in judging
            for keyword in ("additionalProperties", "unevaluatedProperties")
        )
        least = int(max(_numbers(judging, "minProperties"), default=0))
        named = _values(judging, "propertyNames")
        count = self.random.choice((0, 0, 0, 1)) if closed else self.random.choice((0, 0, 1, 2))
        other = [self.random.choice(self.names) for _ in range(max(count, least))]
        if named:
            made = [self.make(*named, {"type": "string"}, depth=_DEEPEST) for _ in other]
            other = [name if isinstance(name, str) else "" for name in made]
        for members in _values(judging, "patternProperties"):
            for pattern in _keys(members):
                if self.random.random() < 0.5:
                    other.append(self.random.choice(PATTERNS.get(pattern, ("a",))))
        return other

    def _schemas_of_member(self, judging: list[dict[str, Any]], name: str) -> list[Any]:
        schemas: list[Any] = []
        for each in judging:
            members, by_pattern = (
                each[keyword] if isinstance(each.get(keyword), dict) else {}
                for keyword in ("properties", "patternProperties")
            )
            found = [members[name]] if name in members else []
            found += [by_pattern[p] for p in by_pattern if _matches(p, name)]
            schemas += found or [each.get("additionalProperties")]
            schemas.append(each.get("unevaluatedProperties"))
        return schemas


_KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _values(judging: list[dict[str, Any]], keyword: str) -> list[Any]:
    return [each[keyword] for each in judging if keyword in each]


def _numbers(judging: list[dict[str, Any]], keyword: str) -> list[float]:
    return [value for value in _values(judging, keyword) if _is_number(value)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _within(value: float, schema: dict[str, Any]) -> bool:
    bounds = {name: schema[name] for name in _BREAKS if _is_number(schema.get(name))}
    return not any(_BREAKS[name](value, bound) for name, bound in bounds.items())


def _matches(pattern: str, text: str) -> bool:
    # Not what ECMA-262 says in every case; a guess is enough.
    try:
        return re.search(pattern.replace("\\p{L}", "[^\\W\\d_]"), text) is not None
    except re.error:
        return False
