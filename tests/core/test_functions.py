"""The public functions of the core have the same answers as the services."""

import json
from typing import Any

import pytest
import sidecheck
from sidecheck import Schema, ToolDefinition
from sidecheck_server import core
from sidecheck_server.core import ModelApi, RequestError
from support.running_proxy import local_client

TOOL = {
    "name": "repeat",
    "description": "Repeats.",
    "inputSchema": {
        "type": "object",
        "properties": {"count": {"type": "integer", "minimum": 1}, "text": {"type": "string"}},
        "required": ["count"],
    },
    "outputSchema": {"type": "object", "properties": {"texts": {"type": "array"}}},
}
OTHER = {"name": "other tool", "inputSchema": {"type": "array"}}
CALL: dict[str, Any] = {"name": "repeat", "arguments": {"count": "2"}}


def text_of(value: Any) -> bytes:
    return json.dumps(value).encode()


def request(method: str, params: Any = None, id_: int = 1) -> Any:
    message = {"jsonrpc": "2.0", "id": id_, "method": method}
    return message if params is None else {**message, "params": params}


def codes(violations: Any) -> list[tuple[str, str]]:
    return [(violation.code, violation.instance_location) for violation in violations]


def test_every_public_name_exists() -> None:
    """Every form of import works; other names raise AttributeError."""
    assert dict.fromkeys(core.__all__, True) == {
        name: getattr(core, name) is not None for name in core.__all__
    }
    with pytest.raises(AttributeError, match="has no attribute 'evaluate_all'"):
        _ = core.evaluate_all


@pytest.mark.parametrize(
    "payload", [b'{"count":1}', b'{"count":0}', b'{"text":1}', b"{", b'{"count":1,"count":2}']
)
async def test_a_payload(payload: bytes) -> None:
    """Validated against the schema, with the violations that the service has."""
    schema = core.compile_schema(text_of(TOOL["inputSchema"]))
    async with local_client() as client:
        verdict = await client.validate(Schema(text_of(TOOL["inputSchema"])), payload)

    assert codes(verdict.violations) == codes(core.validate(schema, payload).violations)


@pytest.mark.parametrize(
    "schema", [b"{", b'{"type":"nothing"}', b'{"$ref":"#/gone"}', b'{"pattern":"("}']
)
async def test_a_schema_that_cannot_be_used(schema: bytes) -> None:
    """It has the reason that the service tells."""
    with pytest.raises(RequestError) as raised:
        core.compile_schema(schema)
    async with local_client() as client:
        with pytest.raises(sidecheck.SidecheckError) as excinfo:
            await client.validate(Schema(schema), b"{}")

    assert excinfo.value.reason == raised.value.reason.value


@pytest.mark.parametrize(
    "message",
    [
        request("ping"),
        request("tools/call", CALL),
        request("tools/call", {"name": 1}),
        request("tools/list", {"cursor": 1}),
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL, OTHER]}},
        {"jsonrpc": "1.0"},
        [],
    ],
)
async def test_a_message(message: Any) -> None:
    """It is checked without a session."""
    async with local_client() as client:
        checked = await client.protocol.check_message(
            text_of(message),
            sender="client",
            context=sidecheck.ProtocolContext(protocol_version="2025-11-25"),
        )

    verdict = core.check_message(text_of(message), "2025-11-25", "client")
    assert codes(checked.verdict.violations) == codes(verdict.violations)


async def test_a_session() -> None:
    """Its messages depend on those before, and one that is too large is only left out."""
    messages = [
        ("client", request("tools/list")),
        ("server", {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL, OTHER]}}),
        ("client", request("tools/call", CALL, 2)),
        ("server", {"jsonrpc": "2.0", "id": 2, "result": {"content": []}}),
        ("server", {"jsonrpc": "2.0", "id": 2, "result": {"content": []}}),
    ]
    session = core.MessageSession()
    outcomes = [codes(session.check(text_of(text), side).violations) for side, text in messages]  # type: ignore[arg-type]
    async with local_client() as client, client.protocol.session() as checked:
        summaries = [
            codes((await checked.check(text_of(text), sender=side)).verdict.violations)  # type: ignore[arg-type]
            for side, text in messages
        ]

    assert summaries == outcomes
    with pytest.raises(RequestError, match="LIMIT_EXCEEDED"):
        session.check(b" " * (core.Limits().payload_bytes + 1), "client")
    assert () == session.check(text_of(request("ping", id_=3)), "client").violations


async def test_tools() -> None:
    """Each definition of a list has an outcome of its own."""
    tools = text_of({"tools": [TOOL, OTHER, 1, TOOL]})
    async with local_client() as client:
        checked = await client.protocol.check_tools(
            tools, context=sidecheck.ProtocolContext(protocol_version="2025-11-25")
        )

    assert [
        (outcome.name, outcome.pointer, codes(outcome.verdict.violations))
        for outcome in checked.outcomes
    ] == [
        (outcome.name, outcome.pointer, codes(outcome.verdict.violations))
        for outcome in core.check_tools(tools, "2025-11-25")
    ]


@pytest.mark.parametrize("api", list(ModelApi))
async def test_tools_of_an_api(api: ModelApi) -> None:
    """Converted as the service does, with the reason of each that cannot be."""
    definitions = [text_of(TOOL), text_of(OTHER)]
    converted = core.convert_tools(definitions, api)
    async with local_client() as client:
        converted_tools = await client.conversion.convert_tools(
            sidecheck.ModelApi(api.value), [ToolDefinition(text) for text in definitions]
        )

    assert [
        conversion.outcome.reason
        if isinstance(conversion.outcome, sidecheck.SidecheckError)
        else (conversion.outcome.name, conversion.outcome.json, conversion.outcome.mapping)
        for conversion in converted_tools.conversions
    ] == [
        conversion.reason.value
        if isinstance(conversion, RequestError)
        else (conversion.name, json.loads(conversion.json), conversion.mapping)
        for conversion in converted
    ]


@pytest.mark.parametrize(
    ("arguments", "read", "violations"),
    [
        ('{"count":1,"text":"a"}', b'{"count":1,"text":"a"}', []),
        ('{"count":0}', b'{"count":0}', [("MINIMUM", "/count")]),
        ("{", b"", [("PAYLOAD_NOT_JSON", "/function/arguments")]),
    ],
)
def test_a_call_of_a_model(arguments: str, read: bytes, violations: list[tuple[str, str]]) -> None:
    """It becomes arguments for the original tool, with their verdict."""
    [tool] = core.convert_tools([text_of(TOOL)], ModelApi.OPENAI_CHAT)
    assert not isinstance(tool, RequestError)
    call = {"id": "7", "type": "function", "function": {"name": "repeat", "arguments": arguments}}
    answer = core.convert_call(text_of(call), [tool.mapping], text_of(TOOL))

    assert ("repeat", "7", read, violations) == (
        answer.tool,
        answer.id,
        answer.arguments,
        codes(answer.verdict.violations),
    )


def test_a_call_for_another_definition() -> None:
    """Its mapping does not fit."""
    [tool] = core.convert_tools([text_of(TOOL)], ModelApi.OPENAI_CHAT)
    assert not isinstance(tool, RequestError)
    call = {"id": "7", "type": "function", "function": {"name": "repeat", "arguments": "{}"}}
    with pytest.raises(RequestError, match="MAPPING_MISMATCH"):
        core.convert_call(text_of(call), [tool.mapping], text_of({**TOOL, "title": "x"}))


def test_changes_of_tools() -> None:
    """Tools of both sides are paired by name; others are added or removed."""
    narrower = {**TOOL, "inputSchema": {**TOOL["inputSchema"], "required": ["count", "text"]}}  # type: ignore[dict-item]
    compared = core.compare_tools([text_of(TOOL), text_of(OTHER)], [text_of(narrower)])

    assert [("repeat", "changed"), ("other tool", "removed")] == [
        (tool.name, str(tool.status)) for tool in compared.tools
    ]
    assert compared.differs


@pytest.mark.parametrize(
    ("value", "violations"),
    [
        (b'{"texts":["a"]}', []),
        (b'{"texts":1}', [("TYPE", "/structuredContent/texts")]),
        (b"[1]", [("TYPE", "/structuredContent")]),
    ],
)
def test_a_result(value: bytes, violations: list[tuple[str, str]]) -> None:
    """Content has the form of the output schema, or violations say what it lacks."""
    result, verdict = core.normalize_result(value, text_of(TOOL), "2025-11-25")

    assert json.loads(value) in (
        json.loads(result).get("structuredContent"),
        json.loads(json.loads(result)["content"][0]["text"]),
    )
    assert violations == codes(verdict.violations)


def test_an_unknown_version() -> None:
    """Every function rejects it."""
    for function in (core.check_message, core.check_tools):
        with pytest.raises(RequestError, match="UNKNOWN_PROTOCOL_VERSION"):
            function(b"{}", "2020-01-01")
