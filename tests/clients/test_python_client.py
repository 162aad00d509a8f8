"""The Python client with a real server, asynchronous and blocking."""

import asyncio
import re
from pathlib import Path
from typing import Any

import grpc
import pytest
from sidecheck import (
    Arguments,
    Client,
    Coercion,
    DefinitionDigest,
    Detail,
    Document,
    Item,
    OnUnknownTool,
    Options,
    RegisteredTool,
    Schema,
    SchemaDigest,
    SidecheckError,
    StructuredContent,
    Target,
    ToolDefinition,
    UnknownArguments,
    Verdict,
)
from support.clients import CLIENT_KINDS, connect
from support.running import RunningServer
from support.weather_tools import ALERTS, FORECAST, INPUT, REGISTERED, register


async def test_payloads_are_validated_against_a_registered_tool(client: Client) -> None:
    """The verdict has both digests and the revision of the registry."""
    registration = await client.register("weather", [ToolDefinition(FORECAST)])
    outcome = registration.outcomes[0]
    expected = Verdict(
        valid=True,
        definition_digest=outcome.definition_digest,
        schema_digest=outcome.input_schema_digest,
        registry_revision=registration.registry_revision,
    )
    assert expected == await client.validate(REGISTERED, {"city": "Oslo"})
    assert re.fullmatch("sha256:[0-9a-f]{64}", expected.definition_digest)


@pytest.mark.parametrize(
    ("expected", "payload"),
    [
        pytest.param([("", "REQUIRED")], {}, id="a property is missing"),
        pytest.param([("/days", "TYPE")], {"city": "Oslo", "days": "2"}, id="a wrong type"),
        pytest.param([("", "TYPE")], '{"city":"Oslo"}', id="a str is a JSON string"),
        pytest.param([("", "PAYLOAD_NOT_JSON")], b'{"city":', id="bytes are sent untouched"),
        pytest.param([], b'{"city": "Oslo"}', id="bytes are JSON text"),
        pytest.param([], {"city": "\U0001f600", "days": 2**70}, id="values survive"),
    ],
)
async def test_an_invalid_payload_has_a_verdict(
    client: Client, expected: list[tuple[str, str]], payload: Any
) -> None:
    """It is returned with its violations, and a text for the model."""
    await register(client, FORECAST)
    verdict = await client.validate(REGISTERED, payload)
    violations = [(violation.instance_location, violation.code) for violation in verdict.violations]
    assert (expected, not expected, bool(expected)) == (
        violations,
        verdict.valid,
        verdict.tool_error_text != "",
    )


async def test_every_kind_of_target_is_accepted(client: Client) -> None:
    """Tools and schemas are registered, or inline with their documents."""
    outcome = (await client.register("weather", [ToolDefinition(FORECAST)])).outcomes[0]
    text = b'{"$ref": "https://example.com/city"}'
    document = Document("https://example.com/city", INPUT)
    targets: list[Target] = [
        RegisteredTool("weather", "get_forecast", outcome.definition_digest),
        DefinitionDigest(outcome.definition_digest),
        SchemaDigest(outcome.input_schema_digest),
        ToolDefinition(FORECAST),
        Schema(text, (document,)),
        Schema(INPUT, default_dialect="http://json-schema.org/draft-07/schema#"),
    ]
    verdicts = [
        (await client.validate(target, {"city": "Oslo"}), await client.validate(target, {}))
        for target in targets
    ]
    assert [(True, False)] * len(targets) == [
        (valid.valid, invalid.valid) for valid, invalid in verdicts
    ]


async def test_structured_content_is_validated_by_the_output_schema(client: Client) -> None:
    """A tool without an output schema is an error."""
    await register(client, FORECAST, ALERTS)
    alerts = RegisteredTool("weather", "get_alerts")
    payloads = [{"celsius": 3}, {}]
    assert [True, False] == [
        (await client.validate_structured_content(alerts, payload)).valid for payload in payloads
    ]
    with pytest.raises(SidecheckError) as raised:
        await client.validate_structured_content(REGISTERED, {})
    assert ("NO_OUTPUT_SCHEMA", grpc.StatusCode.FAILED_PRECONDITION) == (
        raised.value.reason,
        raised.value.status,
    )


def report(verdict: Verdict) -> tuple[bool, list[tuple[str, str, str]], bool]:
    """Return the validity, the violations and whether they were truncated."""
    violations = [
        (violation.instance_location, violation.code, str(violation.severity))
        for violation in verdict.violations
    ]
    return verdict.valid, violations, verdict.truncated


REQUIRED = ("", "REQUIRED", "error")
TYPE = ("/days", "TYPE", "error")


@pytest.mark.parametrize(
    ("expected", "payload", "options"),
    [
        pytest.param((False, [REQUIRED, TYPE], False), {"days": "x"}, Options(), id="none"),
        pytest.param(
            (False, [TYPE], True), {"days": "x"}, Options(max_violations=1), id="max_violations"
        ),
        pytest.param(
            (False, [], True), {"days": "x"}, Options(detail=Detail.VERDICT_ONLY), id="verdict only"
        ),
        pytest.param(
            (False, [TYPE], True),
            {"days": "x"},
            Options(detail=Detail.FIRST),
            id="the first violation",
        ),
        pytest.param(
            (False, [("/land", "UNKNOWN_PROPERTY", "error")], False),
            {"city": "Oslo", "land": "no"},
            Options(unknown_arguments=UnknownArguments.REJECT),
            id="unknown arguments rejected",
        ),
        pytest.param(
            (True, [("/land", "UNKNOWN_PROPERTY", "warning")], False),
            {"city": "Oslo", "land": "no"},
            Options(unknown_arguments=UnknownArguments.REPORT),
            id="unknown arguments reported",
        ),
    ],
)
async def test_options_are_applied(
    client: Client, expected: object, payload: Any, options: Options
) -> None:
    """These are the options for detail and unknown arguments."""
    await register(client, FORECAST)
    assert expected == report(await client.validate(REGISTERED, payload, options=options))


async def test_an_unknown_tool_can_be_skipped(client: Client) -> None:
    """A verdict with a warning replaces the error."""
    tides = RegisteredTool("weather", "get_tides")
    options = Options(on_unknown_tool=OnUnknownTool.SKIP)
    expected = (True, [("", "UNKNOWN_TOOL", "warning")], False)
    assert expected == report(await client.validate(tides, {}, options=options))


REPAIRED = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"default": "celsius"},
        "at": {"type": "array"},
    },
    "required": ["city"],
}


@pytest.mark.parametrize(
    ("expected", "changes", "payload", "options"),
    [
        pytest.param(
            {"city": "Oslo", "at": [1]},
            [("/at", "JSON_STRING_DECODED", "/properties/at/type")],
            {"city": "Oslo", "at": "[1]"},
            Options(coercion=Coercion.JSON_STRINGS),
            id="JSON strings",
        ),
        pytest.param(
            {"city": "Oslo", "days": 2},
            [("/days", "STRING_TO_INTEGER", "/properties/days/type")],
            {"city": "Oslo", "days": "2"},
            Options(coercion=Coercion.SAFE_SCALARS),
            id="safe scalars",
        ),
        pytest.param(
            {"city": "Oslo"},
            [("/land", "UNKNOWN_PROPERTY_REMOVED", "/properties")],
            {"city": "Oslo", "land": "no"},
            Options(unknown_arguments=UnknownArguments.STRIP),
            id="unknown arguments",
        ),
        pytest.param(
            {"city": "Oslo", "unit": "celsius"},
            [("/unit", "DEFAULT_APPLIED", "/properties/unit/default")],
            {"city": "Oslo"},
            Options(apply_defaults=True),
            id="defaults",
        ),
    ],
)
async def test_repairs_are_returned(
    client: Client, expected: object, changes: object, payload: Any, options: Options
) -> None:
    """The repaired payload is valid, and its changes are listed."""
    repair = (await client.validate(Schema(REPAIRED), payload, options=options)).repair
    assert repair is not None
    actual = [
        (change.instance_location, change.code, change.keyword_location)
        for change in repair.changes
    ]
    assert (expected, True, changes) == (repair.value, repair.valid, actual)


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_server_can_report_only(kind: str, tmp_path: Path) -> None:
    """The verdict is marked as not enforced, and does not raise."""
    running = RunningServer(tmp_path, SIDECHECK_REPORT_ONLY='["weather"]')
    try:
        async with connect(kind, running.address, timeout=120) as client:
            await register(client, FORECAST)
            verdict = await client.validate(REGISTERED, {})
    finally:
        running.close()
    assert (False, False) == (verdict.valid, verdict.enforced)
    verdict.raise_for_invalid()


@pytest.mark.parametrize(
    ("expected", "target"),
    [
        pytest.param("UNKNOWN_TOOL", RegisteredTool("weather", "get_tides"), id="tool"),
        pytest.param("UNKNOWN_DEFINITION", DefinitionDigest("sha256:" + "0" * 64), id="digest"),
        pytest.param("UNKNOWN_SCHEMA", SchemaDigest("sha256:" + "0" * 64), id="schema digest"),
    ],
)
async def test_unknown_targets_are_errors(client: Client, expected: str, target: Target) -> None:
    """An error is raised, since no verdict is possible."""
    with pytest.raises(SidecheckError) as raised:
        await client.validate(target, {})
    assert (expected, grpc.StatusCode.NOT_FOUND) == (raised.value.reason, raised.value.status)


async def test_a_batch_has_one_outcome_per_item(client: Client) -> None:
    """Outcomes are in order; an item's target and options replace the shared ones."""
    await register(client, FORECAST, ALERTS)
    outcomes = await client.validate_batch(
        [
            Item(Arguments({"city": "Oslo"})),
            Item(Arguments({}), RegisteredTool("weather", "get_tides")),
            Item(Arguments({})),
            Item(StructuredContent({"celsius": 3}), RegisteredTool("weather", "get_alerts")),
            Item(Arguments({"days": "x"}), options=Options(max_violations=1)),
        ],
        target=REGISTERED,
    )
    assert [True, "UNKNOWN_TOOL", False, True, False] == [
        outcome.reason if isinstance(outcome, SidecheckError) else outcome.valid
        for outcome in outcomes
    ]


async def test_a_batch_may_exceed_the_limit_of_the_server(client: Client) -> None:
    """The batch is split, and outcomes are in order."""
    await register(client, FORECAST)
    limit = (await client.info()).limits.batch_items
    batch = [
        Item(Arguments({"city": index if index % 7 == 0 else "x"})) for index in range(limit + 10)
    ]
    outcomes = await client.validate_batch(batch, target=REGISTERED)
    assert [index % 7 != 0 for index in range(limit + 10)] == [
        isinstance(outcome, Verdict) and outcome.valid for outcome in outcomes
    ]


async def test_the_server_describes_itself(client: Client) -> None:
    """The default protocol version and dialect are among the supported ones."""
    info = await client.info()
    assert "https://json-schema.org/draft/2020-12/schema" == info.dialects[0]
    assert info.default_protocol_version in info.protocol_versions
    assert {"fast", "complete"} <= {engine.name for engine in info.engines}


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_unix_socket_connects_to_the_same_server(kind: str, emptied: RunningServer) -> None:
    """The registry is the same over each address."""
    async with connect(kind, emptied.address, timeout=120) as client:
        await register(client, FORECAST)
    async with connect(kind, emptied.unix_address, timeout=120) as client:
        assert (await client.validate(REGISTERED, {"city": "Oslo"})).valid


async def test_many_callers_share_one_client(client: Client) -> None:
    """Every task or thread has its own result."""
    await register(client, FORECAST)
    payloads: list[Any] = [{"city": "x"} if index % 3 else {} for index in range(200)]
    verdicts = await asyncio.gather(*(client.validate(REGISTERED, payload) for payload in payloads))
    assert [bool(payload) for payload in payloads] == [verdict.valid for verdict in verdicts]
