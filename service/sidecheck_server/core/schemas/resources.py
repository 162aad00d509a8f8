"""Resources: the schema, its documents and the schemas embedded in them, by URI.

A resource is a schema with a URI of its own (2020-12 core, section 4.3.5). Resources,
anchors and dialects are indexed once, at the positions where the dialect has
subschemas, and only when the first reference is resolved.

The resolvers of ``referencing`` are not used: they miss some embedded resources (those
under ``dependencies`` beside an array of names), know only the published dialects, and
omit from the dynamic scope a resource that is entered without a reference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import unquote, urldefrag, urljoin

from jsonschema_specifications import REGISTRY

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.types import JsonValue

__all__ = ["PUBLISHED", "DialectOf", "Resource", "Resources", "UnresolvableError", "identifier_of"]

PUBLISHED: Mapping[str, JsonValue] = MappingProxyType(
    {uri: REGISTRY.contents(uri) for uri in REGISTRY}
)
"""The meta-schemas of all drafts and vocabularies by URI, without an empty fragment."""


DialectOf = Callable[[JsonValue, Dialect], Dialect]
"""Returns the dialect that a resource declares, given that of its parent."""


class UnresolvableError(LookupError):
    """A reference has no target."""


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A schema with a URI of its own, against which its references are resolved."""

    uri: str
    contents: JsonValue
    dialect: Dialect
    #: The targets of plain-name fragments.
    anchors: dict[str, JsonValue] = field(default_factory=dict)
    #: Those of them that may be targets of ``$dynamicRef`` in other resources.
    dynamic_anchors: dict[str, JsonValue] = field(default_factory=dict)

    @property
    def recursive(self) -> bool:
        """Whether it may be the target of ``$recursiveRef`` in other resources."""
        return isinstance(self.contents, dict) and self.contents.get("$recursiveAnchor") is True


class Resources:
    """Index of the resources of one schema and its documents.

    Documents have the URI that they were sent with and the one that they declare; the
    published meta-schemas are always included. Resources are indexed by the identity of
    their contents too, so schema and documents must not change.
    """

    def __init__(
        self,
        root: JsonValue,
        dialect: Dialect,
        documents: Mapping[str, JsonValue],
        dialect_of: DialectOf,
    ) -> None:
        self._documents = {**documents, **PUBLISHED}
        self._dialect_of = dialect_of
        self._by_uri: dict[str, Resource] = {}
        self._by_contents: dict[int, Resource] = {}
        self._root_is_read = False
        self.root = Resource(identifier_of(root, dialect) or "", root, dialect)

    def rooted_at(self, schema: JsonValue) -> Resource | None:
        """Return the resource with the root *schema*, or None."""
        self._read_root()
        return self._by_contents.get(id(schema))

    def resolve(self, reference: str, base: Resource) -> tuple[JsonValue, Resource]:
        """Return the target of *reference* in *base*, and the resource that contains it.

        Raises:
            UnresolvableError: there is no target.
            RequestError: it is in a resource of an unsupported dialect, or resources on
                the way share a URI or an anchor.
        """
        self._read_root()
        if reference.startswith("#"):
            resource, fragment = base, reference[1:]
        else:
            joined = _join(base.uri, reference)
            if joined is None:
                raise UnresolvableError(reference)
            uri, fragment = urldefrag(joined)
            resource = self._named(uri, reference)
        if not fragment:
            return resource.contents, resource
        if fragment.startswith("/"):
            return self._pointed_at(fragment, resource)
        if (anchor := unquote(fragment)) in resource.anchors:
            return resource.anchors[anchor], resource
        raise UnresolvableError(reference)

    def _named(self, uri: str, reference: str) -> Resource:
        if uri not in self._by_uri and uri in self._documents:
            self._read(uri, self._documents[uri])
        if uri not in self._by_uri:
            # It may be embedded in a document that was not read yet.
            for document, contents in self._documents.items():
                if document not in self._by_uri:
                    try:
                        self._read(document, contents)
                    except RequestError as error:
                        # A dialect only matters if the document is referred to.
                        if error.reason is not ErrorReason.UNSUPPORTED_DIALECT:
                            raise
        if uri not in self._by_uri:
            raise UnresolvableError(reference)
        return self._by_uri[uri]

    def _pointed_at(self, pointer: str, resource: Resource) -> tuple[JsonValue, Resource]:
        """Follow a JSON Pointer (RFC 6901, section 6) into *resource*."""
        value = resource.contents
        for part in unquote(pointer[1:]).split("/"):
            step = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and _is_index_in(step, value):
                value = value[int(step)]
            else:
                raise UnresolvableError(pointer)
            resource = self._by_contents.get(id(value), resource)
        return value, resource

    def _read_root(self) -> None:
        if not self._root_is_read:
            self._root_is_read = True
            self._add(self.root)
            self._walk(self.root)

    def _read(self, uri: str, contents: JsonValue) -> None:
        dialect = self._dialect_of(contents, self.root.dialect)
        identifier = identifier_of(contents, dialect)
        resource = Resource(_join(uri, identifier or "") or uri, contents, dialect)
        self._by_uri.setdefault(uri, resource)
        self._add(resource)
        self._walk(resource)

    def _add(self, resource: Resource) -> None:
        # With two, the target of a reference would depend on which was read first.
        known = self._by_uri.setdefault(resource.uri, resource).contents
        if resource.uri:
            known = self._documents.get(resource.uri, known)
            _check_published(resource)
            _check_unique(known, resource.contents, "URI", resource.uri)
        self._by_contents[id(resource.contents)] = resource

    def _walk(self, start: Resource) -> None:
        """Add the anchors of *start* and the resources embedded in it."""
        stack = [(start.contents, start)]
        while stack:
            schema, parent = stack.pop()
            if not isinstance(schema, dict):
                continue
            resource = parent if schema is parent.contents else self._embedded(schema, parent)
            for name, dynamic in _anchors(schema, resource.dialect):
                known = resource.anchors.setdefault(name, schema)
                # An error is permitted (2020-12 core, section 8.2.2).
                _check_unique(known, schema, "anchor", name)
                if dynamic:
                    resource.dynamic_anchors.setdefault(name, schema)
            children = subschemas(schema, resource.dialect.draft)
            stack.extend((child, resource) for _, child in children)

    def _embedded(self, schema: dict[str, JsonValue], parent: Resource) -> Resource:
        """Return the resource with the root *schema*, or *parent* if it has no identifier."""
        if "$id" not in schema and "id" not in schema:
            return parent
        # $schema has an effect at the root of a resource only (2020-12 core, section 8.1.1).
        dialect = self._dialect_of(schema, parent.dialect)
        identifier = identifier_of(schema, dialect)
        uri = _join(parent.uri, identifier) if identifier else None
        if uri is None:
            return parent
        resource = Resource(uri, schema, dialect)
        self._add(resource)
        return resource


def _join(base: str, reference: str) -> str | None:
    """Return *reference* resolved against *base*, or None if it is not a URI reference."""
    try:
        return urljoin(base, reference)
    except ValueError:
        return None


def _check_published(resource: Resource) -> None:
    published = PUBLISHED.get(resource.uri, resource.contents)
    if published is not resource.contents and not json_equal(published, resource.contents):
        raise RequestError(
            ErrorReason.INVALID_SCHEMA,
            f"the URI {resource.uri} is that of a published meta-schema, which is built in and "
            f"cannot be redefined; give the schema another {resource.dialect.id_keyword}, or none",
            {"uri": resource.uri},
        )


def _check_unique(known: JsonValue, other: JsonValue, kind: str, name: str) -> None:
    if known is not other and not json_equal(known, other):
        raise RequestError(
            ErrorReason.INVALID_SCHEMA,
            f"two different schemas have the {kind} {name[:200]}",
            {kind.lower(): name},
        )


def identifier_of(schema: JsonValue, dialect: Dialect) -> str | None:
    """Return the URI that *schema* declares, relative to that of its parent."""
    if not isinstance(schema, dict) or ("$ref" in schema and dialect.reference_hides_siblings):
        return None
    identifier = schema.get(dialect.id_keyword)
    if not isinstance(identifier, str):
        return None
    # Before 2019-09 a mere fragment was an anchor (draft-07 core, section 8.2.3).
    return identifier.rstrip("#") if not identifier.startswith("#") else None


def _anchors(schema: dict[str, JsonValue], dialect: Dialect) -> list[tuple[str, bool]]:
    """Return the anchors of *schema*, and whether each is dynamic."""
    if dialect.reference_hides_siblings:
        identifier = schema.get(dialect.id_keyword)
        if "$ref" not in schema and isinstance(identifier, str) and identifier.startswith("#"):
            return [(identifier[1:], False)]
        return []
    anchors = []
    for keyword, dynamic in (("$anchor", False), ("$dynamicAnchor", True)):
        name = schema.get(keyword)
        if isinstance(name, str) and (not dynamic or "$dynamicRef" in dialect.keywords):
            anchors.append((name, dynamic))
    return anchors


def _is_index_in(step: str, items: list[JsonValue]) -> bool:
    # ASCII digits without leading zeros (RFC 6901, section 4).
    if not (step.isascii() and step.isdecimal()) or (step[0] == "0" and step != "0"):
        return False
    return len(step) < 10 and int(step) < len(items)
