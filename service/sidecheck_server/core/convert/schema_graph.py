"""Graph of schema nodes, the form in which conversion transforms a schema.

A schema is read into a graph of nodes, transformed to what a provider supports, and written
as JSON. Only subschemas are nodes, so no transform can mistake data, such as the value of
``default``, for a schema.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.schemas.keywords import APPLICATORS
from sidecheck_server.core.types import Draft, as_pointer

__all__ = [
    "ANNOTATIONS",
    "NODE_KEYWORDS",
    "UNCHANGED",
    "Encoding",
    "Entries",
    "SchemaNode",
    "collect_reachable",
    "copy_graph",
    "nodes_in",
    "property_names",
]


@dataclass(frozen=True, slots=True)
class Entries:
    """Layout of an object that is encoded as a list of its entries."""

    #: Property of an entry that contains the name.
    name: str = "name"
    #: Property of an entry that contains the value.
    value: str = "value"


@dataclass(frozen=True, slots=True)
class Encoding:
    """Reversible differences between payloads at a node and original payloads."""

    # Decision 0033: a form that a strict API lacks is encoded, and the mapping decodes it.

    #: Names at the provider of properties where null stands for an absent property.
    nulls: tuple[str, ...] = ()
    #: Original names of properties, by their names at the provider.
    renamed: Mapping[str, str] = field(default_factory=dict)
    #: Layout of the entries of an object that is encoded as a list; None for other values.
    entries: Entries | None = None
    #: Whether the value is a string that contains its JSON text.
    json_text: bool = False
    #: Name of the property under which an object wraps the value, or "".
    wrapped: str = ""


UNCHANGED = Encoding()
"""Encoding of every node with unchanged payloads; comparable by identity."""


@dataclass(slots=True, eq=False)
class SchemaNode:
    """Subschema, in the keywords of 2020-12.

    Where a keyword has subschemas, `keywords` has nodes: a node, a list of nodes, or a dict
    of nodes by name. The value of ``$ref`` is its target, so a graph may be cyclic; there are no
    ``$defs``, ``$id``, anchors or dynamic references. ``{}`` and ``true`` are a node without
    keywords, ``false`` is a node with `never` set.
    """

    # Decision 0031: a graph of nodes keeps subschemas and data apart.

    #: Path in the definition, for example ``("inputSchema", "properties", "a")``.
    path: tuple[str | int, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    #: Whether the node admits no value.
    never: bool = False
    #: Sentences that are appended to the author's description, in order.
    notes: list[str] = field(default_factory=list)
    #: Differences of payloads from original payloads.
    encoding: Encoding = UNCHANGED
    #: Name of the definition that the node represents, or "".
    name: str = ""

    @property
    def pointer(self) -> str:
        """Location in the definition, as a JSON Pointer."""
        return as_pointer(self.path)

    def children(self) -> list["SchemaNode"]:
        """Return the nodes directly below; the target of ``$ref`` is one of them."""
        children: list[SchemaNode] = []
        if NODE_KEYWORDS.isdisjoint(self.keywords):
            return children  # Most nodes are leaves.
        for keyword, value in self.keywords.items():
            if keyword in NODE_KEYWORDS:
                children += nodes_in(value)
        return children

    def children_by_keyword(self) -> Iterator[tuple[str, "SchemaNode"]]:
        """Yield the nodes directly below, each with its keyword; ``$ref`` is one of them."""
        for keyword, value in self.keywords.items():
            if keyword in NODE_KEYWORDS:
                for node in nodes_in(value):
                    yield keyword, node


NODE_KEYWORDS = APPLICATORS[Draft.DRAFT_2020_12].keys() | {"$ref"}
"""Keywords whose values are nodes, or lists or dicts of nodes."""


ANNOTATIONS: Mapping[str, type] = MappingProxyType(
    {
        "title": str,
        "description": str,
        "default": object,
        "examples": list,
        "deprecated": bool,
        "readOnly": bool,
        "writeOnly": bool,
        "format": str,
        "contentEncoding": str,
        "contentMediaType": str,
    }
)
"""The annotations of 2020-12, with the types that its meta-schema requires."""


def nodes_in(value: Any) -> Iterable[SchemaNode]:
    """Return the nodes in *value*: a node, or a list or dict of nodes."""
    if isinstance(value, SchemaNode):
        return (value,)
    return value.values() if isinstance(value, dict) else value


def collect_reachable(root: SchemaNode) -> list[SchemaNode]:
    """Return *root* and every node below it, without repetition, in document order."""
    nodes: dict[SchemaNode, None] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        if node not in nodes:
            nodes[node] = None
            pending.extend(reversed(node.children()))
    return list(nodes)


def copy_graph(root: SchemaNode) -> SchemaNode:
    """Return a copy of the graph at *root* that shares no node with it."""
    nodes = collect_reachable(root)
    copies = {
        node: SchemaNode(
            node.path, dict(node.keywords), node.never, list(node.notes), name=node.name
        )
        for node in nodes
    }
    for node in nodes:
        keywords = copies[node].keywords
        for keyword in NODE_KEYWORDS & keywords.keys():
            keywords[keyword] = _substitute(keywords[keyword], copies)
    return copies[root]


def _substitute(value: Any, copies: Mapping[SchemaNode, SchemaNode]) -> Any:
    if isinstance(value, SchemaNode):
        return copies[value]
    if isinstance(value, dict):
        return {name: copies[node] for name, node in value.items()}
    return [copies[node] for node in value]


def property_names(root: SchemaNode) -> list[str]:
    """Return the names of all declared or required properties, in the order of the schema."""
    names = (
        name
        for node in collect_reachable(root)
        for name in (*node.keywords.get("properties", ()), *node.keywords.get("required", ()))
    )
    return list(dict.fromkeys(names))
