"""Rendered type schemas accept what the published schemas accept, errata aside."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.types.errata import ERRATA
from sidecheck_server.core.mcp.types.rendering import TYPES, render_schema
from support.published_types import (
    UNPUBLISHED,
    definitions_of,
    judge_of,
    message_types,
    official_examples,
    published,
    types_of,
)
from support.rule_cases import PROTOCOL_SCHEMAS
from support.typed_values import mutations, variants

_MUTATIONS_PER_VALUE = 20
"""Number of mutations of a value that are validated."""

_META: Any = {"type": "object", "properties": {"progressToken": {"type": ["string", "integer"]}}}


def _set_content_types(definitions: dict[str, Any], types: list[str]) -> None:
    kind = {"type": types, "items": {"type": "string"}}
    definitions["ElicitResult"]["properties"]["content"]["additionalProperties"] = kind


def _with_meta(name: str, kind: Any) -> Callable[[dict[str, Any]], None]:
    def corrected(definitions: dict[str, Any]) -> None:
        definitions[name]["properties"]["params"]["properties"]["_meta"] = kind

    return corrected


_CONTENT_TYPES = ["string", "number", "boolean", "array"]

# The correction of the published definitions by each erratum.
_CORRECTIONS: Mapping[tuple[str, str, str], Callable[[dict[str, Any]], None]] = {
    ("2025-06-18", "ElicitResult", "content"): lambda d: _set_content_types(d, _CONTENT_TYPES[:-1]),
    ("2025-11-25", "ElicitResult", "content"): lambda d: _set_content_types(d, _CONTENT_TYPES),
    ("2026-07-28", "ElicitResult", "content"): lambda d: _set_content_types(d, _CONTENT_TYPES),
    ("2026-07-28", "JSONValue", ""): lambda d: d.update(JSONValue={}),
    ("2025-11-25", "GetTaskRequestParams", "_meta"): _with_meta("GetTaskRequest", _META),
    ("2025-11-25", "GetTaskPayloadRequestParams", "_meta"): _with_meta(
        "GetTaskPayloadRequest", _META
    ),
    ("2025-11-25", "CancelTaskRequestParams", "_meta"): _with_meta("CancelTaskRequest", _META),
    ("2025-11-25", "ElicitationCompleteNotificationParams", "_meta"): _with_meta(
        "ElicitationCompleteNotification", {"type": "object"}
    ),
}


def _corrected(version: str) -> dict[str, Any]:
    schema = published(version)
    for (corrected_version, _, _), correct in _CORRECTIONS.items():
        if corrected_version == version:
            correct(definitions_of(schema))
    return schema


@cache
def _values(version: str, name: str) -> list[Any]:
    """Return valid and nearly valid values of a type, the same in every run."""
    schema = render_schema(TYPES, name, version)
    values = variants(schema, schema.get("$defs", {}))
    values += [value for type_, value in official_examples() if type_ == name]
    rng = random.Random(f"{version} {name}")
    # The last values have the rarest alternatives.
    chosen = [*values[:3], *values[-2:]]
    return values + [
        mutation for value in chosen for mutation in mutations(value, rng, _MUTATIONS_PER_VALUE)
    ]


def _disagreements(version: str, schema: dict[str, Any]) -> Iterator[tuple[str, bool, Any]]:
    """Yield type, our verdict and value wherever *schema* gives another verdict."""
    for name in types_of(version):
        published_schema = judge_of(schema, version, name)
        ours = PROTOCOL_SCHEMAS(version, name).fast
        assert ours is not None
        if published_schema is not None:
            for value in _values(version, name):
                if ours.is_valid(value) != published_schema.is_valid(value):
                    yield name, ours.is_valid(value), value


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
def test_rendered_schemas_agree_with_published_schemas(version: str) -> None:
    assert [] == list(_disagreements(version, _corrected(version)))[:5]


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
def test_rendered_schemas_accept_variants_and_reject_mutations(
    version: str,
) -> None:
    verdicts = {}
    for name in types_of(version):
        ours = PROTOCOL_SCHEMAS(version, name).fast
        assert ours is not None
        schema = render_schema(TYPES, name, version)
        valid_values = variants(schema, schema.get("$defs", {}))
        assert [] == [value for value in valid_values if not ours.is_valid(value)], name
        verdicts[name] = {ours.is_valid(value) for value in _values(version, name)}
    # The comparison of a type that rejects nothing would prove nothing.
    assert {"JSONValue"} >= {name for name, results in verdicts.items() if results != {True, False}}


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize(("version", "type_", "property_"), _CORRECTIONS, ids="-".join)
def test_an_erratum_causes_disagreements(version: str, type_: str, property_: str) -> None:
    schema = published(version)
    for key, correct in _CORRECTIONS.items():
        if key[0] == version and key[1:] != (type_, property_):
            correct(definitions_of(schema))
    assert type_ in {name for name, _, _ in _disagreements(version, schema)}


def test_every_erratum_has_a_correction() -> None:
    listed = [
        (version, erratum.type, erratum.property)
        for erratum in ERRATA
        for version in erratum.versions
    ]
    assert sorted(_CORRECTIONS) == sorted(listed)


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
def test_every_type_is_published(version: str) -> None:
    schema = published(version)
    unpublished = {(version, n) for n in types_of(version) if judge_of(schema, version, n) is None}
    assert {key for key in UNPUBLISHED if key[0] == version} == unpublished


# Published types of whole messages, which the type model leaves out.
_ENVELOPES = {
    "ClientNotification",
    "ClientRequest",
    "ClientResult",
    "HeaderMismatchError",
    "JSONRPCBatchRequest",
    "JSONRPCBatchResponse",
    "JSONRPCError",
    "JSONRPCErrorResponse",
    "JSONRPCMessage",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "JSONRPCResultResponse",
    "MissingRequiredClientCapabilityError",
    "Notification",
    "PaginatedRequest",
    "Request",
    "ServerNotification",
    "ServerRequest",
    "ServerResult",
    "URLElicitationRequiredError",
    "UnsupportedProtocolVersionError",
}
# Published types that the type model merges, or has under their newest name.
_RENAMED_OR_MERGED = {
    ("2024-11-05", "Annotated"),
    ("2024-11-05", "ResourceReference"),
    ("2025-03-26", "ResourceReference"),
    ("2025-06-18", "EnumSchema"),
}


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
def test_every_published_type_is_modelled_or_an_envelope(version: str) -> None:
    names = set(definitions_of(published(version)))
    responses = {name for name in names if name.endswith("ResultResponse")}
    known = {*types_of(version), *_ENVELOPES, *responses, *message_types(version).values()}
    assert {key for key in _RENAMED_OR_MERGED if key[0] == version} == {
        (version, name) for name in names - known
    }


def test_a_mutation_differs_in_one_place() -> None:
    value = {"a": [1, {"b": "c"}]}
    mutated = list(mutations(value, random.Random(1), 1000))
    assert value == {"a": [1, {"b": "c"}]}
    assert {"a": [1, {}]} in mutated
    assert {} in mutated
    assert {"a": [1, {"b": None}]} in mutated
    assert len({json.dumps(mutation) for mutation in mutated}) > 15
