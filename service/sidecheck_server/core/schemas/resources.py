"""Index of resources by URI: the schema, its documents, and embedded schemas.

A resource is a schema with a URI (2020-12 core, section 4.3.5). It may declare a dialect,
wherever it is embedded (section 9.3.3). Resources, anchors and dialects are indexed once,
when the first reference is resolved, at the positions where the dialect of each resource
has subschemas.
"""
# Decision 0012: the resolvers of `referencing` are not used. They miss some embedded
# resources (under `dependencies` next to an array of names), support only the published
# dialects, and omit from the dynamic scope a resource that is entered without a reference.

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote, urldefrag, urljoin

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.schemas.dialects import STANDARD_DIALECTS, Dialect
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.types import Draft, JsonValue, pointer_steps

__all__ = [
    "PUBLISHED",
    "Conflict",
    "DialectOf",
    "Resource",
    "Resources",
    "UnresolvableError",
    "embedded_identifier",
    "may_declare_identifiers",
]

_IDENTIFIER_KEYWORDS = frozenset({"$id", "id", "$anchor", "$dynamicAnchor"})
"""Keywords that declare a URI or an anchor in some dialect."""


def may_declare_identifiers(text: bytes, dialect: Dialect) -> bool:
    """Return whether the schema *text*, in *dialect*, may declare a URI or an anchor.

    ``id``, a frequent name of properties, is a keyword only in draft 4. An embedded schema
    is in another draft than *dialect* only if it has ``$schema``.
    """
    if b"\\u" in text or b"$id" in text or b"$anchor" in text or b"$dynamicAnchor" in text:
        return True
    declares = dialect.draft is Draft.DRAFT_04 or b"$schema" in text
    return declares and b'"id"' in text


def embedded_identifier(
    schema: dict[str, JsonValue], dialect: Dialect, parent: Dialect
) -> str | None:
    """Return the URI that *schema*, embedded in a resource, declares.

    *dialect* is the dialect that *schema* declares, or *parent*. The identifier keywords of
    both count: an embedded draft-04 schema may have its own ``id``, or the ``$id`` by which
    the enclosing schema recognizes a resource.
    """
    identifier = _identifier_of(schema, dialect)
    return identifier if identifier or dialect is parent else _identifier_of(schema, parent)


def _identifier_of(schema: JsonValue, dialect: Dialect) -> str | None:
    """Return the URI that *schema* declares, relative to the URI of its parent."""
    if not isinstance(schema, dict) or ("$ref" in schema and dialect.reference_hides_siblings):
        return None
    identifier = schema.get(dialect.id_keyword)
    if not isinstance(identifier, str):
        return None
    # Before 2019-09, an identifier that is only a fragment is an anchor (draft-07 core, 8.2.3).
    return identifier.rstrip("#") if not identifier.startswith("#") else None


def _anchors_of(schema: dict[str, JsonValue], dialect: Dialect) -> list[tuple[str, str, bool]]:
    """Return the anchors of *schema*, the keyword of each, and whether it is dynamic."""
    if dialect.reference_hides_siblings:
        identifier = schema.get(dialect.id_keyword)
        if "$ref" not in schema and isinstance(identifier, str) and identifier.startswith("#"):
            return [(identifier[1:], dialect.id_keyword, False)]
        return []
    anchors = []
    for keyword, dynamic in (("$anchor", False), ("$dynamicAnchor", True)):
        name = schema.get(keyword)
        if isinstance(name, str) and (not dynamic or "$dynamicRef" in dialect.keywords):
            anchors.append((name, keyword, dynamic))
    return anchors


class _PublishedSchemas(Mapping[str, JsonValue]):
    """The published schemas, read at the first use."""

    @cached_property
    def _schemas(self) -> Mapping[str, JsonValue]:
        # Imported late: it reads all files, and the protocol's own schemas need none of them.
        from jsonschema_specifications import REGISTRY  # noqa: PLC0415

        return {uri: REGISTRY.contents(uri) for uri in REGISTRY}

    def __getitem__(self, uri: str) -> JsonValue:
        return self._schemas[uri]

    def __iter__(self) -> Iterator[str]:
        return iter(self._schemas)

    def __len__(self) -> int:
        return len(self._schemas)


PUBLISHED: Mapping[str, JsonValue] = _PublishedSchemas()
"""The meta-schemas of all drafts and vocabularies by URI, without an empty fragment."""


_IDENTIFIER_DIALECTS = (STANDARD_DIALECTS[Draft.DRAFT_04], STANDARD_DIALECTS[Draft.DRAFT_2020_12])
"""One dialect for each keyword that declares a URI: ``id`` and ``$id``."""

DialectOf = Callable[[JsonValue, Dialect], Dialect]
"""Takes a resource and the dialect of its parent; returns the dialect of the resource."""


class UnresolvableError(LookupError):
    """A reference has no target."""


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A schema with a URI, which is the base of its references."""

    uri: str
    contents: JsonValue
    dialect: Dialect
    #: The targets of plain-name fragments.
    anchors: dict[str, JsonValue] = field(default_factory=dict)
    #: The anchors that may be targets of ``$dynamicRef`` in other resources.
    dynamic_anchors: dict[str, JsonValue] = field(default_factory=dict)
    #: The error of an unknown dialect, in which case the contents count as ``true``; or None.
    error: RequestError | None = None

    @property
    def recursive(self) -> bool:
        """Whether it may be the target of ``$recursiveRef`` in other resources."""
        return (
            isinstance(self.contents, dict)
            and self.contents.get("$recursiveAnchor") is True
            and "$recursiveRef" in self.dialect.keywords
        )


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two different schemas with the same URI or anchor."""

    #: The schema that was read later, and the keyword with the URI or anchor.
    schema: dict[str, JsonValue]
    keyword: str
    #: ``URI`` or ``anchor``.
    kind: str
    name: str


class Resources:
    """Index of the resources of one schema and its documents.

    A document has the URI with which it was sent and the URI that it declares. The published
    meta-schemas are always included. Resources are indexed by the identity of their contents
    too, so schema and documents must not change. Without *may_have_parts*, the root is known to
    have neither anchors nor embedded resources, and is not searched for them.
    """

    def __init__(
        self,
        root: JsonValue,
        dialect: Dialect,
        documents: Mapping[str, JsonValue],
        dialect_of: DialectOf,
        *,
        may_have_parts: bool = True,
    ) -> None:
        self._documents = {**documents, **PUBLISHED} if documents else PUBLISHED
        self._dialect_of = dialect_of
        self._by_uri: dict[str, Resource] = {}
        self._by_contents: dict[int, Resource] = {}
        self._root_is_read = False
        self._may_have_parts = may_have_parts
        self._dialects = {dialect.uri}
        self._has_unknown_dialect = False
        #: The conflicts between the schemas read so far. With a conflict, the target of a
        #: reference would depend on the order of reading.
        self.conflicts: list[Conflict] = []
        self.root = Resource(_identifier_of(root, dialect) or "", root, dialect)

    @property
    def has_several_dialects(self) -> bool:
        """Whether the resources read so far are in more than one dialect."""
        self._read_root()
        return len(self._dialects) > 1 or self._has_unknown_dialect

    def rooted_at(self, schema: JsonValue) -> Resource | None:
        """Return the resource with the root *schema*, or None."""
        self._read_root()
        return self._by_contents.get(id(schema))

    def resolve(self, reference: str, base: Resource) -> tuple[JsonValue, Resource]:
        """Return the target of *reference* in *base*, and the resource that contains it.

        In a resource of an unknown dialect the target is ``true``.

        Raises:
            UnresolvableError: there is no target.
        """
        self._read_root()
        if reference.startswith("#"):
            resource, fragment = base, reference[1:]
        else:
            joined = _join(base.uri, reference)
            if joined is None:
                raise UnresolvableError(reference)
            uri, fragment = urldefrag(joined)
            resource = self._find_resource(uri, reference)
        if not fragment:
            return resource.contents, resource
        if fragment.startswith("/"):
            return self._follow_pointer(fragment, resource)
        if (anchor := unquote(fragment)) in resource.anchors:
            return resource.anchors[anchor], resource
        raise UnresolvableError(reference)

    def _find_resource(self, uri: str, reference: str) -> Resource:
        if uri not in self._by_uri and uri in self._documents:
            self._read(uri, self._documents[uri])
        if uri not in self._by_uri:
            # It may be embedded in an unread document.
            for document, contents in self._documents.items():
                if document not in self._by_uri:
                    self._read(document, contents)
        if uri not in self._by_uri:
            raise UnresolvableError(reference)
        return self._by_uri[uri]

    def _follow_pointer(self, pointer: str, resource: Resource) -> tuple[JsonValue, Resource]:
        """Follow a JSON Pointer (RFC 6901, section 6) into *resource*."""
        value = resource.contents
        for step in pointer_steps(unquote(pointer)):
            if resource.error is not None:
                return True, resource
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and _is_index_in(step, value):
                value = value[int(step)]
            else:
                raise UnresolvableError(pointer)
            resource = self._by_contents.get(id(value), resource)
        return (value if resource.error is None else True), resource

    def _read_root(self) -> None:
        if not self._root_is_read:
            self._root_is_read = True
            self._add(self.root)
            if self._may_have_parts:
                self._walk(self.root)

    def _read(self, uri: str, contents: JsonValue) -> None:
        try:
            dialect = self._dialect_of(contents, self.root.dialect)
        except RequestError as error:
            # The error is raised only if a reference leads to the document.
            self._by_uri[uri] = Resource(uri, True, self.root.dialect, error=error)  # noqa: FBT003
            return
        identifier = _identifier_of(contents, dialect)
        resource = Resource(_join(uri, identifier or "") or uri, contents, dialect)
        self._by_uri.setdefault(uri, resource)
        self._add(resource)
        self._walk(resource)

    def _add(self, resource: Resource) -> None:
        contents = resource.contents
        earlier = self._by_uri.setdefault(resource.uri, resource).contents
        if resource.uri and isinstance(contents, dict):
            earlier = self._documents.get(resource.uri, earlier)
            # The published meta-schemas are built in.
            if _differ(PUBLISHED.get(resource.uri, earlier), contents) or _differ(
                earlier, contents
            ):
                keyword = "id" if "$id" not in contents else "$id"
                self.conflicts.append(Conflict(contents, keyword, "URI", resource.uri))
        self._by_contents[id(contents)] = resource
        self._dialects.add(resource.dialect.uri)

    def _walk(self, start: Resource) -> None:
        """Add the anchors of *start* and the resources embedded in it."""
        stack = [(start.contents, start)]
        while stack:
            schema, parent = stack.pop()
            if not isinstance(schema, dict):
                continue
            resource = parent
            if not _IDENTIFIER_KEYWORDS.isdisjoint(schema):
                if schema is not parent.contents:
                    resource = self._embedded(schema, parent)
                if resource.error is not None:
                    continue
                self._add_anchors(schema, resource)
            children = subschemas(schema, resource.dialect.draft)
            stack += ((child, resource) for _, child in reversed(children))

    def _add_anchors(self, schema: dict[str, JsonValue], resource: Resource) -> None:
        for name, keyword, dynamic in _anchors_of(schema, resource.dialect):
            earlier = resource.anchors.setdefault(name, schema)
            if _differ(earlier, schema):
                # The specification permits an error (2020-12 core, section 8.2.2).
                self.conflicts.append(Conflict(schema, keyword, "anchor", name))
            if dynamic:
                resource.dynamic_anchors.setdefault(name, schema)

    def _embedded(self, schema: dict[str, JsonValue], parent: Resource) -> Resource:
        """Return the resource with the root *schema*, or *parent* if it has no identifier."""
        if "$id" not in schema and "id" not in schema:
            return parent
        try:
            dialect = self._dialect_of(schema, parent.dialect)
        except RequestError as error:
            return self._unreadable(schema, parent, error)
        identifier = embedded_identifier(schema, dialect, parent.dialect)
        uri = _join(parent.uri, identifier) if identifier else None
        if uri is None:
            return parent
        resource = Resource(uri, schema, dialect)
        self._add(resource)
        return resource

    def _unreadable(
        self, schema: dict[str, JsonValue], parent: Resource, error: RequestError
    ) -> Resource:
        """Return the resource with the root *schema*, whose dialect is unknown (*error*).

        Return *parent* if *schema* is not a resource in any dialect.
        """
        identifiers = {
            dialect.id_keyword: _identifier_of(schema, dialect) for dialect in _IDENTIFIER_DIALECTS
        }
        identifier = identifiers["$id"] or identifiers["id"]
        uri = _join(parent.uri, identifier) if identifier else None
        if uri is None:
            return parent
        resource = Resource(uri, True, parent.dialect, error=error)  # noqa: FBT003
        self._by_uri.setdefault(uri, resource)
        self._by_contents[id(schema)] = resource
        self._has_unknown_dialect = True
        return resource


def _join(base: str, reference: str) -> str | None:
    """Return *reference* resolved against *base*; None for an invalid reference."""
    try:
        return urljoin(base, reference)
    except ValueError:
        return None


def _differ(earlier: JsonValue, later: JsonValue) -> bool:
    return earlier is not later and not json_equal(earlier, later)


def _is_index_in(step: str, items: list[JsonValue]) -> bool:
    # ASCII digits without leading zeros (RFC 6901, section 4).
    if not (step.isascii() and step.isdecimal()) or (step[0] == "0" and step != "0"):
        return False
    return len(step) < 10 and int(step) < len(items)
