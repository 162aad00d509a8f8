"""Rules for a subschema, which yield faults."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from preflight.places import Place, resolve, types_of
from preflight.subsets import Subset

__all__ = ["RULES"]


def _keywords(place: Place, subset: Subset, _: Any) -> Iterator[str]:
    if subset.keywords is not None:
        for keyword in sorted(place.keywords().keys() - subset.keywords):
            yield f"{keyword!r} is not supported"


def _booleans(place: Place, subset: Subset, _: Any) -> Iterator[str]:
    # A boolean is allowed for additionalProperties even where it is not a schema.
    if not isinstance(place.schema, dict) and place.under != "additionalProperties":
        if not isinstance(place.schema, bool):
            yield "is not a schema"
        elif not subset.booleans:
            yield "is true or false"


def _types(place: Place, subset: Subset, _: Any) -> Iterator[str]:
    types = place.keywords().get("type")
    if isinstance(types, list) and not subset.type_lists:
        yield "has several types"
    if subset.capitals and isinstance(types, str) and types != types.upper():
        yield f"the type {types!r} is not in capitals"
    typing = place.keywords().keys() & {"type", "anyOf", "enum", "const", "$ref"}
    if subset.typed and isinstance(place.schema, dict) and not typing:
        yield "has no type"


def _arrays(place: Place, subset: Subset, _: Any) -> Iterator[str]:
    keywords = place.keywords()
    if subset.items and "array" in types_of(keywords) and "items" not in keywords:
        yield "array schema missing items"
    min_items = keywords.get("minItems")
    if subset.min_items is not None and min_items is not None and min_items not in subset.min_items:
        yield f"minItems is {min_items}"


def _property_names(place: Place, subset: Subset, _: Any) -> Iterator[str]:
    keywords = place.keywords()
    declared = keywords.get("properties", {})
    names = [*declared, *keywords.get("required", [])]
    if subset.property_names is not None:
        for name in dict.fromkeys(names):
            if not subset.property_names.fullmatch(name):
                yield f"the name {name!r} is not {subset.property_names.pattern}"
    if subset.required_declared:
        for name in sorted(set(keywords.get("required", [])) - declared.keys()):
            yield f"{name!r} is required and not declared"


def _objects(place: Place, subset: Subset, _: Any) -> Iterator[str]:
    keywords = place.keywords()
    if "object" not in types_of(keywords):
        if subset.capitals and keywords.keys() & {"required", "properties"}:
            yield "has properties and is not an object"
        return
    if subset.closed and keywords.get("additionalProperties") is not False:
        yield "is not closed"
    optional = keywords.get("properties", {}).keys() - set(keywords.get("required", []))
    if subset.all_required and optional:
        yield f"{sorted(optional)} are not required"
    may_be_empty = subset.empty_objects or (subset.empty_root and not place.pointer)
    if not may_be_empty and not keywords.get("properties"):
        yield "properties should be non-empty for OBJECT type"


def _enums(place: Place, subset: Subset, _: Any) -> Iterator[str]:
    keywords = place.keywords()
    values = keywords.get("enum")
    if subset.texts_in_enum and values is not None:
        if not values or not all(isinstance(value, str) and value for value in values):
            yield "enum has what is not a text, or empty"
        if types_of(keywords) != {"string"}:
            yield "enum only allowed for STRING type"


def _choices(place: Place, subset: Subset, root: Any) -> Iterator[str]:
    keywords = place.keywords()
    siblings = keywords.keys() - {"anyOf"}
    if subset.lone_any_of and "anyOf" in keywords and siblings:
        yield f"{sorted(siblings)} beside any_of"
    if subset.first_keys_differ:
        first_properties = [_first_property(branch, root) for branch in keywords.get("anyOf", [])]
        keys = [first for first in first_properties if first]
        if len(keys) != len(set(keys)):
            yield "objects in anyOf share identical first keys"


def _first_property(branch: Any, root: Any) -> str:
    """Return the first property of *branch*, with its value if it can have only one."""
    if isinstance(branch, dict) and isinstance(branch.get("$ref"), str):
        branch = resolve(root, branch["$ref"])
    declared = branch.get("properties") if isinstance(branch, dict) else None
    if not declared:
        return ""
    name, schema = next(iter(declared.items()))
    values = schema.get("enum", [schema["const"]] if "const" in schema else "")
    return f"{name}:{values}"


def _formats(place: Place, subset: Subset, _: Any) -> Iterator[str]:
    name = place.keywords().get("format")
    if subset.formats is not None and name is not None and name not in subset.formats:
        yield f"{name!r} is not a valid format"


def _patterns(place: Place, subset: Subset, _: Any) -> Iterator[str]:
    keywords = place.keywords()
    patterns = [*keywords.get("patternProperties", {})]
    patterns += [keywords["pattern"]] if "pattern" in keywords else []
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error:
            yield f"{pattern!r} is not a 'regex'"
        if subset.regular_patterns and re.search(r"\(\?(?:[=!]|<[=!])|\\[1-9]|\(\?P=", pattern):
            yield f"{pattern!r} looks around or back"


def _references(place: Place, subset: Subset, root: Any) -> Iterator[str]:
    keywords = place.keywords()
    if "$ref" not in keywords:
        return
    if subset.references == "none":
        yield "$ref is not supported"
    siblings = {name for name in keywords if name != "$ref" and not name.startswith("$")}
    if subset.references == "alone" and siblings:
        yield f"$ref cannot have keywords {sorted(siblings)}"
    try:
        resolve(root, keywords["$ref"])
    except (LookupError, AttributeError):
        yield f"{keywords['$ref']!r} is unresolved"


RULES: tuple[Callable[[Place, Subset, Any], Iterator[str]], ...] = (
    *(_keywords, _booleans, _types, _arrays, _property_names, _objects, _enums, _choices),
    *(_formats, _patterns, _references),
)
