"""The five built-in dialects, and dialects whose meta-schemas are sent along."""

from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.schemas.dialects import (
    DEFAULT_DIALECT,
    DIALECTS,
    dialect_named,
    dialect_of,
)
from sidecheck_server.core.schemas.keywords import KEYWORDS
from sidecheck_server.core.types import Draft, JsonValue
from support.compiling import D04, D06, D07, D2019, D2020, evaluate_all, schema_error

OWN = "https://example.com/dialect"
V2020 = "https://json-schema.org/draft/2020-12/vocab/"
V2019 = "https://json-schema.org/draft/2019-09/vocab/"


def no_document(_uri: str) -> JsonValue:
    return None


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        pytest.param(D2020, "2020-12", id="2020-12"),
        pytest.param(D2020 + "#", "2020-12", id="2020-12 with an empty fragment"),
        pytest.param(D2019, "2019-09", id="2019-09"),
        pytest.param(D07 + "#", "draft-07", id="draft-07, as it is usually written"),
        pytest.param(D07, "draft-07", id="draft-07 without its fragment"),
        pytest.param(D06 + "#", "draft-06", id="draft-06"),
        pytest.param(D04 + "#", "draft-04", id="draft-04"),
    ],
)
def test_the_five_are_known_by_their_uris(uri: str, name: str) -> None:
    """The URI may have an empty fragment."""
    assert name == dialect_of({"$schema": uri}, DEFAULT_DIALECT, no_document).name


def test_the_first_of_the_five_is_the_default() -> None:
    """MCP's default is 2020-12."""
    assert ("2020-12", D2020) == (DEFAULT_DIALECT.name, next(iter(DIALECTS)))


@pytest.mark.parametrize("schema", [True, False, {}, {"type": "string"}])
def test_schema_without_a_declaration_inherits_the_dialect(schema: Any) -> None:
    """Holds for every enclosing dialect."""
    outer_dialect = DIALECTS[D04]

    assert outer_dialect is dialect_of(schema, outer_dialect, no_document)


@pytest.mark.parametrize(
    "uri",
    [
        pytest.param("http://json-schema.org/draft-03/schema#", id="draft-03"),
        pytest.param("https://json-schema.org/draft-07/schema#", id="draft-07 by https"),
        pytest.param("http://json-schema.org/schema#", id="whatever is the latest"),
        pytest.param(D2020 + "#meta", id="a part of a meta-schema"),
        pytest.param("", id="nothing"),
        pytest.param(OWN, id="a dialect of one's own"),
    ],
)
def test_unknown_dialects_are_rejected(uri: str) -> None:
    """The error names the URI and the supported dialects."""
    with pytest.raises(RequestError) as excinfo:
        dialect_named(uri)

    assert ErrorReason.UNSUPPORTED_DIALECT == excinfo.value.reason
    assert {
        "dialect": uri.removesuffix("#"),
        "supported": ", ".join(DIALECTS),
    } == excinfo.value.metadata


@pytest.mark.parametrize("declaration", [7, None, True, [], {}])
def test_declaration_that_is_not_a_string_is_rejected(declaration: Any) -> None:
    """Holds for every other JSON type."""
    with pytest.raises(RequestError) as excinfo:
        dialect_of({"$schema": declaration}, DEFAULT_DIALECT, no_document)

    assert ErrorReason.INVALID_SCHEMA == excinfo.value.reason


@pytest.mark.parametrize(
    ("documents", "draft"),
    [
        pytest.param({OWN: {}}, Draft.DRAFT_2020_12, id="that declares nothing"),
        pytest.param({OWN: {"$schema": D07 + "#"}}, Draft.DRAFT_07, id="of draft 7"),
        pytest.param(
            {OWN: {"$schema": "urn:a#"}, "urn:a": {"$schema": "urn:b"}, "urn:b": {"$schema": D04}},
            Draft.DRAFT_04,
            id="of a dialect of a dialect of draft 4",
        ),
    ],
)
def test_a_meta_schema_brings_a_dialect(documents: dict[str, Any], draft: Draft) -> None:
    """The dialect has the URI of its document and all keywords of its draft."""
    dialect = dialect_named(OWN + "#", documents.get)

    assert (OWN, OWN, draft) == (dialect.name, dialect.uri, dialect.draft)
    assert (frozenset(KEYWORDS[draft]), documents[OWN]) == (
        dialect.keywords,
        dialect.own_meta_schema,
    )


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param({OWN: True}, id="that is a boolean"),
        pytest.param({OWN: {"$schema": OWN}}, id="of its own dialect"),
        pytest.param({OWN: {"$schema": "urn:a"}, "urn:a": {"$schema": OWN}}, id="that go round"),
        pytest.param({OWN: {"$schema": 7}}, id="that declares a number"),
        pytest.param({OWN: {"$schema": "urn:nowhere"}}, id="of an unknown dialect"),
    ],
)
def test_meta_schemas_without_a_built_in_base_are_errors(documents: dict[str, Any]) -> None:
    """Every chain of meta-schemas must end in a built-in dialect."""
    with pytest.raises(RequestError) as excinfo:
        dialect_named(OWN, documents.get)

    assert ErrorReason.UNSUPPORTED_DIALECT == excinfo.value.reason


@pytest.mark.parametrize(
    ("uri", "nearest"),
    [
        pytest.param("https://json-schema.org/draft-07/schema#", D07, id="another scheme"),
        pytest.param("http://json-schema.org/draft/2020-12/schema#", D2020, id="the other one"),
        pytest.param("http://json-schema.org/draft-7/schema", D07, id="without a zero"),
        pytest.param("http://json-schema.org/draft/04/schema", D04, id="a slash"),
        pytest.param("draft-07", D07, id="the name of the draft"),
        pytest.param("JSON-SCHEMA.ORG/DRAFT/2020-12", D2020, id="capitals"),
        pytest.param(D2020 + "#meta", D2020, id="a part of a meta-schema"),
        pytest.param("http://json-schema.org/draft-05/schema#", "", id="another draft"),
        pytest.param("http://json-schema.org/schema#", "", id="whatever is the latest"),
        pytest.param("https://example.com/draft-071", "", id="another number"),
    ],
)
def test_a_dialect_under_another_uri_has_a_hint(uri: str, nearest: str) -> None:
    """The hint is the supported dialect of the draft in the URI."""
    with pytest.raises(RequestError) as excinfo:
        dialect_named(uri)

    hint = f"; did you mean {nearest}?" if nearest else ""
    assert excinfo.value.message.endswith(f"is sent along as a document{hint}")


@pytest.mark.parametrize("uri", [D2020, D07])
@pytest.mark.parametrize("body", [True, {}, {"$schema": D04}, {"$ref": "#"}, {"type": 5}])
def test_built_in_dialects_cannot_be_redefined(uri: str, body: Any) -> None:
    """A document with the URI of a built-in dialect has no effect on it."""
    documents = {uri: body, "https://json-schema.org/draft/2020-12/meta/validation": body}

    assert DIALECTS[uri] is dialect_named(uri, documents.get)
    assert (
        ErrorReason.INVALID_SCHEMA
        == schema_error({"$schema": uri, "type": "any"}, documents).reason
    )
    assert [True, False] == evaluate_all({"$schema": uri, "type": "string"}, ["a", 1], documents)
    assert [True, False] == evaluate_all(
        {"$ref": uri}, [{"type": "null"}, {"type": "any"}], documents
    )


@pytest.mark.parametrize(
    ("draft", "vocabularies", "schema", "payloads", "verdicts"),
    [
        pytest.param(
            D2020,
            [V2020 + "core", V2020 + "applicator"],
            {"properties": {"a": False, "b": {"type": "string"}}, "minProperties": 5},
            [{"a": 1}, {"b": 1}],
            [False, True],
            id="applicators only",
        ),
        pytest.param(
            D2020,
            [V2020 + "core", V2020 + "validation"],
            {
                "properties": {"a": False},
                "type": "object",
                "$ref": "#/$defs/b",
                "$defs": {"b": {"minProperties": 1}},
            },
            [{"a": 1}, {}, 1],
            [True, False, False],
            id="assertions only",
        ),
        pytest.param(
            D2020,
            [V2020 + "core", V2020 + "applicator", V2020 + "validation"],
            {"unevaluatedProperties": False, "required": ["a"]},
            [{"a": 1}, {}],
            [True, False],
            id="without unevaluated",
        ),
        pytest.param(
            D2019,
            [V2019 + "core", V2019 + "validation"],
            {"unevaluatedProperties": False, "required": ["a"]},
            [{"a": 1}, {}],
            [True, False],
            id="without applicators in 2019-09, which have unevaluated",
        ),
        pytest.param(
            D2020,
            [V2020 + "core", V2020 + "format-assertion"],
            {"format": "ipv4", "type": "null"},
            ["127.0.0.1", "localhost"],
            [True, False],
            id="with assertion of formats",
        ),
        pytest.param(
            D2020,
            [V2020 + "core", V2020 + "format-annotation"],
            {"format": "ipv4"},
            ["localhost"],
            [True],
            id="with annotation of formats",
        ),
        pytest.param(
            D07, [V2020 + "core"], {"type": "string"}, [1], [False], id="before there were any"
        ),
    ],
)
def test_vocabularies_put_keywords_in_force(
    draft: str, vocabularies: list[str], schema: Any, payloads: list[Any], verdicts: list[bool]
) -> None:
    """The others are annotations, for both engines."""
    meta = {"$schema": draft, "$vocabulary": dict.fromkeys(vocabularies, True)}

    assert verdicts == evaluate_all({"$schema": OWN, **schema}, payloads, {OWN: meta})


def test_an_unknown_vocabulary_is_rejected_if_it_is_required() -> None:
    """Otherwise it is not needed (2020-12 core, section 8.1.2)."""
    unknown = "https://example.com/vocabulary"
    metas = [
        {OWN: {"$vocabulary": {V2020 + "core": True, unknown: required}}}
        for required in (True, False)
    ]

    error = schema_error({"$schema": OWN}, metas[0])

    assert ErrorReason.UNSUPPORTED_DIALECT == error.reason
    assert {"dialect": OWN, "vocabulary": unknown} == error.metadata
    assert [True] == evaluate_all({"$schema": OWN}, [1], metas[1])
