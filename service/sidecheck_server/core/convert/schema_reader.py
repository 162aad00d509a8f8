"""Reading of a schema into a graph of nodes."""

from collections.abc import Mapping
from itertools import chain
from typing import Any, TypeAlias

from sidecheck_server.core.compiler.admission import AdmittedSchema, admit_schema
from sidecheck_server.core.convert.dialect_translation import Reader, translate
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.types import Action, Effect, LossLog
from sidecheck_server.core.limits import Limits, spend
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.schemas.references import Subschema, Survey
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["read_schema"]

_Path: TypeAlias = tuple[str | int, ...]
"""Path of a subschema, as `SchemaNode.path`."""

_NODE = 100
"""Steps of reading one node."""

_DEFINITIONS = frozenset({"$defs", "definitions"})
_UNREFERENCED = "no reference leads to this definition"


def read_schema(source: SchemaSource, path: _Path, log: LossLog, limits: Limits) -> SchemaNode:
    """Return the graph of the schema in *source*, which is at *path* of a definition.

    The nodes are in 2020-12, whatever dialects the schema uses. Unreferenced definitions are
    left out.

    Raises:
        RequestError: as `admission.admit`.
        Exhausted: the budget of *log* is spent.
    """
    return _SchemaReader(admit_schema(source, limits), path, log).read()


class _SchemaReader(Reader):
    def __init__(self, admitted: AdmittedSchema, path: _Path, log: LossLog) -> None:
        super().__init__(log)
        context = admitted.context
        self.schema = context.schema
        # The schemas `true` and `false` have none.
        survey = admitted.survey or Survey()
        self.reached, self.references = survey.reached, survey.references
        self.locations = _Locations(path, self.schema, context.documents)
        self.path = path
        self.nodes: dict[int, SchemaNode] = {}
        self.pending: list[tuple[SchemaNode, Subschema]] = []
        self.has_dynamic_references = any(
            not reference.static for reference in self.references.values()
        )
        subschemas = self.reached.values()
        self.hides_contains = any(
            "contains" in subschema.schema and subschema.dialect.draft is not Draft.DRAFT_2020_12
            for subschema in subschemas
        ) and any("unevaluatedItems" in subschema.schema for subschema in subschemas)

    def read(self) -> SchemaNode:
        root = self.node(self.schema, self.path)
        read: list[tuple[SchemaNode, Subschema]] = []
        while self.pending:
            spend(self.log.budget, _NODE)
            node, subschema = self.pending.pop()
            read.append((node, subschema))
            node.keywords = translate(node, subschema, self)
        for node, subschema in read:
            if not _DEFINITIONS.isdisjoint(subschema.schema):
                self._log_unreferenced(node, subschema)
        return root

    def node(self, schema: JsonValue, path: _Path | None = None, uri: str = "") -> SchemaNode:
        if not isinstance(schema, dict):
            return SchemaNode(path or self.path, never=schema is False)
        key = id(schema)
        node = self.nodes.get(key)
        if node is None:
            subschema = self.reached[key]
            node = self.nodes[key] = SchemaNode(path or self.path_of(subschema, uri))
            self.pending.append((node, subschema))
        return node

    def path_of(self, subschema: Subschema, uri: str) -> _Path:
        """Return the path of *subschema*, a target of references in the resource *uri*."""
        steps: list[_Path] = []
        current = subschema
        while current.parent is not None and current.reference is None:
            steps.append(current.path)
            current = current.parent
        if current.parent is not None:
            # It, or a schema around it, has no position where a dialect has subschemas.
            return self.locations.find(subschema.schema, uri)
        return (*self.path, *chain.from_iterable(reversed(steps)))

    def target(self, node: SchemaNode, subschema: Subschema, keyword: str) -> SchemaNode | None:
        reference = self.references[id(subschema.schema), keyword]
        if not reference.static:
            return None
        if not isinstance(reference.target, dict):
            name = _definition_name((str(subschema.schema[keyword]),))
            return SchemaNode((*node.path, keyword), never=reference.target is False, name=name)
        target = self.node(reference.target, uri=reference.resource.uri)
        if target.path != self.path:
            target.name = _definition_name(target.path)
        return target

    def _log_unreferenced(self, node: SchemaNode, subschema: Subschema) -> None:
        """Log the definitions in *subschema* that no reference leads to."""
        for keyword in sorted(_DEFINITIONS & subschema.schema.keys()):
            definitions = subschema.schema.get(keyword)
            if not isinstance(definitions, dict):
                continue
            for name, definition in definitions.items():
                if isinstance(definition, dict) and id(definition) not in self.nodes:
                    unread = SchemaNode((*node.path, keyword, name))
                    self.log.add(unread, "", Action.DROPPED, Effect.EQUIVALENT, _UNREFERENCED)


_Link: TypeAlias = tuple[Any, str | int]
"""The object or array around a value, and the step from there."""


class _Locations:
    """Paths of all objects and arrays in a schema and its documents, found by identity."""

    def __init__(self, path: _Path, schema: JsonValue, documents: Mapping[str, JsonValue]) -> None:
        self._path = path
        self._schema = schema
        self._documents = documents
        self._tops: dict[int, _Path] = {id(schema): path}
        self._links: dict[int, _Link] = {}
        self._documents_read = False

    def find(self, schema: JsonValue, uri: str) -> _Path:
        """Return the path of *schema*, or a path below *uri* if it was not sent at all."""
        if not self._links:
            self._links = _links(self._schema)
        if not self._is_known(schema) and not self._documents_read:
            self._documents_read = True
            for document_uri, contents in self._documents.items():
                self._tops.setdefault(id(contents), (*self._path, document_uri))
                self._links |= _links(contents)
        if not self._is_known(schema):
            return (*self._path, uri)
        steps: list[str | int] = []
        value: Any = schema
        while id(value) not in self._tops:
            value, step = self._links[id(value)]
            steps.append(step)
        return (*self._tops[id(value)], *reversed(steps))

    def _is_known(self, schema: JsonValue) -> bool:
        return id(schema) in self._tops or id(schema) in self._links


def _links(top: JsonValue) -> dict[int, _Link]:
    links: dict[int, _Link] = {}
    pending: list[Any] = [top] if isinstance(top, dict | list) else []
    while pending:
        container = pending.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for step, value in items:
            if isinstance(value, dict | list):
                links[id(value)] = (container, step)
                pending.append(value)
    return links


def _definition_name(path: _Path) -> str:
    """Return the name of the definition at *path*, or "".

    The last step of *path* may be a URI.
    """
    last = path[-1] if path else ""
    if not isinstance(last, str):
        return ""
    is_uri = "://" in last or last.startswith("#/")
    return last.rstrip("/#").rpartition("/")[2] if is_uri else last
