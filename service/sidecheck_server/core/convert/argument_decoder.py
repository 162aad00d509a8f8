"""Argument decoder: data that maps a model's arguments to the original schema.

A decoder is a JSON object that mirrors a schema, but only on the paths to locations whose
encoding is to be reversed. Its properties, all optional:

- ``nulls``: properties, by their names at the provider, that are removed if they are null;
- ``renamed``: original names of properties, by those at the provider;
- ``properties``: decoders of properties, by their names at the provider; ``values``: the
  decoder of all others;
- ``items``: the decoder of items; ``prefix``: instead, decoders, or null, of the first items;
- ``entries``: the array is an object, with an entry for each property, ``{"name", "value",
  "each"}``: the properties of an entry that have name and value, and the decoder of values;
- ``json_text``: the string contains the JSON text of the value;
- ``wrapped``: the value is the only property of an object, of that name; ``inner``: its
  decoder;
- ``any_of``: a union, a list of ``{"when", "as"}``: a test (see `branch_tests`) and a decoder;
- ``also``: a list of decoders of the same value;
- ``ref``: another decoder of the same value, by its name in ``defs`` of the top decoder.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from sidecheck_server.core.convert.branch_tests import BranchTestBuilder
from sidecheck_server.core.convert.schema_graph import UNCHANGED, SchemaNode, nodes_in
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import encode_json

__all__ = ["ArgumentDecoder", "build_decoder"]

ArgumentDecoder: TypeAlias = dict[str, Any]
"""A JSON object, as above."""

_MAX_DEPTH = 8
"""Maximum depth of nested decoders. Deeper ones are moved to ``defs``, since schemas may nest
deeper than mappings."""

_MAX_BYTES = Limits().schema_bytes // 2
"""Maximum bytes of a decoder: the mapping around it must stay within the limit of its reader."""

_MAX_OBJECTS = Limits().subschemas
"""Maximum number of objects in a decoder: as many decoders as a mapping may have."""

_UNIONS = ("anyOf", "oneOf")


def build_decoder(root: SchemaNode) -> ArgumentDecoder | None:
    """Return the decoder for payloads at *root*, or None if nothing was encoded.

    Raises:
        RequestError: NOT_CONVERTIBLE if it would be larger than a mapping may be.
    """
    decoded_nodes, shared_nodes = _find_nodes_with_decoders(root)
    if root not in decoded_nodes:
        return None
    decoder = _Builder(decoded_nodes, shared_nodes).build(root)
    text = encode_json(decoder)
    # Every decoder is an object, so there are no more decoders than objects.
    if len(text) > _MAX_BYTES or text.count(b"{") > _MAX_OBJECTS:
        message = (
            f"the mapping would be too large: its argument decoder has {text.count(b'{'):,} "
            f"objects and {len(text):,} bytes (limits {_MAX_OBJECTS:,} and {_MAX_BYTES:,})"
        )
        metadata = {"bound": "mapping", "limit": str(_MAX_BYTES)}
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, message, metadata)
    return decoder


def _find_nodes_with_decoders(root: SchemaNode) -> tuple[set[SchemaNode], set[SchemaNode]]:
    """Return the nodes that need a decoder, and those of them with several parents.

    A node needs a decoder if it, or a node that its decoder leads to, has an encoding.
    """
    parents: dict[SchemaNode, list[SchemaNode]] = {root: []}
    encoded: list[SchemaNode] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if node.encoding is not UNCHANGED:
            encoded.append(node)
        for child in _children(node):
            if child not in parents:
                parents[child] = []
                pending.append(child)
            parents[child].append(node)
    decoded_nodes = set(encoded)
    while encoded:
        additional = [node for node in parents[encoded.pop()] if node not in decoded_nodes]
        decoded_nodes.update(additional)
        encoded += additional
    shared_nodes = {node for node in decoded_nodes if len(parents[node]) + (node is root) > 1}
    return decoded_nodes, shared_nodes


_IN_PLACE = ("$ref", "allOf", *_UNIONS)
_BELOW = ("properties", "additionalProperties", "prefixItems", "items")


def _children(node: SchemaNode) -> Iterator[SchemaNode]:
    """Yield the nodes to which the decoder of *node* can lead."""
    for keyword in _IN_PLACE:
        if keyword in node.keywords:
            yield from nodes_in(node.keywords[keyword])
    if node.encoding.wrapped or node.encoding.entries is not None:
        yield from _encoded_value(node)
        return
    for keyword in _BELOW:
        if keyword in node.keywords:
            yield from nodes_in(node.keywords[keyword])


def _encoded_value(node: SchemaNode) -> Iterator[SchemaNode]:
    """Yield the node of the value that *node* wraps, or of the values of its entries."""
    encoding = node.encoding
    container = node
    name = encoding.wrapped
    if not name and encoding.entries is not None:
        container = node.keywords.get("items", node)
        name = encoding.entries.value
    value = container.keywords.get("properties", {}).get(name)
    if isinstance(value, SchemaNode):
        yield value


def _nodes_of(node: SchemaNode, keyword: str) -> list[SchemaNode]:
    value = node.keywords.get(keyword)
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, SchemaNode)]


class _Builder:
    """Builder of the decoders of one schema, one for each node."""

    def __init__(self, decoded_nodes: set[SchemaNode], shared_nodes: set[SchemaNode]) -> None:
        self._decoded_nodes = decoded_nodes
        self._shared_nodes = shared_nodes
        self._tests = BranchTestBuilder()
        self._names: dict[SchemaNode, str] = {}
        self._defs: dict[str, ArgumentDecoder] = {}
        #: Decoders that are still empty, each with its node and its depth.
        self._pending: list[tuple[SchemaNode, ArgumentDecoder, int]] = []

    def build(self, root: SchemaNode) -> ArgumentDecoder:
        """Return the decoder of *root*, which must need one."""
        top = self._decoder(root, 0)
        assert top is not None, "the root leads to an encoding"
        while self._pending:
            node, decoder, depth = self._pending.pop()
            self._fill(node, decoder, depth)
        return {**top, "defs": self._defs} if self._defs else top

    def _decoder(self, node: SchemaNode | None, depth: int) -> ArgumentDecoder | None:
        """Return the decoder of *node* at *depth*, or None if it needs none."""
        if node is None or node not in self._decoded_nodes:
            return None
        if node in self._shared_nodes or depth == _MAX_DEPTH:
            return {"ref": self._name(node)}
        decoder: ArgumentDecoder = {}
        self._pending.append((node, decoder, depth + 1))
        return decoder

    def _name(self, node: SchemaNode) -> str:
        """Return the name in ``defs`` of the decoder of *node*."""
        name = self._names.get(node)
        if name is None:
            name = self._names[node] = f"d{len(self._defs)}"
            self._defs[name] = {}
            self._pending.append((node, self._defs[name], 1))
        return name

    def _fill(self, node: SchemaNode, decoder: ArgumentDecoder, depth: int) -> None:
        encoding = node.encoding
        if encoding.nulls:
            decoder["nulls"] = list(encoding.nulls)
        if encoding.renamed:
            decoder["renamed"] = dict(encoding.renamed)
        if encoding.json_text:
            decoder["json_text"] = True
        if encoding.wrapped or encoding.entries is not None:
            self._fill_encoded(node, decoder, depth)
        else:
            self._fill_properties(node, decoder, depth)
            self._fill_items(node, decoder, depth)
        self._fill_in_place(node, decoder, depth)

    def _fill_encoded(self, node: SchemaNode, decoder: ArgumentDecoder, depth: int) -> None:
        inner = self._decoder(next(_encoded_value(node), None), depth)
        if node.encoding.wrapped:
            decoder["wrapped"] = node.encoding.wrapped
            if inner is not None:
                decoder["inner"] = inner
        elif (entries := node.encoding.entries) is not None:
            decoder["entries"] = {"name": entries.name, "value": entries.value}
            if inner is not None:
                decoder["entries"]["each"] = inner

    def _fill_properties(self, node: SchemaNode, decoder: ArgumentDecoder, depth: int) -> None:
        declared = node.keywords.get("properties", {})
        properties = {name: self._decoder(child, depth) for name, child in declared.items()}
        values = self._decoder_of_keyword(node, "additionalProperties", depth)
        if values is not None:
            decoder["values"] = values
            # `values` must not apply to a declared property, even to one without a decoder.
            properties = {name: child or {} for name, child in properties.items()}
        properties = {name: child for name, child in properties.items() if child is not None}
        if properties:
            decoder["properties"] = properties

    def _fill_items(self, node: SchemaNode, decoder: ArgumentDecoder, depth: int) -> None:
        items = self._decoder_of_keyword(node, "items", depth)
        prefix = [self._decoder(child, depth) for child in _nodes_of(node, "prefixItems")]
        if items is not None:
            decoder["items"] = items
        else:
            while prefix and prefix[-1] is None:
                prefix.pop()
        if prefix:
            decoder["prefix"] = prefix

    def _fill_in_place(self, node: SchemaNode, decoder: ArgumentDecoder, depth: int) -> None:
        for target in _nodes_of(node, "$ref"):
            if target in self._decoded_nodes:
                decoder["ref"] = self._name(target)
        also = [self._decoder(child, depth) for child in _nodes_of(node, "allOf")]
        for keyword in _UNIONS:
            branches = self._branches(node, keyword, depth)
            if branches and "any_of" not in decoder:
                decoder["any_of"] = branches
            elif branches:
                also.append({"any_of": branches})
        also = [child for child in also if child is not None]
        if also:
            decoder["also"] = also

    def _branches(self, node: SchemaNode, keyword: str, depth: int) -> list[ArgumentDecoder]:
        """Return the branches of a union, or [] if none of them needs a decoder."""
        schemas = [child for child in _nodes_of(node, keyword) if not child.never]
        if not any(child in self._decoded_nodes for child in schemas):
            return []
        branches: list[ArgumentDecoder] = []
        for child in schemas:
            branch: ArgumentDecoder = {"when": self._tests.build(child)}
            decoder = self._decoder(child, depth)
            if decoder is not None:
                branch["as"] = decoder
            branches.append(branch)
        return branches

    def _decoder_of_keyword(
        self, node: SchemaNode, keyword: str, depth: int
    ) -> ArgumentDecoder | None:
        return self._decoder(next(iter(_nodes_of(node, keyword)), None), depth)
