"""Identifiers of schemas: the URI of a resource, and the anchors in it."""

from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["NAMING", "anchors_of", "embedded_identifier", "identifier_of", "may_name_parts"]

NAMING = frozenset({"$id", "id", "$anchor", "$dynamicAnchor"})
"""The keywords by which a schema, in some dialect, has a URI or an anchor."""


def may_name_parts(text: bytes, dialect: Dialect) -> bool:
    """Return whether the schema *text*, in *dialect*, may have a URI or an anchor in it.

    ``id``, which many properties are called, is a keyword of draft 4 only; a part may only be
    of that draft, or of an unknown one, if it declares a dialect.
    """
    if b"\\u" in text or b"$id" in text or b"$anchor" in text or b"$dynamicAnchor" in text:
        return True
    declares = dialect.draft is Draft.DRAFT_04 or b"$schema" in text
    return declares and b'"id"' in text


def embedded_identifier(
    schema: dict[str, JsonValue], dialect: Dialect, parent: Dialect
) -> str | None:
    """Return the URI that *schema*, a subschema of a resource in the dialect *parent*, declares.

    *dialect* is the one that it declares, or *parent*. An identifier counts if it is one
    in either: the text of an embedded draft-04 schema may have kept its ``id``, or have
    got the ``$id`` by which the schema around it recognizes a resource.
    """
    identifier = identifier_of(schema, dialect)
    return identifier if identifier or dialect is parent else identifier_of(schema, parent)


def identifier_of(schema: JsonValue, dialect: Dialect) -> str | None:
    """Return the URI that *schema* declares, relative to that of its parent."""
    if not isinstance(schema, dict) or ("$ref" in schema and dialect.reference_hides_siblings):
        return None
    identifier = schema.get(dialect.id_keyword)
    if not isinstance(identifier, str):
        return None
    # Before 2019-09 a mere fragment was an anchor (draft-07 core, section 8.2.3).
    return identifier.rstrip("#") if not identifier.startswith("#") else None


def anchors_of(schema: dict[str, JsonValue], dialect: Dialect) -> list[tuple[str, str, bool]]:
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
