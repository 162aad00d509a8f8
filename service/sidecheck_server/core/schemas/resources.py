"""The resources that references lead to: the schema, its documents, what is embedded in them.

A resource is a schema with a URI of its own (2020-12 core, section 4.3.5). Where the
resources, their anchors and their dialects are is read off once, at the positions
where the dialect has subschemas, and only when the first reference asks for it.

This is not left to the resolvers of ``referencing``: they do not see every embedded
resource (none under ``dependencies`` beside an array of names), know no dialects but
the published ones, and lose from the dynamic scope a resource that is entered without
a reference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urldefrag, urljoin

from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.published import PUBLISHED
from sidecheck_server.core.types import JsonValue

__all__ = ["DialectOf", "Resource", "Resources", "UnresolvableError", "identifier_of"]

DialectOf = Callable[[JsonValue, Dialect], Dialect]
"""Tells the dialect that a resource declares, given the one around it."""


class UnresolvableError(LookupError):
    """A reference leads nowhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A schema with a URI of its own, against which its references are read."""

    uri: str
    contents: JsonValue
    dialect: Dialect
    #: The subschemas that plain names in a fragment lead to.
    anchors: dict[str, JsonValue] = field(default_factory=dict)
    #: Those among them that ``$dynamicRef`` may be led to from elsewhere.
    dynamic_anchors: dict[str, JsonValue] = field(default_factory=dict)

    @property
    def recursive(self) -> bool:
        """Whether ``$recursiveRef`` may be led here from elsewhere."""
        return isinstance(self.contents, dict) and self.contents.get("$recursiveAnchor") is True


class Resources:
    """The resources that one schema and its documents hold.

    Documents are known by the URI that they were sent with, and by the one that they
    give themselves; the published meta-schemas are always among them. Resources are
    found by the identity of their contents too, so schema and documents must stay as
    they are.
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
        """Return the resource whose contents *schema* is."""
        self._read_root()
        return self._by_contents.get(id(schema))

    def resolve(self, reference: str, base: Resource) -> tuple[JsonValue, Resource]:
        """Return what *reference* in *base* leads to, and the resource which that is a part of.

        Raises:
            UnresolvableError: it leads nowhere.
            Refusal: it leads to a resource of a dialect that is not supported, or past
                two resources of one URI or one anchor.
        """
        self._read_root()
        if reference.startswith("#"):
            resource, fragment = base, reference[1:]
        else:
            joined = _joined(base.uri, reference)
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
            # It may be embedded in a document that nothing has led to yet.
            for document, contents in self._documents.items():
                if document not in self._by_uri:
                    try:
                        self._read(document, contents)
                    except RequestError as refusal:
                        # A dialect only matters to who refers to it.
                        if refusal.reason is not ErrorReason.UNSUPPORTED_DIALECT:
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
        resource = Resource(_joined(uri, identifier or "") or uri, contents, dialect)
        self._by_uri.setdefault(uri, resource)
        self._add(resource)
        self._walk(resource)

    def _add(self, resource: Resource) -> None:
        # Which one a reference leads to would depend on what was read first.
        known = self._by_uri.setdefault(resource.uri, resource).contents
        if resource.uri:
            known = self._documents.get(resource.uri, known)
            _refuse_another(known, resource.contents, "URI", resource.uri)
        self._by_contents[id(resource.contents)] = resource

    def _walk(self, start: Resource) -> None:
        """Add the anchors of *start* and the resources embedded in it."""
        stack = [(start.contents, start)]
        while stack:
            schema, around = stack.pop()
            if not isinstance(schema, dict):
                continue
            resource = around if schema is around.contents else self._embedded(schema, around)
            for name, dynamic in _anchors(schema, resource.dialect):
                known = resource.anchors.setdefault(name, schema)
                # 2020-12 core, section 8.2.2, lets this raise an error.
                _refuse_another(known, schema, "anchor", name)
                if dynamic:
                    resource.dynamic_anchors.setdefault(name, schema)
            within = subschemas(schema, resource.dialect.draft)
            stack.extend((subschema, resource) for _, subschema in within)

    def _embedded(self, schema: dict[str, JsonValue], around: Resource) -> Resource:
        if "$id" not in schema and "id" not in schema:
            return around
        # A $schema counts at the root of a resource only (2020-12 core, section 8.1.1).
        dialect = self._dialect_of(schema, around.dialect)
        identifier = identifier_of(schema, dialect)
        uri = _joined(around.uri, identifier) if identifier else None
        if uri is None:
            return around
        resource = Resource(uri, schema, dialect)
        self._add(resource)
        return resource


def _joined(base: str, reference: str) -> str | None:
    """Return *reference* resolved against *base*; None for what is no URI reference."""
    try:
        return urljoin(base, reference)
    except ValueError:
        return None


def _refuse_another(known: JsonValue, other: JsonValue, what: str, name: str) -> None:
    if known is not other and not json_equal(known, other):
        raise RequestError(
            ErrorReason.INVALID_SCHEMA,
            f"two different schemas have the {what} {name[:200]}",
            {what.lower(): name},
        )


def identifier_of(schema: JsonValue, dialect: Dialect) -> str | None:
    """Return the URI that *schema* gives itself, relative to the one around it."""
    if not isinstance(schema, dict) or ("$ref" in schema and dialect.reference_hides_siblings):
        return None
    identifier = schema.get(dialect.id_keyword)
    if not isinstance(identifier, str):
        return None
    # Nothing but a fragment was an anchor before 2019-09 (draft-07 core, section 8.2.3).
    return identifier.rstrip("#") if not identifier.startswith("#") else None


def _anchors(schema: dict[str, JsonValue], dialect: Dialect) -> list[tuple[str, bool]]:
    """Return the plain names that lead to *schema*, and whether dynamically."""
    if dialect.reference_hides_siblings:
        identifier = schema.get(dialect.id_keyword)
        if "$ref" not in schema and isinstance(identifier, str) and identifier.startswith("#"):
            return [(identifier[1:], False)]
        return []
    found = []
    for keyword, dynamic in (("$anchor", False), ("$dynamicAnchor", True)):
        name = schema.get(keyword)
        if isinstance(name, str) and (not dynamic or "$dynamicRef" in dialect.keywords):
            found.append((name, dynamic))
    return found


def _is_index_in(step: str, items: list[JsonValue]) -> bool:
    # ASCII digits without leading zeros (RFC 6901, section 4), and few of them.
    if not (step.isascii() and step.isdecimal()) or (step[0] == "0" and step != "0"):
        return False
    return len(step) < 10 and int(step) < len(items)
