"""All subschemas of a schema, without data such as the value of ``default``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

__all__ = ["Place", "places", "resolve", "types_of"]

_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = (
    *("items", "additionalProperties", "contains", "not", "if", "then", "else"),
    *("propertyNames", "contentSchema", "unevaluatedItems", "unevaluatedProperties"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Subschema and its location."""

    #: Location, as a JSON Pointer from the root of the schema.
    pointer: str
    schema: Any
    #: The keyword that contains it; "" for the root.
    under: str

    def keywords(self) -> dict[str, Any]:
        """Return its keywords, or none if it is a boolean."""
        return self.schema if isinstance(self.schema, dict) else {}


def places(root: Any) -> Iterator[Place]:
    """Yield *root* and all its subschemas, in document order."""
    pending = [Place("", root, "")]
    while pending:
        place = pending.pop()
        yield place
        pending.extend(reversed(list(_below(place))))


def _below(place: Place) -> Iterator[Place]:
    for keyword, value in place.keywords().items():
        location = f"{place.pointer}/{_escaped(keyword)}"
        if keyword in _BY_NAME and isinstance(value, dict):
            for name, schema in value.items():
                yield Place(f"{location}/{_escaped(name)}", schema, keyword)
        elif keyword in _LISTS and isinstance(value, list):
            for index, schema in enumerate(value):
                yield Place(f"{location}/{index}", schema, keyword)
        elif keyword in _SINGLE:
            yield Place(location, value, keyword)


def resolve(root: Any, reference: str) -> Any:
    """Return the target of *reference* within *root*.

    Raises:
        LookupError: there is no target in *root*.
    """
    if not reference.startswith("#"):
        raise LookupError(reference)
    value = root
    for raw in unquote(reference[1:]).split("/")[1:]:
        step = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and re.fullmatch("[0-9]+", step):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[step]
        else:
            raise LookupError(reference)
    return value


def types_of(keywords: dict[str, Any]) -> set[str]:
    """Return the types in ``type``, in lower case."""
    types = keywords.get("type", [])
    named = types if isinstance(types, list) else [types]
    return {name.lower() for name in named if isinstance(name, str)}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
