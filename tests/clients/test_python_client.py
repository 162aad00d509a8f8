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
    found = [(one.instance_location, one.code) for one in verdict.violations]
    assert (expected, not expected, bool(expected)) == (
        found,
        verdict.valid,
        verdict.tool_error_text != "",
    )


async def test_every_kind_of_target_is_accepted(client: Client) -> None:
    """Tools and schemas, registered or sent inline with their documents."""
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
    assert [(True, False)] * len(targets) == [(yes.valid, no.valid) for yes, no in verdicts]


async def test_structured_content_has_a_schema_of_its_own(client: Client) -> None:
    """It is validated against the output schema, if there is one."""
    await register(client, FORECAST, ALERTS)
    alerts = RegisteredTool("weather", "get_alerts")
    content = [{"celsius": 3}, {}]
    assert [True, False] == [
        (await client.validate_structured_content(alerts, one)).valid for one in content
    ]
    with pytest.raises(SidecheckError) as raised:
        await client.validate_structured_content(REGISTERED, {})
    assert ("NO_OUTPUT_SCHEMA", grpc.StatusCode.FAILED_PRECONDITION) == (
        raised.value.reason,
        raised.value.status,
    )


def told(verdict: Verdict) -> tuple[bool, list[tuple[str, str, str]], bool]:
    """Return the validity, the violations and whether they were truncated."""
    found = [(one.instance_location, one.code, str(one.severity)) for one in verdict.violations]
    return verdict.valid, found, verdict.truncated


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
            id="unknown arguments refused",
        ),
        pytest.param(
            (True, [("/land", "UNKNOWN_PROPERTY", "warning")], False),
            {"city": "Oslo", "land": "no"},
            Options(unknown_arguments=UnknownArguments.REPORT),
            id="unknown arguments reported",
        ),
    ],
)
async def test_options_are_heeded(
    client: Client, expected: object, payload: Any, options: Options
) -> None:
    """Those for the detail and for unknown arguments."""
    await register(client, FORECAST)
    assert expected == told(await client.validate(REGISTERED, payload, options=options))


async def test_an_unknown_tool_can_be_skipped(client: Client) -> None:
    """A verdict with a warning replaces the error."""
    tides = RegisteredTool("weather", "get_tides")
    options = Options(on_unknown_tool=OnUnknownTool.SKIP)
    expected = (True, [("", "UNKNOWN_TOOL", "warning")], False)
    assert expected == told(await client.validate(tides, {}, options=options))


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
    """The repaired payload is valid, and every change of it is listed."""
    repair = (await client.validate(Schema(REPAIRED), payload, options=options)).repair
    assert repair is not None
    found = [(one.instance_location, one.code, one.keyword_location) for one in repair.changes]
    assert (expected, True, changes) == (repair.value, repair.valid, found)


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_server_can_report_only(kind: str, tmp_path: Path) -> None:
    """The verdict says so, and is not raised."""
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
    """No verdict is possible, so none is returned."""
    with pytest.raises(SidecheckError) as raised:
        await client.validate(target, {})
    assert (expected, grpc.StatusCode.NOT_FOUND) == (raised.value.reason, raised.value.status)


async def test_a_batch_has_one_outcome_per_item(client: Client) -> None:
    """In order; an item's own target and options replace the shared ones."""
    await register(client, FORECAST, ALERTS)
    found = await client.validate_batch(
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
        one.reason if isinstance(one, SidecheckError) else one.valid for one in found
    ]


async def test_a_batch_may_exceed_the_limit_of_the_server(client: Client) -> None:
    """It is split, and comes back in order."""
    await register(client, FORECAST)
    most = (await client.info()).limits.batch_items
    batch = [Item(Arguments({"city": at if at % 7 == 0 else "x"})) for at in range(most + 10)]
    found = await client.validate_batch(batch, target=REGISTERED)
    assert [at % 7 != 0 for at in range(most + 10)] == [
        isinstance(one, Verdict) and one.valid for one in found
    ]


async def test_the_server_says_what_it_is(client: Client) -> None:
    """The default protocol version and dialect are among the supported ones."""
    info = await client.info()
    assert "https://json-schema.org/draft/2020-12/schema" == info.dialects[0]
    assert info.default_protocol_version in info.protocol_versions
    assert {"fast", "complete"} <= {engine.name for engine in info.engines}


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_socket_leads_to_the_same_server(kind: str, emptied: RunningServer) -> None:
    """The registry is the same over each address."""
    async with connect(kind, emptied.address, timeout=120) as client:
        await register(client, FORECAST)
    async with connect(kind, emptied.unix_address, timeout=120) as client:
        assert (await client.validate(REGISTERED, {"city": "Oslo"})).valid


async def test_many_callers_share_one_client(client: Client) -> None:
    """Tasks or threads: each caller gets its own result."""
    await register(client, FORECAST)
    payloads: list[Any] = [{"city": "x"} if at % 3 else {} for at in range(200)]
    verdicts = await asyncio.gather(*(client.validate(REGISTERED, one) for one in payloads))
    assert [bool(payload) for payload in payloads] == [one.valid for one in verdicts]
