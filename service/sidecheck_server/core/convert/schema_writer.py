"""Writing of a transformed graph of nodes as a JSON Schema."""

import re
from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.schema_graph import NODE_KEYWORDS, SchemaNode
from sidecheck_server.core.limits import limit_exceeded_error

__all__ = ["describe_node", "format_notes", "write_schema"]

_MAX_SUBSCHEMAS = 20_000

_MAX_NAME = 60
_SHORT = 60
"""Characters of a text that may be written twice."""


def write_schema(root: SchemaNode, subset: Subset) -> dict[str, Any]:
    """Return *root* as a JSON Schema in the spelling of *subset*.

    Targets of references and nodes that occur at several places become definitions of the
    root.

    Raises:
        RequestError: LIMIT_EXCEEDED if it would have more than 20,000 subschemas.
    """
    return _Writer(root, subset).write()


def describe_node(node: SchemaNode) -> str:
    """Return the description of *node*: that of its author, then the notes."""
    return f"{node.keywords.get('description', '')} {format_notes(node)}".lstrip()


def format_notes(node: SchemaNode) -> str:
    """Return the notes of *node* in parentheses, or ""."""
    notes = "; ".join(dict.fromkeys(node.notes))
    return f"({notes})" if notes else ""


class _Writer:
    def __init__(self, root: SchemaNode, subset: Subset) -> None:
        self.root = root
        self.subset = subset
        references = subset.references is not References.NOWHERE
        self.definitions = _name_definitions(root) if references else {}
        #: Schemas in which nodes are still to be replaced by schemas.
        self.pending: list[dict[str, Any]] = []
        self.count = 0

    def write(self) -> dict[str, Any]:
        schema = self.write_node(self.root)
        definitions = {name: self.write_node(node) for node, name in self.definitions.items()}
        while self.pending:
            body = self.pending.pop()
            for keyword in NODE_KEYWORDS & body.keys():
                body[keyword] = self.write_nodes(keyword, body[keyword])
        if definitions:
            schema["$defs"] = definitions
        return schema

    def write_node(self, node: SchemaNode) -> dict[str, Any]:
        """Return the schema of *node*; the nodes in it are replaced later."""
        self.count += 1
        if self.count > _MAX_SUBSCHEMAS:
            message = "the converted schema has too many subschemas"
            raise limit_exceeded_error("subschemas", _MAX_SUBSCHEMAS, message)
        if node.never:
            return {"not": {}}
        subset = self.subset
        body = self.described_keywords(node)
        if subset.nullable:
            self.replace_null_type(body)
            if body.get("nullable") and subset.enum_of_strings and "enum" in body:
                body["enum"] = [value for value in body["enum"] if value is not None]
        if subset.upper_case_types and "type" in body:
            types = body["type"]
            body["type"] = types.upper() if isinstance(types, str) else [*map(str.upper, types)]
        if not NODE_KEYWORDS.isdisjoint(body):
            self.isolate_reference(body)
            self.pending.append(body)
        return body

    def described_keywords(self, node: SchemaNode) -> dict[str, Any]:
        """Return the keywords of *node*, with its notes in the description."""
        body = dict(node.keywords)
        if node.notes and self.allows_description(node):
            body["description"] = describe_node(node)
        return body

    def replace_null_type(self, body: dict[str, Any]) -> None:
        """Replace the type null by ``nullable: true`` (OpenAPI 3.0.3, Schema Object)."""
        branches = [
            branch for branch in body.get("anyOf", ()) if branch.keywords != {"type": "null"}
        ]
        if branches and len(branches) < len(body["anyOf"]):
            body["nullable"] = True
            body["anyOf"] = branches
            only = self.described_keywords(branches[0])
            alone = len(branches) == 1 and not branches[0].never and "$ref" not in only
            siblings = body.keys() - {"anyOf"}
            if alone and siblings.isdisjoint(only):
                del body["anyOf"]
                body.update(only)
        # After the union: its only branch may have a list of types.
        types = body.get("type")
        if isinstance(types, list) and "null" in types:
            others = [type_ for type_ in types if type_ != "null"]
            body["type"] = others[0] if len(others) == 1 else others or "null"
            body["nullable"] = True

    def isolate_reference(self, body: dict[str, Any]) -> None:
        """Move the reference in *body* below ``anyOf`` if it may have no siblings."""
        alone = self.subset.references is References.ALONE
        if "$ref" in body and alone and len(body) > 1:
            reference = SchemaNode((), {"$ref": body["$ref"]})
            if self.subset.supports("anyOf") and "anyOf" not in body:
                del body["$ref"]
                body["anyOf"] = [reference]

    def write_nodes(self, keyword: str, value: Any) -> Any:
        """Return the *value* of a keyword with schemas, or references, in place of nodes."""
        if isinstance(value, SchemaNode):
            if keyword == "$ref":
                return self.reference_to(value)
            # `additionalProperties` may be a boolean even where schemas may not.
            closes = keyword == "additionalProperties" and value.never
            return False if closes else self.write_child(value)
        if isinstance(value, dict):
            return {name: self.write_child(node) for name, node in value.items()}
        return [self.write_child(node) for node in value]

    def write_child(self, node: SchemaNode) -> Any:
        """Return the schema, or the reference, that stands for *node*."""
        if node is self.root or node in self.definitions:
            return {"$ref": self.reference_to(node)}
        if node.never and self.subset.boolean_schemas:
            return False
        return self.write_node(node)

    def reference_to(self, node: SchemaNode) -> str:
        return "#" if node is self.root else f"#/$defs/{self.definitions[node]}"

    def allows_description(self, node: SchemaNode) -> bool:
        """Return whether *node* may have a description."""
        allowed = node is not self.root or "description" not in self.subset.not_at_root
        return allowed and self.subset.supports("description")


def _name_definitions(root: SchemaNode) -> dict[SchemaNode, str]:
    """Return the nodes that become definitions, each with its name."""
    shared: dict[SchemaNode, None] = {}
    seen: set[SchemaNode] = set()
    pending, visited = [root], set[SchemaNode]()
    while pending:
        node = pending.pop()
        if node in visited:
            continue
        visited.add(node)
        below: list[SchemaNode] = []
        for keyword, child in node.children_by_keyword():
            again = child in seen and not _is_small(child)
            if (keyword == "$ref" or again) and child is not root:
                shared[child] = None
            seen.add(child)
            if not NODE_KEYWORDS.isdisjoint(child.keywords):
                below.append(child)
        pending += reversed(below)
    taken: set[str] = set()
    return {node: _unique_name(node, taken) for node in shared}


def _is_small(node: SchemaNode) -> bool:
    """Return whether *node* may be written again at each of its places."""
    return node.never or (
        not node.notes
        and all(name == "$ref" or _is_short(value) for name, value in node.keywords.items())
    )


def _is_short(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _SHORT)


def _unique_name(node: SchemaNode, taken: set[str]) -> str:
    preferred = node.name or next(_steps_up(node.path), "") or "definition"
    base = re.sub("[^A-Za-z0-9_]", "_", preferred)[:_MAX_NAME]
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    taken.add(name)
    return name


def _steps_up(path: tuple[str | int, ...]) -> Iterator[str]:
    return (step for step in reversed(path) if isinstance(step, str))
