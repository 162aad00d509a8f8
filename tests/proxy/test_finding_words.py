"""What findings say: words first, with names of the schema and without values of messages."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sidecheck_server.config.policies import Policies
from sidecheck_server.proxy.checks import Checks, NotCheckedError
from sidecheck_server.proxy.checks.remote import RemoteChecks
from sidecheck_server.proxy.finding_words import describe_code
from sidecheck_server.proxy.messages import Message, read_message
from sidecheck_server.proxy.report import Action, Finding, Report, finding_of_error
from sidecheck_server.proxy.rulings.listings import Listings
from sidecheck_server.proxy.rulings.pins import PinnedTools
from sidecheck_server.proxy.rulings.session import ProxySession
from support.running_proxy import local_checks, local_client, policies_of

SECRET = "4711-secret"
TOOL = {
    "name": "get_weather",
    "description": "Weather of a city.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 8},
            "unit": {"enum": ["C", "F"]},
            "days": {"type": "integer", "maximum": 7},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"degrees": {"type": "number"}},
        "required": ["degrees"],
    },
}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
}
INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "logging": {}},
    "serverInfo": {"name": "server", "version": "1"},
}
HANDSHAKE: list[tuple[str, Any]] = [
    ("client", {"id": 1, "method": "initialize", "params": INITIALIZE}),
    ("server", {"id": 1, "result": INITIALIZED}),
    ("client", {"method": "notifications/initialized"}),
]


def call(**arguments: Any) -> tuple[str, Any]:
    """Return a call with *arguments*."""
    params = {"name": "get_weather", "arguments": arguments}
    return "client", {"id": 2, "method": "tools/call", "params": params}


def result(**content: Any) -> tuple[str, Any]:
    """Return a result with structured *content*."""
    texts = [{"type": "text", "text": json.dumps(content)}]
    return "server", {"id": 2, "result": {"content": texts, "structuredContent": content}}


@asynccontextmanager
async def open_checks(kind: str, *, hide_values: bool) -> AsyncIterator[Checks]:
    """Yield checks in this process, or those of a running service."""
    if kind == "in process":
        with local_checks(hide_values=hide_values) as checks:
            yield checks
    else:
        async with local_client() as client:
            yield RemoteChecks(client, hide_values=hide_values)


async def lines_of(
    kind: str, messages: list[tuple[str, Any]], *, show_values: bool = False, **policies: str
) -> tuple[list[str], list[bytes]]:
    """Return the lines of the findings about *messages*, without times, and the replies."""
    lines: list[str] = []
    replies: list[bytes] = []
    report = Report(lines.append, show_values=show_values)
    chosen: Policies = policies_of(policies)

    async def list_tools(_params: Mapping[str, bytes]) -> Message:
        response = {"jsonrpc": "2.0", "id": 0, "result": {"tools": [TOOL]}}
        message = read_message(json.dumps(response).encode())
        assert isinstance(message, Message)
        return message

    async with open_checks(kind, hide_values=not show_values) as checks:
        listings = Listings(checks, chosen.tools, PinnedTools(), report, list_tools)
        async with ProxySession(checks, chosen, report, listings) as session:
            for sender, message in [*HANDSHAKE, *messages]:
                text = json.dumps({"jsonrpc": "2.0", **message}).encode()
                ruling = await session.handle(text, sender)  # type: ignore[arg-type]
                replies += [reply for reply in [ruling.reply] if reply is not None]
    return [line.split(" ", 1)[1] for line in lines], replies


CASES = [
    pytest.param(
        [call()],
        'client->server tools/call get_weather: "city" is required and missing; expected a string '
        "of at most 8 characters (REQUIRED at /params/arguments, error, passed)",
        id="a missing property",
    ),
    pytest.param(
        [call(city=SECRET)],
        "client->server tools/call get_weather: expected at most 8 characters, found 11 "
        "(MAX_LENGTH at /params/arguments/city, error, passed)",
        id="a limit",
    ),
    pytest.param(
        [call(city="Oslo", unit=SECRET)],
        'client->server tools/call get_weather: expected one of "C" or "F", found a string of 11 '
        "characters (ENUM at /params/arguments/unit, error, passed)",
        id="allowed values",
    ),
    pytest.param(
        [call(city="Oslo", dayz=SECRET)],
        'client->server tools/call get_weather: unknown property; did you mean "days"? '
        "(ADDITIONAL_PROPERTIES at /params/arguments/dayz, error, passed)",
        id="a wrong name",
    ),
    pytest.param(
        [call(city="Oslo"), result(degrees=SECRET)],
        "server->client tools/call get_weather: expected a number, found a string of 11 characters "
        "(TYPE at /result/structuredContent/degrees, error, passed)",
        id="a result",
    ),
    pytest.param(
        [
            (
                "server",
                {"method": "notifications/message", "params": {"level": SECRET, "data": 1}},
            )
        ],
        'server->client notifications/message: expected one of "debug", "info", "notice", '
        '"warning", "error", "critical", "alert" or "emergency", found a string of 11 characters '
        "(ENUM at /params/level, error, passed)",
        id="a notification",
    ),
]


@pytest.mark.parametrize("kind", ["in process", "service"])
@pytest.mark.parametrize(("messages", "line"), CASES)
async def test_a_finding_says_what_is_wrong(
    kind: str, messages: list[tuple[str, Any]], line: str
) -> None:
    """Names and limits of the schema are shown, values of the message are not."""
    lines, _ = await lines_of(kind, messages)

    assert [line] == lines
    assert SECRET not in line


@pytest.mark.parametrize("kind", ["in process", "service"])
async def test_the_model_still_gets_the_value_that_it_sent(kind: str) -> None:
    """Only findings hide it."""
    lines, replies = await lines_of(kind, [call(city="Oslo", days="soon")], arguments="enforce")
    shown, same_replies = await lines_of(
        kind, [call(city="Oslo", days="soon")], show_values=True, arguments="enforce"
    )

    facts = "(TYPE at /params/arguments/days, error, rejected)"
    start = "client->server tools/call get_weather: expected an integer, found "
    assert [f"{start}a string of 4 characters {facts}"] == lines
    assert [f'{start}the string "soon" {facts}'] == shown
    assert replies == same_replies
    assert b'found the string \\"soon\\"' in replies[0]


def test_a_code_without_an_explanation_has_words() -> None:
    """They come from the rule, from a table, or else from the code."""
    codes = ["METHOD_TYPE", "NOT_A_MESSAGE", "REQUIRED", "SOME_CODE"]

    assert [
        "violates: The method of a message MUST be a string",
        "the text is not a message",
        "a required property is missing",
        "some code",
    ] == [describe_code(code) for code in codes]


def test_a_message_that_was_not_validated_has_the_reason() -> None:
    """It is in words too."""
    lines: list[str] = []
    report = Report(lines.append)
    error = NotCheckedError("TOOLS_NOT_LISTED", f"some text with {SECRET}")
    report.add(finding_of_error(error, "client", "tools/call", "a: b", action=Action.PASSED))
    report.add(Finding(sender="server", code="NOT_A_MESSAGE", action=Action.DROPPED))

    assert [
        (
            "client->server tools/call a: b: could not be validated: the server has not listed "
            "its tools (TOOLS_NOT_LISTED, error, passed)"
        ),
        "server->client: the text is not a message (NOT_A_MESSAGE, error, dropped)",
    ] == [line.split(" ", 1)[1] for line in lines]


def test_the_summary_is_in_words() -> None:
    """It counts messages, actions and codes."""
    report = Report(lambda _: None)
    quiet = report.summary()
    report.count_message("client")
    for code in ("REQUIRED", "REQUIRED", "TOOL_DROPPED"):
        report.add(Finding(sender="client", code=code, action=Action.REJECTED))

    assert "0 messages from the client, 0 from the server; no findings" == quiet
    assert (
        "1 message from the client, 0 from the server; 3 findings (3 rejected): a required "
        "property is missing (REQUIRED): 2; a tool was taken out of the list (TOOL_DROPPED): 1"
    ) == report.summary()
