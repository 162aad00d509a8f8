"""How large a schema is, and whether it comes back to itself."""

from collections.abc import Iterator
from typing import Any

from preflight.places import leads_to, places, types_of
from preflight.subsets import Sizes, Subset

__all__ = ["beyond", "depth_of", "optional_and_unions", "recursion_faults"]


def beyond(root: Any, sizes: Sizes) -> Iterator[str]:
    """Yield which of *sizes* the schema *root* goes beyond."""
    properties = text = enum_values = 0
    for place in places(root):
        keywords = place.keywords()
        declared = keywords.get("properties", {})
        values = keywords.get("enum", [])
        constants = [*values, *([keywords["const"]] if "const" in keywords else [])]
        properties += len(declared)
        enum_values += len(values)
        text += sum(map(len, (*declared, *keywords.get("$defs", ()))))
        text += sum(len(value) for value in constants if isinstance(value, str))
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) > 250 and sum(map(len, texts)) > sizes.enum_text:
            yield f"an enum has more than {sizes.enum_text:,} characters"
    for what, found, most in (
        ("properties", properties, sizes.properties),
        ("characters of names and values", text, sizes.text),
        ("values of enums", enum_values, sizes.enum_values),
        ("levels", depth_of(root), sizes.depth),
    ):
        if found > most:
            yield f"{found:,} {what}, more than {most:,}"


def depth_of(root: Any) -> int:
    """Return how many objects and arrays are on the longest way down, each once on a way."""

    def deepest(schema: Any, way: tuple[int, ...]) -> int:
        if not isinstance(schema, dict) or id(schema) in way or len(way) > 200:
            return 0
        here = int(bool(types_of(schema) & {"object", "array"}))
        below = [value for each in _one_down(schema) for value in each]
        if isinstance(schema.get("$ref"), str):
            below.append(leads_to(root, schema["$ref"]))
        return here + max((deepest(each, (*way, id(schema))) for each in below), default=0)

    return deepest(root, ())


def _one_down(schema: dict[str, Any]) -> Iterator[list[Any]]:
    for keyword in ("properties", "patternProperties"):
        yield list(schema.get(keyword, {}).values())
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        yield schema.get(keyword, [])
    yield [schema[name] for name in ("items", "additionalProperties") if name in schema]


def recursion_faults(root: Any, subset: Subset) -> Iterator[str]:
    """Yield where *root* comes back to itself though it may not."""
    if subset.recursion == "any":
        return
    seen: set[tuple[int, bool]] = set()

    def loops(schema: Any, way: tuple[int, ...], optional: tuple[bool, ...]) -> bool:
        """Return whether a loop is met that goes through no optional member."""
        if not isinstance(schema, dict):
            return False
        if id(schema) in way:
            passed = optional[way.index(id(schema)) :]
            return subset.recursion == "none" or not any(passed)
        if (id(schema), any(optional)) in seen:
            return False
        way = (*way, id(schema))
        required = schema.get("required", [])
        down = [(each, False) for group in _one_down(schema) for each in group]
        members = schema.get("properties", {})
        down = [pair for pair in down if not any(pair[0] is each for each in members.values())]
        down += [(each, name not in required) for name, each in members.items()]
        if isinstance(schema.get("$ref"), str):
            down.append((leads_to(root, schema["$ref"]), False))
        found = any(loops(each, way, (*optional, free)) for each, free in down)
        if not found:
            seen.add((id(schema), any(optional)))
        return found

    if loops(root, (), ()):
        yield "it comes back to itself"


def optional_and_unions(root: Any) -> tuple[int, int]:
    """Return how many members are optional, and how many have a union for a type."""
    optional = unions = 0
    for place in places(root):
        declared = place.keywords().get("properties", {})
        optional += len(declared.keys() - set(place.keywords().get("required", [])))
        unions += sum(
            "anyOf" in schema or isinstance(schema.get("type"), list)
            for schema in declared.values()
            if isinstance(schema, dict)
        )
    return optional, unions
