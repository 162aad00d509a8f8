"""Union discriminators: first properties that tell the objects of a union apart."""

from itertools import islice
from typing import TypeAlias

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms.context import Rule, TransformContext
from sidecheck_server.core.convert.transforms.merging import canonical_text
from sidecheck_server.core.convert.transforms.traits import Traits
from sidecheck_server.core.convert.types import Action, Effect
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import spend

__all__ = ["ARRANGE", "CHECK"]

#: Name of a property, and the canonical text of its value if it can have only one, or "".
_Discriminator: TypeAlias = tuple[str, str]

_MAX_REFERENCES = 30
"""Number of references that are followed from one branch."""

_PROPERTY = 10
"""Steps of one property."""


def _arrange(node: SchemaNode, context: TransformContext) -> None:
    """Move to the front of each object of a union a property that is first in no other."""
    objects = _objects(node)
    if not _collide(objects):
        return
    taken: set[_Discriminator] = set()
    for branch in objects:
        properties: dict[str, SchemaNode] = branch.keywords["properties"]
        spend(context.log.budget, _PROPERTY * len(properties))
        # A property that can have only one value discriminates best.
        candidates = sorted(
            (_discriminator(name, schema) for name, schema in properties.items()),
            key=_has_no_value,
        )
        chosen = next((candidate for candidate in candidates if candidate not in taken), None)
        if chosen is None:
            continue
        taken.add(chosen)
        name = chosen[0]
        if next(iter(properties)) != name:
            branch.keywords["properties"] = {name: properties[name], **properties}
            message = f"the property {name!r} is moved first, to discriminate the union"
            log = context.log
            log.add(branch, "properties", Action.REWRITTEN, Effect.EQUIVALENT, message)


def _check(node: SchemaNode, _context: TransformContext) -> None:
    """Reject a union whose objects begin alike; another union may have rearranged them."""
    if _collide(_objects(node)):
        message = (
            "the provider supports no union of objects that begin with the same property, and "
            f"these have no property to tell them apart (at {node.pointer})"
        )
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, message, {"pointer": node.pointer[:256]})


def _objects(node: SchemaNode) -> list[SchemaNode]:
    """Return the branches of a union that declare properties."""
    targets = map(_resolve, node.keywords["anyOf"])
    return list({id(node): node for node in targets if node.keywords.get("properties")}.values())


def _resolve(node: SchemaNode) -> SchemaNode:
    for _ in range(_MAX_REFERENCES):
        if "$ref" not in node.keywords:
            break
        node = node.keywords["$ref"]
    return node


def _collide(objects: list[SchemaNode]) -> bool:
    first = [_discriminator(*next(iter(node.keywords["properties"].items()))) for node in objects]
    return len(set(first)) < len(first)


def _discriminator(name: str, schema: SchemaNode) -> _Discriminator:
    keywords = _resolve(schema).keywords
    values = [keywords["const"]] if "const" in keywords else keywords.get("enum", ())
    first_two = list(islice(values, 2))
    return (name, canonical_text(first_two[0]) if len(first_two) == 1 else "")


def _has_no_value(discriminator: _Discriminator) -> bool:
    return not discriminator[1]


def _may_discriminate(traits: Traits, subset: Subset) -> bool:
    return subset.distinct_first_properties and "anyOf" in traits


ARRANGE: tuple[Rule, ...] = (Rule(_arrange, _may_discriminate),)
CHECK: tuple[Rule, ...] = (Rule(_check, _may_discriminate),)
