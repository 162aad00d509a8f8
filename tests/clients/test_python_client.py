"""The Python client asks a real server, with both of its faces."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from faces import FACES, connect
from shared_material import REPOSITORY
from sidecheck import (
    Action,
    Arguments,
    Client,
    DefinitionDigest,
    Detail,
    Document,
    Item,
    Options,
    Refused,
    RegisteredTool,
    Schema,
    SchemaDigest,
    StructuredContent,
    Target,
    ToolDefinition,
    Verdict,
)

INPUT = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
OUTPUT = {"type": "object", "required": ["celsius"]}
FORECAST = {"name": "get_forecast", "inputSchema": INPUT}
ALERTS = {"name": "get_alerts", "inputSchema": {"type": "object"}, "outputSchema": OUTPUT}

REGISTERED = RegisteredTool("weather", "get_forecast")


@pytest.fixture(params=FACES)
async def client(request: pytest.FixtureRequest, server: Any) -> AsyncIterator[Client]:
    """Return a client of each face in turn, connected to an empty server."""
    async with connect(request.param, server.address, timeout=10) as connected:
        yield connected


async def register(client: Client, *definitions: dict[str, Any], **settings: Any) -> list[Action]:
    """Register the definitions for the server "weather" and return what became of each."""
    tools = [ToolDefinition(definition) for definition in definitions]
    registration = await client.register("weather", tools, **settings)
    return [outcome.action for outcome in registration.outcomes]


async def names(client: Client, server: str | None = None) -> list[str]:
    """Return the names of the tools that the server lists."""
    return [tool.name async for tool in client.list(server)]


async def test_a_registered_tool_judges(client: Client) -> None:
    """The verdict names both digests, and the revision at which the tool was there."""
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
async def test_an_invalid_payload_is_an_answer(
    client: Client, expected: list[tuple[str, str]], payload: Any
) -> None:
    """It is returned with its violations, and a text for the model."""
    await register(client, FORECAST)
    verdict = await client.validate(REGISTERED, payload)
    found = [(one.instance_pointer, one.code) for one in verdict.violations]
    assert (expected, not expected, bool(expected)) == (
        found,
        verdict.valid,
        verdict.tool_error_text != "",
    )


async def test_every_kind_of_target_judges(client: Client) -> None:
    """Tools and schemas, known to the server or sent along with their documents."""
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
    """It is judged under the output schema, which a tool need not have."""
    await register(client, FORECAST, ALERTS)
    alerts = RegisteredTool("weather", "get_alerts")
    content = [{"celsius": 3}, {}]
    assert [True, False] == [
        (await client.validate_structured_content(alerts, one)).valid for one in content
    ]
    with pytest.raises(Refused) as raised:
        await client.validate_structured_content(REGISTERED, {})
    assert ("NO_OUTPUT_SCHEMA", grpc.StatusCode.FAILED_PRECONDITION) == (
        raised.value.reason,
        raised.value.status,
    )


async def test_options_are_heeded(client: Client) -> None:
    """Those that are served, that is; the others are refused."""
    await register(client, FORECAST)
    payload = {"days": "secret"}
    cut = await client.validate(REGISTERED, payload, options=Options(max_violations=1))
    assert (1, True) == (len(cut.violations), cut.truncated)
    with pytest.raises(Refused) as raised:
        await client.validate(REGISTERED, payload, options=Options(detail=Detail.FIRST))
    assert grpc.StatusCode.UNIMPLEMENTED is raised.value.status


@pytest.mark.parametrize(
    ("expected", "target"),
    [
        pytest.param("UNKNOWN_TOOL", RegisteredTool("weather", "get_tides"), id="tool"),
        pytest.param("UNKNOWN_DEFINITION", DefinitionDigest("sha256:" + "0" * 64), id="digest"),
        pytest.param("UNKNOWN_SCHEMA", SchemaDigest("sha256:" + "0" * 64), id="schema digest"),
    ],
)
async def test_unknown_targets_are_refused(client: Client, expected: str, target: Target) -> None:
    """No judgement could be made, so none is returned."""
    with pytest.raises(Refused) as raised:
        await client.validate(target, {})
    assert (expected, grpc.StatusCode.NOT_FOUND) == (raised.value.reason, raised.value.status)


async def test_a_batch_is_answered_item_by_item(client: Client) -> None:
    """In its order, with an item's own target and options in place of the shared ones."""
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
        one.reason if isinstance(one, Refused) else one.valid for one in found
    ]


async def test_a_batch_may_be_longer_than_the_server_takes(client: Client) -> None:
    """It is split, and comes back in order."""
    await register(client, FORECAST)
    most = (await client.info()).limits.batch_items
    batch = [Item(Arguments({"city": at if at % 7 == 0 else "x"})) for at in range(most + 10)]
    found = await client.validate_batch(batch, target=REGISTERED)
    assert [at % 7 != 0 for at in range(most + 10)] == [
        isinstance(one, Verdict) and one.valid for one in found
    ]


async def test_registration_says_what_became_of_each_tool(client: Client) -> None:
    """Nothing is done twice, and nothing under *validate_only*."""
    changed = {**FORECAST, "description": "tells the weather"}
    broken = {"name": "broken"}
    assert [Action.CREATED] == await register(client, FORECAST, validate_only=True)
    assert [] == await names(client)
    assert [Action.CREATED, Action.REFUSED] == await register(client, FORECAST, broken)
    assert [Action.UNCHANGED] == await register(client, FORECAST)
    assert [Action.REFUSED] == await register(client, changed, on_change="refuse")
    assert [Action.CHANGED] == await register(client, changed, on_change="report")
    assert ["get_forecast"] == await names(client)


async def test_a_replacement_removes_what_it_does_not_name(client: Client) -> None:
    """Of the same server alone."""
    await register(client, FORECAST, ALERTS)
    await client.register("other", [ToolDefinition(ALERTS)])
    registration = await client.register("weather", [ToolDefinition(FORECAST)], replace=True)
    assert ("get_alerts",) == registration.removed
    assert ["get_alerts", "get_forecast"] == await names(client)


async def test_large_registrations_are_split(client: Client) -> None:
    """A replacement is not: in two messages it would remove its own first half."""
    tools = [
        ToolDefinition({"name": f"t{at:02}", "description": "x" * 400_000, "inputSchema": INPUT})
        for at in range(12)
    ]
    registration = await client.register("weather", tools)
    assert [(f"t{at:02}", Action.CREATED) for at in range(12)] == [
        (outcome.name, outcome.action) for outcome in registration.outcomes
    ]
    with pytest.raises(ValueError, match="cannot be split"):
        await client.register("weather", tools, replace=True)


async def test_tools_come_back_as_registered(client: Client) -> None:
    """Byte for byte, with their documents and digests."""
    text = b'{ "inputSchema": {"$ref": "https://example.com/city"}, "name": "get_forecast" }'
    document = Document("https://example.com/city", b'{ "type": "object" }')
    registration = await client.register("weather", [ToolDefinition(text, (document,))])
    tool = await client.get("weather", "get_forecast")
    assert (text, (document,), registration.outcomes[0].definition_digest) == (
        tool.json,
        tool.documents,
        tool.definition_digest,
    )


async def test_listing_goes_through_all_pages(client: Client) -> None:
    """A page holds 100 tools; the order is by server and name."""
    many = [{"name": f"t{at:03}", "inputSchema": {"type": "object"}} for at in range(101)]
    await register(client, *many)
    await client.register("another", [ToolDefinition(FORECAST)])
    expected = [tool["name"] for tool in many]
    assert expected == await names(client, "weather")
    assert ["get_forecast", *expected] == await names(client)


async def test_tools_are_removed_by_name_or_all(client: Client) -> None:
    """What was not there is told apart from what was removed."""
    await register(client, FORECAST, ALERTS)
    some = await client.delete("weather", ["get_alerts", "get_tides"])
    assert (("get_alerts",), ("get_tides",)) == (some.deleted, some.unknown)
    everything = await client.delete_all("weather")
    assert (("get_forecast",), ()) == (everything.deleted, everything.unknown)
    assert everything.registry_revision > some.registry_revision
    with pytest.raises(Refused) as raised:
        await client.delete("weather", [])
    assert grpc.StatusCode.INVALID_ARGUMENT is raised.value.status


async def test_the_server_says_what_it_is(client: Client) -> None:
    """Its default protocol version and dialect are among those that it knows."""
    info = await client.info()
    assert "https://json-schema.org/draft/2020-12/schema" == info.dialects[0]
    assert info.default_protocol_version in info.protocol_versions
    assert {"fast", "complete"} <= {engine.name for engine in info.engines}


@pytest.mark.parametrize("face", FACES)
async def test_a_socket_in_the_file_system_leads_to_the_same_server(face: str, server: Any) -> None:
    """What is registered over one address is known over the other."""
    async with connect(face, server.address) as client:
        await register(client, FORECAST)
    async with connect(face, server.unix_address) as client:
        assert (await client.validate(REGISTERED, {"city": "Oslo"})).valid


async def test_many_tasks_share_one_client(server: Any) -> None:
    """Answers go to those who asked."""
    async with Client(server.address, timeout=10) as client:
        await register(client, FORECAST)
        payloads: list[Any] = [{"city": "x"} if at % 3 else {} for at in range(200)]
        verdicts = await asyncio.gather(
            *(client.validate(REGISTERED, payload) for payload in payloads)
        )
    assert [bool(payload) for payload in payloads] == [one.valid for one in verdicts]


async def test_the_snippets_of_the_readme_work(server: Any) -> None:
    """What they print is what their comments say."""
    readme = (REPOSITORY / "clients/python/README.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", readme, re.DOTALL))
    expected = re.findall(r"print\(.*\)  # (.*)", code)
    run = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-W", "error", "-c", code.replace("127.0.0.1:50151", server.address)],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert (expected, "", 0) == (run.stdout.splitlines(), run.stderr, run.returncode)
