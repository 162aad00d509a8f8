"""Dialects, which determine the keywords in force, and sources of schemas.

Five dialects are built in. Other dialects are supported if their meta-schema is sent as a
document: it declares one of the five as its dialect, and may disable keywords with
``$vocabulary``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.schemas.keywords import KEYWORDS, keywords_of
from sidecheck_server.core.types import Document, Draft, JsonValue

__all__ = [
    "DEFAULT_DIALECT",
    "DIALECTS",
    "STANDARD_DIALECTS",
    "Dialect",
    "SchemaSource",
    "dialect_named",
    "dialect_of",
]


@dataclass(frozen=True, slots=True)
class Dialect:
    """A set of keywords with their meaning, identified by a URI."""

    #: The short name, as in ``2020-12``.
    name: str
    #: The value of ``$schema``, without an empty fragment.
    uri: str
    draft: Draft
    #: The keywords in force; all others are annotations.
    keywords: frozenset[str]
    #: Whether ``format`` is always asserted.
    asserts_format: bool = False
    #: The meta-schema, if the dialect is not built in.
    own_meta_schema: JsonValue = None

    @property
    def id_keyword(self) -> str:
        """The keyword that declares the URI of a schema."""
        return "id" if self.draft is Draft.DRAFT_04 else "$id"

    @property
    def reference_hides_siblings(self) -> bool:
        """Whether ``$ref`` disables its siblings (drafts 4, 6 and 7; core, section 8.3)."""
        return self.draft.value <= Draft.DRAFT_07.value


def _standard(name: str, uri: str, draft: Draft) -> Dialect:
    return Dialect(name, uri, draft, frozenset(KEYWORDS[draft]))


_D2020 = "https://json-schema.org/draft/2020-12/schema"
_D2019 = "https://json-schema.org/draft/2019-09/schema"

DEFAULT_DIALECT = _standard("2020-12", _D2020, Draft.DRAFT_2020_12)
"""The dialect of a schema without ``$schema`` (MCP 2025-11-25, basic: JSON Schema usage)."""

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        dialect.uri: dialect
        for dialect in (
            DEFAULT_DIALECT,
            _standard("2019-09", _D2019, Draft.DRAFT_2019_09),
            _standard("draft-07", "http://json-schema.org/draft-07/schema", Draft.DRAFT_07),
            _standard("draft-06", "http://json-schema.org/draft-06/schema", Draft.DRAFT_06),
            _standard("draft-04", "http://json-schema.org/draft-04/schema", Draft.DRAFT_04),
        )
    }
)
"""The supported dialects by URI, the default one first."""

STANDARD_DIALECTS: Mapping[Draft, Dialect] = MappingProxyType(
    {dialect.draft: dialect for dialect in DIALECTS.values()}
)
"""The supported dialect of each draft, on which other dialects build."""

FindDocument = Callable[[str], JsonValue]


def _without_empty_fragment(uri: str) -> str:
    return uri.removesuffix("#")


def _no_document(_uri: str) -> JsonValue:
    return None


def dialect_named(uri: str, find_document: FindDocument = _no_document) -> Dialect:
    """Return the dialect that *uri* names.

    *find_document* returns the document with a URI, or None.

    Raises:
        RequestError: UNSUPPORTED_DIALECT if the dialect is not built in and no document is
            its meta-schema, or if the meta-schema requires an unknown vocabulary (2020-12
            core, section 8.1.2).
    """
    return _dialect_named(_without_empty_fragment(uri), find_document, frozenset())


def dialect_of(schema: JsonValue, default: Dialect, find_document: FindDocument) -> Dialect:
    """Return the dialect that *schema* declares, or *default* if it declares none.

    Raises:
        RequestError: as `dialect_named`; INVALID_SCHEMA if ``$schema`` is not a string.
    """
    if not isinstance(schema, dict) or "$schema" not in schema:
        return default
    declared = schema["$schema"]
    if not isinstance(declared, str):
        raise RequestError(
            ErrorReason.INVALID_SCHEMA,
            "the value of $schema must be a string with a URI",
        )
    return dialect_named(declared, find_document)


def _dialect_named(uri: str, find_document: FindDocument, seen: frozenset[str]) -> Dialect:
    if uri in DIALECTS:
        return DIALECTS[uri]
    meta_schema = find_document(uri)
    if not isinstance(meta_schema, dict) or uri in seen:
        raise _unsupported(uri)
    declared = meta_schema.get("$schema", DEFAULT_DIALECT.uri)
    if not isinstance(declared, str):
        raise _unsupported(uri)
    parent = _dialect_named(_without_empty_fragment(declared), find_document, seen | {uri})
    dialect = replace(parent, name=uri, uri=uri, own_meta_schema=meta_schema)
    vocabularies = meta_schema.get("$vocabulary")
    if not isinstance(vocabularies, dict) or parent.draft.value < Draft.DRAFT_2019_09.value:
        return dialect
    prefix = f"https://json-schema.org/draft/{'-'.join(parent.draft.name.split('_')[1:])}/vocab/"
    supported_vocabularies = frozenset({row.vocabulary for row in KEYWORDS[parent.draft].values()})
    supported_vocabularies |= {"meta-data"}
    if parent.draft is Draft.DRAFT_2020_12:
        supported_vocabularies |= {"format-assertion"}
    active = {name.removeprefix(prefix) for name in vocabularies if name.startswith(prefix)}
    for name, required in vocabularies.items():
        if required is True and name.removeprefix(prefix) not in supported_vocabularies:
            raise RequestError(
                ErrorReason.UNSUPPORTED_DIALECT,
                f"the dialect {uri} requires the vocabulary {name}, which is not supported",
                {"dialect": uri, "vocabulary": name},
            )
    return replace(
        dialect,
        keywords=keywords_of(parent.draft, frozenset(active)),
        # The vocabulary demands assertion even if it is optional (2020-12 validation,
        # section 7.2.2).
        asserts_format="format-assertion" in active,
    )


# The part by which misspelt URIs of a dialect still identify its draft.
_DRAFT_IN_URI = re.compile(r"(?<![0-9])(2020-12|2019-09)(?![0-9])|draft[-/_]?0?([467])(?![0-9])")


def _find_nearest(uri: str) -> str:
    """Return the supported dialect of the draft in the misspelt *uri*, or ""."""
    draft = _DRAFT_IN_URI.search(uri.lower())
    if draft is None:
        return ""
    name = draft[1] or f"draft-0{draft[2]}"
    return next(dialect.uri for dialect in DIALECTS.values() if dialect.name == name)


def _unsupported(uri: str) -> RequestError:
    supported = ", ".join(DIALECTS)
    nearest = _find_nearest(uri)
    hint = f"; did you mean {nearest}?" if nearest else ""
    return RequestError(
        ErrorReason.UNSUPPORTED_DIALECT,
        f"the dialect {uri} is not supported; expected one of {supported}, or a dialect whose "
        f"meta-schema is sent along as a document{hint}",
        {"dialect": uri, "supported": supported},
    )


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """A schema text with all other inputs of its compilation."""

    #: The schema's JSON text in UTF-8.
    json: bytes
    #: The documents sent along.
    documents: tuple[Document, ...] = ()
    #: The URI of the dialect of a schema that declares none.
    default_dialect: str = DEFAULT_DIALECT.uri
    #: Whether ``format`` is asserted.
    assert_formats: bool = False
