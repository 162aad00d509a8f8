"""Size and recursion of a schema."""

from collections.abc import Iterator
from typing import Any

from preflight.places import places, resolve, types_of
from preflight.subsets import Sizes, Subset

__all__ = ["depth_of", "excess", "optional_and_unions", "recursion_faults"]


def excess(root: Any, sizes: Sizes) -> Iterator[str]:
    """Yield the *sizes* that the schema *root* exceeds."""
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
    for noun, actual, maximum in (
        ("properties", properties, sizes.properties),
        ("characters of names and values", text, sizes.text),
        ("values of enums", enum_values, sizes.enum_values),
        ("levels", depth_of(root), sizes.depth),
    ):
        if actual > maximum:
            yield f"{actual:,} {noun}, more than {maximum:,}"


def depth_of(root: Any) -> int:
    """Return the number of objects and arrays on the longest path down without repetition."""

    def deepest(schema: Any, path: tuple[int, ...]) -> int:
        if not isinstance(schema, dict) or id(schema) in path or len(path) > 200:
            return 0
        own_level = int(bool(types_of(schema) & {"object", "array"}))
        children = [value for child in _children(schema) for value in child]
        if isinstance(schema.get("$ref"), str):
            children.append(resolve(root, schema["$ref"]))
        return own_level + max(
            (deepest(child, (*path, id(schema))) for child in children), default=0
        )

    return deepest(root, ())


def _children(schema: dict[str, Any]) -> Iterator[list[Any]]:
    for keyword in ("properties", "patternProperties"):
        yield list(schema.get(keyword, {}).values())
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        yield schema.get(keyword, [])
    yield [schema[name] for name in ("items", "additionalProperties") if name in schema]


def recursion_faults(root: Any, subset: Subset) -> Iterator[str]:
    """Yield a fault if *root* has a recursion that is not supported."""
    if subset.recursion == "any":
        return
    visited: set[tuple[int, bool]] = set()

    def loops(schema: Any, path: tuple[int, ...], optional: tuple[bool, ...]) -> bool:
        """Return whether there is a cycle without an optional property."""
        if not isinstance(schema, dict):
            return False
        if id(schema) in path:
            cycle = optional[path.index(id(schema)) :]
            return subset.recursion == "none" or not any(cycle)
        if (id(schema), any(optional)) in visited:
            return False
        path = (*path, id(schema))
        required = schema.get("required", [])
        edges = [(child, False) for group in _children(schema) for child in group]
        properties_below = schema.get("properties", {})
        edges = [
            pair
            for pair in edges
            if not any(pair[0] is child for child in properties_below.values())
        ]
        edges += [(child, name not in required) for name, child in properties_below.items()]
        if isinstance(schema.get("$ref"), str):
            edges.append((resolve(root, schema["$ref"]), False))
        is_cyclic = any(
            loops(child, path, (*optional, is_optional)) for child, is_optional in edges
        )
        if not is_cyclic:
            visited.add((id(schema), any(optional)))
        return is_cyclic

    if loops(root, (), ()):
        yield "it is recursive"


def optional_and_unions(root: Any) -> tuple[int, int]:
    """Return the numbers of optional properties and of properties with a union type."""
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
