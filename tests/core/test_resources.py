"""Resources with their own URI, anchors or dialect, in both engines."""

import json
from typing import Any

import jsonschema_rs
import pytest
from sidecheck_server.core.errors import ErrorReason
from support.compiling import D04, D07, D2020, evaluate_all, schema_error
from support.shared_cases import VALIDATE

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
A_STRING, AN_INTEGER = {"$id": "urn:a", **STRING}, {"$id": "urn:a", **INTEGER}
# Before 2019-09 the keyword beside the reference has no effect.
REFERRING = {"allOf": [{"$ref": "#/definitions/c", **INTEGER}], "definitions": {"c": {}}}

AMBIGUOUS: dict[str, Any] = {
    "two embedded resources": [
        {"$ref": "urn:a", "$defs": {"a": A_STRING, "b": AN_INTEGER}},
        {},
        {"uri": "urn:a"},
    ],
    "an embedded resource and a document": [
        {"$ref": "urn:a", "$defs": {"a": A_STRING}},
        {"urn:a": INTEGER},
        {"uri": "urn:a"},
    ],
    "the schema and a document": [A_STRING, {"urn:a": INTEGER}, {"uri": "urn:a"}],
    "two documents": [
        {"$ref": "urn:a"},
        {"urn:1": A_STRING, "urn:2": AN_INTEGER},
        {"uri": "urn:a"},
    ],
    "a document and what is embedded in another": [
        {"properties": {"p": {"$ref": "urn:a"}, "q": {"$ref": "urn:b"}}},
        {"urn:a": STRING, "urn:b": {"$defs": {"c": AN_INTEGER}}},
        {"uri": "urn:a"},
    ],
    "the schema and a published meta-schema": [{"$id": D2020, **STRING}, {}, {"uri": D2020}],
    "two anchors": [
        {"$defs": {"a": {"$anchor": "x", **STRING}, "b": {"$anchor": "x", **INTEGER}}},
        {},
        {"anchor": "x"},
    ],
    "an anchor and a dynamic one": [
        {"$defs": {"a": {"$anchor": "x", **STRING}, "b": {"$dynamicAnchor": "x", **STRING}}},
        {},
        {"anchor": "x"},
    ],
}
# Schemas with documents, payloads, and which of them are valid.
OF_DIALECTS: dict[str, Any] = {
    "an embedded resource has that of its document": [
        {"$ref": "urn:a"},
        {"urn:d": {"$schema": D07, "definitions": {"b": {"$id": "urn:a", "items": [STRING]}}}},
        [["a"], [1], ["a", 1]],
        [True, False, True],
    ],
    "a document has its own": [
        {"$ref": "urn:d"},
        {"urn:d": {"$schema": D07, **REFERRING}},
        ["a", 1],
        [True, True],
    ],
    "a document that declares none has that of the schema": [
        {"$ref": "urn:a"},
        {"urn:a": {"$schema": D07, "$ref": "urn:b"}, "urn:b": REFERRING},
        ["a", 1],
        [False, True],
    ],
    "an embedded resource has the one that it declares": [
        {"properties": {"p": {"$id": "urn:p", "$schema": D07, **REFERRING}}},
        {},
        [{"p": "a"}, {"p": 1}],
        [True, True],
    ],
    "a subschema that is no resource declares none": [
        {"properties": {"p": {"$schema": D07, **REFERRING}}, "definitions": {"c": {}}},
        {},
        [{"p": "a"}, {"p": 1}],
        [False, True],
    ],
    "what counts as evaluated is what counts at all": [
        {"$ref": "urn:d", "unevaluatedProperties": False, "unevaluatedItems": False},
        {
            "urn:d": {
                "$schema": D07,
                "$ref": "#/definitions/c",
                "definitions": {"c": {"properties": {"p": STRING}}},
                "properties": {"q": STRING},
                "items": [STRING],
            }
        },
        [{"p": "a"}, {"q": "a"}, ["a"], []],
        [True, False, False, True],
    ],
}


def table(cases: dict[str, Any]) -> list[Any]:
    return [pytest.param(*case, id=name) for name, case in cases.items()]


@pytest.mark.parametrize(("schema", "documents", "about"), table(AMBIGUOUS))
def test_two_schemas_of_one_name_are_rejected(
    schema: Any, documents: dict[str, Any], about: dict[str, str]
) -> None:
    """The choice would depend on property order, which the digest ignores."""
    error = schema_error(schema, documents)

    assert (ErrorReason.INVALID_SCHEMA, about) == (error.reason, error.metadata)


def test_one_schema_may_be_written_twice() -> None:
    """Generators do so, and nothing depends on which one counts."""
    schema = {"$ref": "urn:a", "$defs": {"a": A_STRING, "b": {**A_STRING}, "c": {"not": A_STRING}}}

    assert [True, False] == evaluate_all(schema, ["a", 1], {"urn:a": A_STRING})


@pytest.mark.parametrize(
    ("schema", "documents", "keyword"),
    [
        pytest.param({"$id": D2020, "type": "object"}, {}, "$id", id="the schema"),
        pytest.param({"$id": D2020 + "#", "type": "object"}, {}, "$id", id="an empty fragment"),
        pytest.param(
            {"$schema": D04, "id": D04, "type": "object"}, {}, "id", id="the keyword of draft 4"
        ),
        pytest.param(
            {"properties": {"a": {"$id": D2020, "type": "string"}, "b": {"$ref": D2020}}},
            {},
            "$id",
            id="a subschema",
        ),
        pytest.param(
            {"$ref": "urn:a"}, {"urn:a": {"$id": D2020, "type": "string"}}, "$id", id="a document"
        ),
    ],
)
def test_published_meta_schemas_cannot_be_redefined(
    schema: Any, documents: dict[str, Any], keyword: str
) -> None:
    """The error says that they are built in."""
    uri = D04 if keyword == "id" else D2020
    error = schema_error(schema, documents)

    assert (ErrorReason.INVALID_SCHEMA, {"uri": uri}) == (error.reason, error.metadata)
    assert (
        f"the URI {uri} is that of a published meta-schema, which is built in and cannot be "
        f"redefined; give the schema another {keyword}, or none" == error.message
    )


def test_two_documents_of_one_uri_are_rejected() -> None:
    """URIs that differ only in an empty fragment are equal."""
    error = schema_error(True, {"urn:a": STRING, "urn:a#": INTEGER})

    assert (ErrorReason.INVALID_REQUEST, {"uri": "urn:a"}) == (error.reason, error.metadata)


@pytest.mark.parametrize(("schema", "documents", "payloads", "verdicts"), table(OF_DIALECTS))
def test_every_resource_has_its_dialect(
    schema: Any, documents: dict[str, Any], payloads: list[Any], verdicts: list[bool]
) -> None:
    """Covers documents, resources embedded in them, and the schema."""
    assert verdicts == evaluate_all(schema, payloads, documents)


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        pytest.param(
            {"$schema": D04, "not": {"$id": "urn:e", "$schema": D2020, "prefixItems": 5}},
            "/not",
            id="of a later draft",
        ),
        pytest.param(
            {"not": {"id": "urn:e", "$schema": D04, "exclusiveMinimum": 5}},
            "/not",
            id="of an earlier draft",
        ),
    ],
)
def test_an_embedded_resource_is_checked_by_its_own_meta_schema(schema: Any, place: str) -> None:
    """The meta-schema of the enclosing schema does not apply."""
    error = schema_error(schema)

    assert ErrorReason.INVALID_SCHEMA == error.reason
    assert f"the schema at {place} is invalid against the meta-schema of" in error.message


@pytest.mark.parametrize("uri", ["http://[", "//[::1", "\x00x", "http://x:y/", "urn:", "a b", "%"])
@pytest.mark.parametrize("draft", [D2020, D07])
def test_identifiers_that_are_not_uris_are_ignored(uri: str, draft: str) -> None:
    """They may be anywhere, with or without references past them."""
    root = {"$schema": draft, "$id": uri, "properties": {"p": {"$id": "q", **STRING}}}
    embedded = {"$schema": draft, "$id": "http://x/", "properties": {"p": {"$id": uri, **STRING}}}
    aside = {"$schema": draft, "properties": {"p": {"$id": uri}, "q": STRING}}
    payloads = [{"p": "a"}, {"p": 1}]

    assert [True, False] == evaluate_all(root, payloads)
    assert [True, False] == evaluate_all(embedded, payloads)
    assert [True, False] == evaluate_all(
        {"$ref": "urn:d#/properties/q"}, ["a", 1], {"urn:d": aside}
    )
    assert [True, False] == evaluate_all({"$ref": "urn:d"}, ["a", 1], {uri: True, "urn:d": STRING})


# Differences of jsonschema-rs in embedded resources: it recognizes draft 4 by `id` only,
# loses the dynamic scope around a resource that is entered without a reference, and
# obeys a `$schema` without `$id`.
PECULIAR = {
    "an embedded draft-04 resource may be named by the $id of the schema around it",
    "a dynamic reference passes an embedded draft-07 resource",
    "$schema without $id has no effect",
}


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in VALIDATE
        if str(case.id).startswith("dialects: ")
        and "refusal" not in case.values[0]["want"]
        and case.values[0]["name"] not in PECULIAR
    ],
)
def test_jsonschema_rs_agrees_on_embedded_resources(case: dict[str, Any]) -> None:
    """All shared cases that it supports are tested."""
    documents = [
        (document["uri"], json.loads(document["json"])) for document in case.get("documents", ())
    ]
    validator = jsonschema_rs.validator_for(
        json.loads(case["schema"]), registry=jsonschema_rs.Registry(documents), offline=True
    )

    assert case["want"]["valid"] is validator.is_valid(json.loads(case["payload"]))
