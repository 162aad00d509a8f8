"""Subschemas that apply to a location of a payload, and to locations below it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.json_values import canonical_json
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.pattern import Pattern, compile_pattern

__all__ = [
    "MAX_VALUES",
    "Differences",
    "Place",
    "Sampler",
    "SubschemaChoices",
    "count_item_positions",
    "edges_of",
    "is_unique",
    "names_of",
    "schemas_of_item",
    "schemas_of_property",
]

MAX_VALUES = 12
"""Maximum number of values at one location."""


@dataclass(frozen=True, slots=True)
class Place:
    """Location in a payload, with the subschemas that apply to it."""

    nodes: list[dict[str, Any]]
    #: Subschemas of the other form.
    hints: list[dict[str, Any]]
    depth: int


class Sampler(Protocol):
    """Source of values for the locations below a value."""

    def values(self, schemas: Sequence[Any], others: Sequence[Any], depth: int) -> Iterator[Any]:
        """Yield values for a location of *schemas*; *others* are of the other form."""

    def differ(self, schemas: Sequence[Any], others: Sequence[Any]) -> bool:
        """Return whether *schemas* and *others*, for one location, may differ."""


def names_of(nodes: list[dict[str, Any]], keyword: str) -> dict[str, None]:
    """Return the names that *nodes* list or define by *keyword*."""
    return dict.fromkeys(name for node in nodes for name in node.get(keyword) or ())


def schemas_of_property(nodes: list[dict[str, Any]], name: str) -> list[Any]:
    """Return the schemas that *nodes* have for the property *name*."""
    schemas: list[Any] = []
    is_declared = False
    for node in nodes:
        own = [node["properties"][name]] if name in node.get("properties", ()) else []
        own += [
            schema
            for pattern, schema in node.get("patternProperties", {}).items()
            if _matches(pattern, name)
        ]
        is_declared |= bool(own)
        others = [node["additionalProperties"]] if "additionalProperties" in node else []
        schemas += own or others
    if not is_declared:
        schemas += [
            node["unevaluatedProperties"] for node in nodes if "unevaluatedProperties" in node
        ]
    return schemas


def _matches(pattern: str, name: str) -> bool:
    compiled = _compile(pattern)
    return compiled is not None and compiled.search(name)


@lru_cache(maxsize=512)
def _compile(pattern: str) -> Pattern | None:
    try:
        return compile_pattern(pattern)
    except PatternError:
        return None


def schemas_of_item(nodes: list[dict[str, Any]], index: int) -> list[Any]:
    """Return the schemas that *nodes* have for the item at *index*."""
    schemas: list[Any] = []
    for node in nodes:
        items = node.get("items")
        prefix = items if isinstance(items, list) else node.get("prefixItems", [])
        rest = node.get("additionalItems") if isinstance(items, list) else items
        if index < len(prefix):
            schemas.append(prefix[index])
        elif rest is not None:
            schemas.append(rest)
    return schemas


def count_item_positions(nodes: Iterable[dict[str, Any]]) -> int:
    """Return the number of items with their own schemas, plus one."""
    prefixes = (
        node["items"] if isinstance(node.get("items"), list) else node.get("prefixItems", [])
        for node in nodes
    )
    return max((len(prefix) + 1 for prefix in prefixes if prefix), default=0)


def edges_of(nodes: Iterable[dict[str, Any]], keywords: Sequence[str]) -> set[int]:
    """Return the numbers at and around the bounds by *keywords*."""
    edges = {int(node[name]) for node in nodes for name in keywords if name in node}
    return {edge + step for edge in edges for step in (-1, 0, 1)}


def is_unique(nodes: list[dict[str, Any]]) -> bool:
    """Return whether one of *nodes* requires unique items."""
    return any(node.get("uniqueItems") for node in nodes)


_SUBSCHEMA = 100
"""Steps per subschema."""
_MAX_REFERENCES = 8
_MAX_SUBSCHEMAS = 60
_MAX_BRANCHES = 12


class SubschemaChoices:
    """The subschemas of one form, with its references followed."""

    def __init__(self, form: NormalForm, budget: Budget) -> None:
        self._definitions = _definitions(form)
        self._budget = budget

    def flatten(self, schemas: Iterable[Any]) -> list[dict[str, Any]]:
        """Return *schemas* and all subschemas that may apply to the same location."""
        nodes: list[dict[str, Any]] = []
        pending, seen = list(schemas), set[int]()
        while pending and len(nodes) < _MAX_SUBSCHEMAS:
            schema = self._follow(pending.pop(0))
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            nodes.append(schema)
            for keyword in ("allOf", "anyOf", "oneOf"):
                pending += schema.get(keyword, ())
            pending += [schema[name] for name in ("if", "then", "else", "not") if name in schema]
            pending += schema.get("dependentSchemas", {}).values()
        return nodes

    def alternatives(self, schemas: Sequence[Any]) -> Iterator[list[dict[str, Any]]]:
        """Yield the subschemas that apply with *schemas*, for each choice of branches."""
        choices = 1
        for choice in range(_MAX_BRANCHES):
            if choice >= choices:
                return
            nodes, count = self._choose_branches(schemas, choice)
            choices = max(choices, count)
            if nodes is not None:
                yield nodes

    def _choose_branches(
        self, schemas: Sequence[Any], choice: int
    ) -> tuple[list[dict[str, Any]] | None, int]:
        """Return the subschemas for *choice*, and the maximum number of choices."""
        nodes: list[dict[str, Any]] = []
        choices = 1
        pending, seen = list(schemas), set[int]()
        while pending:
            schema = self._follow(pending.pop(0))
            if schema is False:
                return None, choices
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            spend(self._budget, _SUBSCHEMA)
            seen.add(id(schema))
            nodes.append(schema)
            pending += schema.get("allOf", ())
            for keyword in ("anyOf", "oneOf"):
                branches = schema.get(keyword)
                if branches:
                    choices = max(choices, len(branches))
                    pending.append(branches[choice % len(branches)])
            if "if" in schema:
                choices = max(choices, 2)
                if choice % 2 == 0:
                    pending += [schema["if"], schema.get("then")]
                else:
                    pending.append(schema.get("else"))
        return nodes, choices

    def _follow(self, schema: Any) -> Any:
        """Return *schema* with its reference replaced by the target."""
        for _ in range(_MAX_REFERENCES):
            if not isinstance(schema, dict) or "$ref" not in schema:
                return schema
            target = self._definitions.get(schema["$ref"])
            # The library adds keywords of its own to the difference of two schemas.
            rest = {name: value for name, value in schema.items() if name[0] != "$"}
            if rest:
                return {**rest, "allOf": [target, *rest.get("allOf", ())]}
            schema = target
        return schema


class Differences:
    """Comparison of locations in two forms; samples vary differing ones first."""

    def __init__(self, form: NormalForm, other: NormalForm) -> None:
        self._same_definitions = _definitions(form) == _definitions(other)
        #: Whether each subschema, by its identity, refers to a definition.
        self._has_references: dict[int, bool] = {}

    def differ(self, schemas: Sequence[Any], others: Sequence[Any]) -> bool:
        """Return whether *schemas* and *others*, for one location, may differ."""
        return any(
            schema not in side or (not self._same_definitions and self._has_reference(schema))
            for schemas_of, side in ((schemas, others), (others, schemas))
            for schema in schemas_of
        )

    def _has_reference(self, schema: Any) -> bool:
        key = id(schema)
        if key not in self._has_references:
            self._has_references[key] = b'"$ref"' in canonical_json(schema)
        return self._has_references[key]


def _definitions(form: NormalForm) -> dict[str, Any]:
    if not isinstance(form.schema, dict):
        return {}
    root: dict[str, Any] = form.schema
    return {
        f"#/{keyword}/{name}": schema
        for keyword in ("$defs", "definitions")
        for name, schema in root.get(keyword, {}).items()
    }
