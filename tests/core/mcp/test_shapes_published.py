"""Our schemas of the types accept what the published ones accept, errata aside."""

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

_OF_EACH = 20
"""How many mutations of each of the first values of a type are judged."""

_META: Any = {"type": "object", "properties": {"progressToken": {"type": ["string", "integer"]}}}


def _answers(definitions: dict[str, Any], types: list[str]) -> None:
    kind = {"type": types, "items": {"type": "string"}}
    definitions["ElicitResult"]["properties"]["content"]["additionalProperties"] = kind


def _with_meta(name: str, kind: Any) -> Callable[[dict[str, Any]], None]:
    def corrected(definitions: dict[str, Any]) -> None:
        definitions[name]["properties"]["params"]["properties"]["_meta"] = kind

    return corrected


_ANY_ANSWER = ["string", "number", "boolean", "array"]

# What each erratum makes of the published definitions.
_CORRECTIONS: Mapping[tuple[str, str, str], Callable[[dict[str, Any]], None]] = {
    ("2025-06-18", "ElicitResult", "content"): lambda d: _answers(d, _ANY_ANSWER[:-1]),
    ("2025-11-25", "ElicitResult", "content"): lambda d: _answers(d, _ANY_ANSWER),
    ("2026-07-28", "ElicitResult", "content"): lambda d: _answers(d, _ANY_ANSWER),
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
    for (of, _, _), correct in _CORRECTIONS.items():
        if of == version:
            correct(definitions_of(schema))
    return schema


@cache
def _values(version: str, name: str) -> list[Any]:
    """Return values of a type and near it, the same in each run."""
    schema = render_schema(TYPES, name, version)
    found = variants(schema, schema.get("$defs", {}))
    found += [value for of, value in official_examples() if of == name]
    chance = random.Random(f"{version} {name}")
    # The last ones have the least usual alternatives.
    chosen = [*found[:3], *found[-2:]]
    return found + [mutation for one in chosen for mutation in mutations(one, chance, _OF_EACH)]


def _disagreements(version: str, schema: dict[str, Any]) -> Iterator[tuple[str, bool, Any]]:
    """Yield the type, our verdict, and the value where *schema* does not agree with us."""
    for name in types_of(version):
        judge = judge_of(schema, version, name)
        ours = PROTOCOL_SCHEMAS(version, name).fast
        assert ours is not None
        if judge is not None:
            for value in _values(version, name):
                if ours.is_valid(value) != judge.is_valid(value):
                    yield name, ours.is_valid(value), value


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
def test_our_schemas_accept_what_the_published_ones_accept(version: str) -> None:
    assert [] == list(_disagreements(version, _corrected(version)))[:5]


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
def test_our_schemas_accept_the_values_made_from_them_and_refuse_some_mutations(
    version: str,
) -> None:
    verdicts = {}
    for name in types_of(version):
        ours = PROTOCOL_SCHEMAS(version, name).fast
        assert ours is not None
        schema = render_schema(TYPES, name, version)
        made = variants(schema, schema.get("$defs", {}))
        assert [] == [value for value in made if not ours.is_valid(value)], name
        verdicts[name] = {ours.is_valid(value) for value in _values(version, name)}
    # A type that refuses nothing is compared with nothing.
    assert {"JSONValue"} >= {name for name, seen in verdicts.items() if seen != {True, False}}


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize(("version", "type_", "member"), _CORRECTIONS, ids="-".join)
def test_an_erratum_shows_up(version: str, type_: str, member: str) -> None:
    schema = published(version)
    for key, correct in _CORRECTIONS.items():
        if key[0] == version and key[1:] != (type_, member):
            correct(definitions_of(schema))
    assert type_ in {name for name, _, _ in _disagreements(version, schema)}


def test_every_erratum_is_held_against_the_published_schema() -> None:
    listed = [(version, each.type, each.property) for each in ERRATA for version in each.versions]
    assert sorted(_CORRECTIONS) == sorted(listed)


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
def test_every_type_of_ours_is_published(version: str) -> None:
    schema = published(version)
    nowhere = {(version, n) for n in types_of(version) if judge_of(schema, version, n) is None}
    assert {each for each in UNPUBLISHED if each[0] == version} == nowhere


# Types that are no part of params or results.
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
# Ours have the newest name, or tell it with what builds on it.
_OTHERWISE = {
    ("2024-11-05", "Annotated"),
    ("2024-11-05", "ResourceReference"),
    ("2025-03-26", "ResourceReference"),
    ("2025-06-18", "EnumSchema"),
}


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
def test_every_published_type_is_ours_or_an_envelope(version: str) -> None:
    names = set(definitions_of(published(version)))
    responses = {name for name in names if name.endswith("ResultResponse")}
    known = {*types_of(version), *_ENVELOPES, *responses, *message_types(version).values()}
    assert {each for each in _OTHERWISE if each[0] == version} == {
        (version, name) for name in names - known
    }


def test_a_mutation_differs_in_one_place() -> None:
    value = {"a": [1, {"b": "c"}]}
    made = list(mutations(value, random.Random(1), 1000))
    assert value == {"a": [1, {"b": "c"}]}
    assert {"a": [1, {}]} in made
    assert {} in made
    assert {"a": [1, {"b": None}]} in made
    assert len({json.dumps(each) for each in made}) > 15
