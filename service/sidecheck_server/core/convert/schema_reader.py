"""Reader of a schema of any dialect into a graph of nodes of 2020-12."""

from collections.abc import Callable, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck_server.core.compiler.admission import AdmittedSchema, admit_schema
from sidecheck_server.core.convert.schema_graph import ANNOTATIONS, SchemaNode
from sidecheck_server.core.convert.types import Action, Effect, LossLog
from sidecheck_server.core.limits import Limits, spend
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.schemas.keywords import KEYWORDS, Position
from sidecheck_server.core.schemas.references import REFERENCES, Subschema, Survey
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["read_schema"]

_Path: TypeAlias = tuple[str | int, ...]
"""Path of a subschema, as `SchemaNode.path`."""

_NODE = 100
"""Steps per node."""

_DEFINITIONS = frozenset({"$defs", "definitions"})
_UNREFERENCED = "no reference leads to this definition"


def read_schema(source: SchemaSource, path: _Path, log: LossLog, limits: Limits) -> SchemaNode:
    """Return the graph of the schema in *source*, which is at *path* of a definition.

    The nodes have the keywords of 2020-12, whatever dialects the schema uses. Unreferenced
    definitions are left out.

    Raises:
        RequestError: as `admit_schema`.
        Exhausted: the budget of *log* is spent.
    """
    return _SchemaReader(admit_schema(source, limits), path, log).read()


class _SchemaReader:
    """Reader of one schema; translations of its subschemas call the reader."""

    def __init__(self, admitted: AdmittedSchema, path: _Path, log: LossLog) -> None:
        self.log = log
        context = admitted.context
        self.schema = context.schema
        # The schemas `true` and `false` have no survey.
        survey = admitted.survey or Survey()
        self.reached, self.references = survey.reached, survey.references
        self.locations = _Locations(path, self.schema, context.documents)
        self.path = path
        self.nodes: dict[int, SchemaNode] = {}
        self.pending: list[tuple[SchemaNode, Subschema]] = []
        #: Whether the targets of some references depend on the path of evaluation.
        self.has_dynamic_references = any(
            not reference.static for reference in self.references.values()
        )
        subschemas = self.reached.values()
        #: Whether ``contains`` of an earlier dialect must be kept from evaluating items.
        self.hides_contains = any(
            "contains" in subschema.schema and subschema.dialect.draft is not Draft.DRAFT_2020_12
            for subschema in subschemas
        ) and any("unevaluatedItems" in subschema.schema for subschema in subschemas)

    def read(self) -> SchemaNode:
        root = self.node(self.schema, self.path)
        translated_nodes: list[tuple[SchemaNode, Subschema]] = []
        while self.pending:
            spend(self.log.budget, _NODE)
            node, subschema = self.pending.pop()
            translated_nodes.append((node, subschema))
            node.keywords = _translate(node, subschema, self)
        for node, subschema in translated_nodes:
            if not _DEFINITIONS.isdisjoint(subschema.schema):
                self._log_unreferenced(node, subschema)
        return root

    def node(self, schema: JsonValue, path: _Path | None = None, uri: str = "") -> SchemaNode:
        """Return the node of *schema* at *path*.

        Without *path*, the path of an object is located in the resource *uri*.
        """
        if not isinstance(schema, dict):
            return SchemaNode(path or self.path, never=schema is False)
        key = id(schema)
        node = self.nodes.get(key)
        if node is None:
            subschema = self.reached[key]
            node = self.nodes[key] = SchemaNode(path or self.find_path(subschema, uri))
            self.pending.append((node, subschema))
        return node

    def find_path(self, subschema: Subschema, uri: str) -> _Path:
        """Return the path of *subschema*, a target of references in the resource *uri*."""
        steps: list[_Path] = []
        current = subschema
        while current.parent is not None and current.reference is None:
            steps.append(current.path)
            current = current.parent
        if current.parent is not None:
            # The subschema, or one around it, is not where its dialect expects a subschema.
            return self.locations.find(subschema.schema, uri)
        return (*self.path, *chain.from_iterable(reversed(steps)))

    def resolve_target(
        self, node: SchemaNode, subschema: Subschema, keyword: str
    ) -> SchemaNode | None:
        """Return the target of the reference *keyword*, or None if it is dynamic."""
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

    def drop(self, node: SchemaNode, keyword: str, reason: str) -> None:
        """Log that *keyword*, which asserts nothing, is left out."""
        self.log.add(node, keyword, Action.DROPPED, Effect.EQUIVALENT, reason)

    def widen(self, node: SchemaNode, keyword: str, reason: str, note: str) -> None:
        """Log that the assertion *keyword* is left out, and describe it in a note."""
        node.notes.append(note)
        self.log.add(node, keyword, Action.DESCRIBED, Effect.WIDENED, reason)

    def _log_unreferenced(self, node: SchemaNode, subschema: Subschema) -> None:
        """Log the definitions in *subschema* that no reference leads to."""
        for keyword in sorted(_DEFINITIONS & subschema.schema.keys()):
            definitions = subschema.schema.get(keyword)
            if not isinstance(definitions, dict):
                continue
            for name, definition in definitions.items():
                if isinstance(definition, dict) and id(definition) not in self.nodes:
                    unreferenced = SchemaNode((*node.path, keyword, name))
                    self.log.add(unreferenced, "", Action.DROPPED, Effect.EQUIVALENT, _UNREFERENCED)


_Link: TypeAlias = tuple[Any, str | int]
"""Object or array that contains a value, and the key or index of the value."""


class _Locations:
    """Paths of the objects and arrays in a schema and its documents, by identity."""

    def __init__(self, path: _Path, schema: JsonValue, documents: Mapping[str, JsonValue]) -> None:
        self._path = path
        self._schema = schema
        self._documents = documents
        self._tops: dict[int, _Path] = {id(schema): path}
        self._links: dict[int, _Link] = {}
        self._documents_read = False

    def find(self, schema: JsonValue, uri: str) -> _Path:
        """Return the path of *schema*, or a path of *uri* if no document contains it."""
        if not self._links:
            self._links = _collect_links(self._schema)
        if not self._is_known(schema) and not self._documents_read:
            self._documents_read = True
            for document_uri, contents in self._documents.items():
                self._tops.setdefault(id(contents), (*self._path, document_uri))
                self._links |= _collect_links(contents)
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


def _collect_links(top: JsonValue) -> dict[int, _Link]:
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


_DYNAMIC = "the target of a $dynamicRef or $recursiveRef depends on the path of evaluation"
_DYNAMIC_NOTE = "of the same form as a schema that contains it"
_UNKNOWN = "the keyword is not known, and asserts nothing"


class _Translation:
    """Translation of one node, with the keywords that are translated so far."""

    __slots__ = ("keywords", "node", "reader", "subschema")

    def __init__(self, node: SchemaNode, subschema: Subschema, reader: _SchemaReader) -> None:
        self.node = node
        self.subschema = subschema
        self.reader = reader
        self.keywords: dict[str, Any] = {}

    def child(self, schema: JsonValue, *steps: str | int) -> SchemaNode:
        return self.reader.node(schema, (*self.node.path, *steps))

    def require(self, extra: SchemaNode) -> None:
        """Require values to be valid against *extra*, too."""
        self.keywords.setdefault("allOf", []).append(extra)


_Rule: TypeAlias = Callable[[_Translation, str, Any], None]


def _translate(node: SchemaNode, subschema: Subschema, reader: _SchemaReader) -> dict[str, Any]:
    """Return the keywords of *node*, read from *subschema*; log omitted keywords."""
    translation = _Translation(node, subschema, reader)
    dialect = subschema.dialect
    rules, in_force = _RULES[dialect.draft], dialect.keywords
    hides_siblings = "$ref" in subschema.schema and dialect.reference_hides_siblings
    for keyword, value in subschema.schema.items():
        if keyword in in_force and keyword in rules and (not hides_siblings or keyword == "$ref"):
            rules[keyword](translation, keyword, value)
        elif keyword in _DEFINITIONS and isinstance(value, dict):
            continue  # The reader follows references to them.
        elif hides_siblings and keyword in in_force:
            reader.drop(node, keyword, f"has no effect beside $ref in {dialect.name}")
        elif isinstance(value, ANNOTATIONS.get(keyword, ())):
            translation.keywords[keyword] = value
        elif keyword in KEYWORDS[Draft.DRAFT_2020_12] or keyword in KEYWORDS[dialect.draft]:
            reader.drop(node, keyword, f"has no meaning in {dialect.name}")
        else:
            reader.drop(node, keyword, _UNKNOWN)
    return translation.keywords


def _copy_value(translation: _Translation, keyword: str, value: Any) -> None:
    translation.keywords[keyword] = value


def _translate_schema(translation: _Translation, keyword: str, value: Any) -> None:
    translation.keywords[keyword] = translation.child(value, keyword)


def _translate_schemas(translation: _Translation, keyword: str, value: Any) -> None:
    node, path = translation.reader.node, (*translation.node.path, keyword)
    listed = [node(schema, (*path, n)) for n, schema in enumerate(value)]
    # Another keyword may have required something already.
    translation.keywords[keyword] = translation.keywords.get(keyword, []) + listed


def _translate_schema_map(translation: _Translation, keyword: str, value: Any) -> None:
    node, path = translation.reader.node, (*translation.node.path, keyword)
    translation.keywords[keyword] = {
        name: node(schema, (*path, name)) for name, schema in value.items()
    }


def _require_sibling(sibling: str, rule: _Rule) -> _Rule:
    """Return *rule* for a keyword that has no effect without the keyword *sibling*."""

    def apply(translation: _Translation, keyword: str, value: Any) -> None:
        subschema = translation.subschema
        if sibling in subschema.schema and sibling in subschema.dialect.keywords:
            rule(translation, keyword, value)
        else:
            translation.reader.drop(translation.node, keyword, f"has no effect without {sibling}")

    return apply


def _translate_reference(translation: _Translation, keyword: str, _value: Any) -> None:
    node, reader = translation.node, translation.reader
    target = reader.resolve_target(node, translation.subschema, keyword)
    if target is None:
        reader.widen(node, keyword, _DYNAMIC, _DYNAMIC_NOTE)
    elif "$ref" in translation.keywords:
        translation.require(SchemaNode((*node.path, keyword), {"$ref": target}))
    else:
        translation.keywords["$ref"] = target


def _translate_type_of_draft_04(translation: _Translation, keyword: str, value: Any) -> None:
    translation.keywords[keyword] = value
    if value == "integer" or (isinstance(value, list) and "integer" in value):
        # Draft-04 core, section 3.5.
        message = "numbers with a fraction of zero, like 1.0, are integers since draft 6"
        log = translation.reader.log
        log.add(translation.node, keyword, Action.REWRITTEN, Effect.WIDENED, message)


def _translate_bound_of_draft_04(translation: _Translation, keyword: str, value: Any) -> None:
    # The exclusive forms are flags (draft-04 validation, 5.1.2 and 5.1.3).
    exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}[keyword]
    subschema = translation.subschema
    flagged = subschema.schema.get(exclusive) is True and exclusive in subschema.dialect.keywords
    translation.keywords[exclusive if flagged else keyword] = value


def _skip_flag_of_draft_04(_translation: _Translation, _keyword: str, _value: Any) -> None:
    """Skip the flag, which `_translate_bound_of_draft_04` reads with its bound."""


def _translate_items(translation: _Translation, keyword: str, value: Any) -> None:
    keywords, subschema = translation.keywords, translation.subschema
    if not isinstance(value, list):
        keywords["items"] = translation.child(value, keyword)
        return
    keywords["prefixItems"] = [
        translation.child(schema, keyword, n) for n, schema in enumerate(value)
    ]
    rest = subschema.schema.get("additionalItems")
    if rest is not None and "additionalItems" in subschema.dialect.keywords:
        keywords["items"] = translation.child(rest, "additionalItems")


def _check_additional_items(translation: _Translation, keyword: str, _value: Any) -> None:
    subschema = translation.subschema
    items = subschema.schema.get("items")
    if not isinstance(items, list) or "items" not in subschema.dialect.keywords:
        reason = "has no effect without a list of items"
        translation.reader.drop(translation.node, keyword, reason)


def _translate_dependencies(translation: _Translation, keyword: str, value: Any) -> None:
    for name, requirement in value.items():
        _translate_dependency(translation, name, requirement, keyword)


def _translate_dependency(
    translation: _Translation, name: str, requirement: Any, keyword: str
) -> None:
    keywords = translation.keywords
    if isinstance(requirement, list):
        names = keywords.setdefault("dependentRequired", {})
        names[name] = list(dict.fromkeys([*names.get(name, ()), *requirement]))
        return
    node = translation.child(requirement, keyword, name)
    schemas = keywords.setdefault("dependentSchemas", {})
    # `dependencies` may occur together with the keywords that replaced it.
    if name in schemas:
        node = SchemaNode(node.path, {"allOf": [schemas[name], node]})
    schemas[name] = node


def _translate_contains(translation: _Translation, keyword: str, value: Any) -> None:
    subschema = translation.subschema
    translated: dict[str, Any] = {keyword: translation.child(value, keyword)}
    if not _hides_contains(translation):
        translation.keywords |= translated
        return
    for bound in ("minContains", "maxContains"):
        if bound in subschema.schema and bound in subschema.dialect.keywords:
            translated[bound] = subschema.schema[bound]
    # In 2020-12 items that match count as evaluated (core, section 10.3.1.3), in 2019-09
    # they do not (core, section 9.3.1.3). Subschemas of `not` evaluate nothing.
    path = (*translation.node.path, keyword)
    negated = SchemaNode(path, {"not": SchemaNode(path, translated)})
    translation.require(SchemaNode(path, {"not": negated}))


def _translate_bound_of_contains(translation: _Translation, keyword: str, value: Any) -> None:
    if not _hides_contains(translation):
        translation.keywords[keyword] = value


def _hides_contains(translation: _Translation) -> bool:
    """Return whether ``contains`` must not evaluate items."""
    legacy = translation.subschema.dialect.draft is not Draft.DRAFT_2020_12
    return translation.reader.hides_contains and legacy


def _translate_unevaluated(translation: _Translation, keyword: str, value: Any) -> None:
    if translation.reader.has_dynamic_references:
        # A reference that is left out evaluates nothing, so the keyword would reject more.
        reason = f"{keyword} cannot be kept: {_DYNAMIC}"
        note = "other properties may be rejected"
        translation.reader.widen(translation.node, keyword, reason, note)
    else:
        translation.keywords[keyword] = translation.child(value, keyword)


_BY_POSITION: Mapping[Position, _Rule] = MappingProxyType(
    {
        Position.NONE: _copy_value,
        Position.SCHEMA: _translate_schema,
        Position.SCHEMAS: _translate_schemas,
        Position.SCHEMA_MAP: _translate_schema_map,
        Position.SCHEMA_OR_SCHEMAS: _translate_items,
        Position.SCHEMA_OR_NAMES_MAP: _translate_dependencies,
    }
)
"""Rules of the keywords that 2020-12 has, too, by the position of their subschemas."""

_BY_KEYWORD: Mapping[str, _Rule] = MappingProxyType(
    {
        **dict.fromkeys(REFERENCES, _translate_reference),
        **dict.fromkeys(("then", "else"), _require_sibling("if", _translate_schema)),
        "items": _translate_items,
        "additionalItems": _check_additional_items,
        **dict.fromkeys(("dependentRequired", "dependentSchemas"), _translate_dependencies),
        "contains": _translate_contains,
        **dict.fromkeys(
            ("minContains", "maxContains"),
            _require_sibling("contains", _translate_bound_of_contains),
        ),
        **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), _translate_unevaluated),
    }
)
"""Rules of the keywords whose meaning depends on the dialect or on siblings."""

_BY_KEYWORD_OF_DRAFT_04: Mapping[str, _Rule] = MappingProxyType(
    {
        **_BY_KEYWORD,
        "type": _translate_type_of_draft_04,
        **dict.fromkeys(("minimum", "maximum"), _translate_bound_of_draft_04),
        **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _skip_flag_of_draft_04),
    }
)


def _build_rules(draft: Draft) -> Mapping[str, _Rule]:
    rules = _BY_KEYWORD_OF_DRAFT_04 if draft is Draft.DRAFT_04 else _BY_KEYWORD
    return {
        name: rules.get(name, _BY_POSITION[row.position])
        for name, row in KEYWORDS[draft].items()
        if name not in {"format", *_DEFINITIONS}
    }


_RULES: Mapping[Draft, Mapping[str, _Rule]] = {draft: _build_rules(draft) for draft in Draft}
"""The rule of each keyword of each draft, except annotations and definitions."""
