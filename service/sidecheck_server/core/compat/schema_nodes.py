"""Subschemas as a comparison walks over them: references followed, with their places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sidecheck_server.core.compat.keyword_changes import ABSENT, are_equal
from sidecheck_server.core.compiler.admission import AdmittedSchema
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.references import REFERENCES, Subschema
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = ["SILENT_KEYWORDS", "SchemaNode", "SchemaTree", "as_step"]

SILENT_KEYWORDS = frozenset(
    {"$ref", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"}
    | {"$defs", "definitions", "$comment", "$recursiveRef", "$dynamicRef"}
)
"""Keywords that are not compared: references are followed, and names assert nothing."""

_LONGEST_CHAIN = 64


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """A subschema with the keywords of the references that it consists of."""

    #: Its keywords; of ``false`` those of ``not: {}``.
    keywords: Mapping[str, Any]
    #: JSON Pointer of each keyword's subschema in the definition, by keyword, if it is another
    #: than `location`.
    places: Mapping[str, tuple[str, str]]
    #: JSON Pointer into the definition.
    location: str
    #: The path of evaluation to it, as in `Violation.keyword_location`.
    path: str
    dialect: Dialect
    #: What two nodes of one schema differ by, while the schema is alive.
    identity: int
    never: bool = False
    #: A schema that applies beside the keywords, because both have some of the same.
    beside: JsonValue = None

    def location_of(self, keyword: str) -> str:
        """Return the JSON Pointer of *keyword*."""
        return f"{self.places.get(keyword, (self.location, ''))[0]}/{_step(keyword)}"

    def path_of(self, keyword: str) -> str:
        """Return the path of evaluation of *keyword*."""
        return f"{self.places.get(keyword, ('', self.path))[1]}/{_step(keyword)}"

    def location_with(self, keyword: str, steps: str) -> str | None:
        """Return the JSON Pointer of *steps* below *keyword*; None if it lacks the keyword."""
        if not keyword:
            return self.location
        return self.location_of(keyword) + steps if keyword in self.keywords else None

    def subschema(self, keyword: str) -> Any:
        """Return the value of *keyword* if it may be, or have, a subschema; else `ABSENT`."""
        value = self.keywords.get(keyword, ABSENT) if self.in_force(keyword) else ABSENT
        return value if isinstance(value, dict | bool | list) else ABSENT

    def map(self, keyword: str) -> Mapping[str, Any]:
        """Return the object that is the value of *keyword*, or an empty one."""
        value = self.keywords.get(keyword) if self.in_force(keyword) else None
        return value if isinstance(value, dict) else {}

    def list(self, keyword: str) -> Sequence[Any]:
        """Return the array that is the value of *keyword*, or an empty one."""
        value = self.keywords.get(keyword) if self.in_force(keyword) else None
        return value if isinstance(value, list) else ()

    def in_force(self, keyword: str) -> bool:
        """Return whether *keyword* is a keyword of its dialect."""
        return keyword in self.dialect.keywords


class SchemaTree:
    """The subschemas of one schema of a definition."""

    def __init__(self, admitted: AdmittedSchema, location: str) -> None:
        self._admitted = admitted
        self._location = location
        self._schema = admitted.context.schema

    @property
    def root(self) -> SchemaNode:
        """The schema itself."""
        return self.node(self._schema, self._location, "", self._admitted.context.dialect)

    @cached_property
    def _locations(self) -> dict[int, str]:
        """The JSON Pointers of all objects in the schema, by their identities."""
        locations: dict[int, str] = {}
        pending: list[tuple[JsonValue, str]] = [(self._schema, self._location)]
        while pending:
            value, pointer = pending.pop()
            if isinstance(value, dict):
                locations[id(value)] = pointer
                pending += [(item, f"{pointer}/{_step(key)}") for key, item in value.items()]
            elif isinstance(value, list):
                pending += [(item, f"{pointer}/{index}") for index, item in enumerate(value)]
        return locations

    def child(self, parent: SchemaNode, keyword: str, *steps: str | int) -> SchemaNode:
        """Return the subschema at *keyword* of *parent*, and *steps* further down."""
        value = parent.keywords[keyword]
        for step in steps:
            value = value[step]
        rest = as_pointer(steps)
        return self.node(
            value,
            parent.location_of(keyword) + rest,
            parent.path_of(keyword) + rest,
            parent.dialect,
        )

    def beside(self, node: SchemaNode) -> SchemaNode:
        """Return what *node* refers to, which applies beside its keywords."""
        location = self._locations.get(id(node.beside), f"{node.location}/$ref")
        return self.node(node.beside, location, f"{node.path}/$ref", node.dialect)

    def node(self, value: JsonValue, location: str, path: str, parent: Dialect) -> SchemaNode:
        """Return the node of the subschema *value*, with its references followed."""
        if not isinstance(value, dict):
            return SchemaNode({}, {}, location, path, parent, id(value), never=value is False)
        keywords: dict[str, Any] = {}
        places: dict[str, tuple[str, str]] = {}
        start = location, path
        identity = id(value)
        dialect = parent
        for _ in range(_LONGEST_CHAIN):
            subschema = self._reached(value)
            dialect = parent if subschema is None else subschema.dialect
            hides = "$ref" in value and dialect.reference_hides_siblings
            for name, item in value.items():
                if name == "$ref" or (hides and name in dialect.keywords):
                    continue
                if name not in keywords:
                    keywords[name] = item
                    if (location, path) != start:
                        places[name] = location, path
            keyword, target = self._reference(value)
            if target is None:
                break
            if not isinstance(target, dict):
                never = target is False
                return SchemaNode(keywords, places, *start, dialect, identity, never=never)
            if any(
                name in target and name in dialect.keywords and not are_equal(item, target[name])
                for name, item in keywords.items()
            ):
                return SchemaNode(keywords, places, *start, dialect, identity, beside=target)
            path += f"/{keyword}"
            location = self._locations.get(id(target), f"{location}/{keyword}")
            value = target
        return SchemaNode(keywords, places, *start, dialect, identity)

    def _reached(self, value: JsonValue) -> Subschema | None:
        survey = self._admitted.survey
        return None if survey is None else survey.reached.get(id(value))

    def _reference(self, value: dict[str, JsonValue]) -> tuple[str, JsonValue]:
        """Return the first keyword of *value* that leads to one target, and that; or None."""
        references = {} if self._admitted.survey is None else self._admitted.survey.references
        for keyword in REFERENCES:
            reference = references.get((id(value), keyword))
            if reference is not None and reference.static:
                return keyword, reference.target
        return "", None


def as_step(key: str) -> str:
    """Return *key* as a step of a JSON Pointer, with its slash."""
    return "/" + _step(key)


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
