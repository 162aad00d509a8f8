"""The protocol version of a client, for requests that name none."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sidecheck import (
    Arguments,
    BlockingClient,
    Client,
    ConversionOptions,
    Item,
    ModelApi,
    Options,
    ProtocolContext,
    ProtocolMessage,
    Schema,
    SidecheckError,
    ToolDefinition,
)
from sidecheck.testing import BlockingFakeValidator, FakeValidator
from support.clients import CLIENT_KINDS, connect
from support.running import RunningServer
from support.weather_tools import FORECAST

#: A version that every request with it reports.
UNKNOWN = "2020-01-01"
NAMED = "2025-11-25"
TARGET, TOOL = Schema(True), ToolDefinition(FORECAST)
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
CALL = {"id": "1", "type": "function", "function": {"name": "get_forecast", "arguments": "{}"}}


def options(version: str) -> Options | None:
    return Options(protocol_version=version, max_violations=3) if version else None


def context(version: str) -> ProtocolContext | None:
    return ProtocolContext(version, {}) if version else None


async def convert_call(client: Client, version: str) -> Any:
    converted = await client.conversion.convert_tools(
        ModelApi.OPENAI_CHAT, FORECAST, options=ConversionOptions(protocol_version=NAMED)
    )
    return await client.conversion.convert_tool_call(
        CALL, converted.mappings, tool=TOOL, options=options(version)
    )


#: Each kind of request, with its own protocol version or, for "", without.
REQUESTS: dict[str, Callable[[Client, str], Awaitable[Any]]] = {
    "validate": lambda c, v: c.validate(TARGET, {}, options=options(v)),
    "validate, with options": lambda c, v: c.validate(
        TARGET, {}, options=Options(protocol_version=v)
    ),
    "validate_structured_content": lambda c, v: c.validate_structured_content(
        TARGET, {}, options=options(v)
    ),
    "validate_call": lambda c, v: c.validate_call(TOOL, {"name": "x"}, options=options(v)),
    "validate_call_result": lambda c, v: c.validate_call_result(TOOL, {}, options=options(v)),
    "validate_batch": lambda c, v: c.validate_batch(
        [Item(Arguments({}))], target=TARGET, options=options(v)
    ),
    "validate_batch, with options of the item": lambda c, v: c.validate_batch(
        [Item(Arguments({}), TARGET, Options(protocol_version=v))],
        options=Options(protocol_version=NAMED),
    ),
    "register": lambda c, v: c.register("weather", FORECAST, protocol_version=v),
    "check_names": lambda c, v: c.protocol.check_names(["a"], context=context(v)),
    "check_tools": lambda c, v: c.protocol.check_tools(FORECAST, context=context(v)),
    "check_elicitation": lambda c, v: c.protocol.check_elicitation({}, context=context(v)),
    "check_elicitation_result": lambda c, v: c.protocol.check_elicitation_result(
        {}, context=context(v)
    ),
    "check_sampling": lambda c, v: c.protocol.check_sampling({}, context=context(v)),
    "check_tool_result": lambda c, v: c.protocol.check_tool_result({}, context=context(v)),
    "normalize_tool_result": lambda c, v: c.protocol.normalize_tool_result(1, context=context(v)),
    "check_message": lambda c, v: c.protocol.check_message(PING, context=context(v)),
    "check_message, with capabilities": lambda c, v: c.protocol.check_message(
        PING, context=ProtocolContext(v, {})
    ),
    "check_batch": lambda c, v: c.protocol.check_batch([ProtocolMessage(PING)], context=context(v)),
    "convert_tools": lambda c, v: c.conversion.convert_tools(
        ModelApi.OPENAI_CHAT, FORECAST, options=ConversionOptions(protocol_version=v) if v else None
    ),
    "convert_tool_call": convert_call,
    "convert_tool_result": lambda c, v: c.conversion.convert_tool_result(
        ModelApi.OPENAI_CHAT, {"content": []}, call_id="1", context=context(v)
    ),
    "adapt_tool": lambda c, v: c.inference.adapt_tool(FORECAST, v),
}


async def reason(response: Awaitable[Any]) -> str:
    """Return the reason of the error of a request or of its only item, or ""."""
    try:
        result = await response
    except SidecheckError as error:
        return error.reason
    outcome = result[0] if isinstance(result, list) else result
    return outcome.reason if isinstance(outcome, SidecheckError) else ""


@pytest.mark.parametrize("kind", CLIENT_KINDS)
@pytest.mark.parametrize("name", REQUESTS)
async def test_requests_without_a_version_have_that_of_the_client(
    name: str, kind: str, emptied: RunningServer
) -> None:
    """Their own version takes precedence, and without either it is that of the server."""
    request = REQUESTS[name]
    async with connect(kind, emptied.address, timeout=120, protocol_version=UNKNOWN) as client:
        assert ["UNKNOWN_PROTOCOL_VERSION", ""] == [
            await reason(request(client, version)) for version in ("", NAMED)
        ]
    async with connect(kind, emptied.address, timeout=120) as client:
        assert ["", "UNKNOWN_PROTOCOL_VERSION"] == [
            await reason(request(client, version)) for version in ("", UNKNOWN)
        ]


def test_streams_and_sessions_have_the_version_of_the_client(emptied: RunningServer) -> None:
    """Items of a stream may have options of their own; a session has one context."""
    items = [
        ("default", Item(Arguments({}), TARGET)),
        ("named", Item(Arguments({}), TARGET, Options(protocol_version=NAMED))),
        ("options", Item(Arguments({}), TARGET, Options(max_violations=3))),
    ]
    with BlockingClient(emptied.address, timeout=120, protocol_version=UNKNOWN) as client:
        outcomes = client.validate_stream(items[1:], options=Options(protocol_version=NAMED))
        reasons = {id_: getattr(outcome, "reason", "") for id_, outcome in outcomes}
        assert {"named": "", "options": "UNKNOWN_PROTOCOL_VERSION"} == reasons
        reasons = {
            id_: getattr(outcome, "reason", "")
            for id_, outcome in client.validate_stream(items[:2])
        }
        assert {"default": "UNKNOWN_PROTOCOL_VERSION", "named": ""} == reasons
        with client.protocol.session(context=ProtocolContext(NAMED)) as session:
            assert session.check(PING, sender="client").verdict.valid
        with (
            client.protocol.session() as session,
            pytest.raises(SidecheckError, match="UNKNOWN_PROTOCOL_VERSION"),
        ):
            session.check(PING, sender="client")


def test_rules_are_listed_for_all_versions(emptied: RunningServer) -> None:
    """The default version of the client does not apply."""
    with BlockingClient(emptied.address, timeout=120, protocol_version=NAMED) as client:
        assert len([*client.protocol.list_rules(NAMED)]) < len([*client.protocol.list_rules()])


@pytest.mark.parametrize("kind", [Client, BlockingClient])
def test_a_version_is_a_str(kind: Any) -> None:
    """A tuple or a number is an error at once."""
    with pytest.raises(TypeError, match="protocol_version must be a str, not float"):
        kind("localhost:1", protocol_version=2025.11)


async def test_fakes_record_the_version() -> None:
    """Recorded calls have the options that the client would have sent."""
    items = [
        Item(Arguments(1), TARGET),
        Item(Arguments(2), TARGET, Options(max_violations=3)),
        Item(Arguments(3), TARGET, Options(protocol_version=UNKNOWN)),
    ]
    default = Options(protocol_version=NAMED)
    expected = [
        Item(Arguments(1), TARGET, default),
        Item(Arguments(2), TARGET, Options(protocol_version=NAMED, max_violations=3)),
        Item(Arguments(3), TARGET, Options(protocol_version=UNKNOWN)),
    ]
    fake = FakeValidator(protocol_version=NAMED)
    await fake.validate_batch(items)
    assert expected == fake.calls
    blocking = BlockingFakeValidator(protocol_version=NAMED)
    list(blocking.validate_stream([(str(item), item) for item in items]))
    blocking.validate(TARGET, 1)
    assert [*expected, expected[0]] == blocking.calls
