"""The Python client checks by the rules of the protocol, with both of its faces."""

import json
from typing import Any

import pytest
from sidecheck import (
    CheckItem,
    CheckOptions,
    CheckResult,
    Client,
    Disposition,
    Document,
    Elicitation,
    ElicitationResult,
    ProtocolContext,
    ProtocolMessage,
    Sampling,
    Schema,
    Severity,
    SidecheckError,
    ToolDefinition,
    ToolResult,
)

CALL = '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {}}'


def codes(answer: Any) -> list[str]:
    """Return the codes of the errors that were found."""
    assert isinstance(answer, CheckResult), answer
    return [found.code for found in answer.verdict.violations if found.severity is Severity.ERROR]


async def test_rules_are_listed(client: Client) -> None:
    """All of them, by code, or those of one version."""
    rules = [rule async for rule in client.protocol.list_rules()]
    assert sorted({rule.code for rule in rules}) == [rule.code for rule in rules]
    old = [rule async for rule in client.protocol.list_rules("2024-11-05")]
    assert [rule for rule in rules if "2024-11-05" in rule.protocol_versions] == old
    assert 0 < len(old) < len(rules)


async def test_names_are_checked_together(client: Client) -> None:
    """Each by itself, and those that become the same."""
    checked = await client.protocol.check_names(["a.b", "two words", "a_b"])
    assert ["a_b", "two_words", "a_b"] == [one.sanitized for one in checked.outcomes]
    assert [True, False, True] == [one.sdk_valid for one in checked.outcomes]
    assert [("a_b", (0, 2))] == [(one.sanitized, one.places) for one in checked.collisions]


TOOL = {"name": "get_forecast", "description": "Tells.", "inputSchema": {"type": "object"}}


async def test_a_bad_tool_costs_the_others_nothing(client: Client) -> None:
    """Each has an outcome, and what is wrong with the list itself stands apart."""
    tools = [TOOL, {**TOOL, "name": "a", "inputSchema": {"type": 5}}, {**TOOL, "name": "b c"}]
    listing = {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, "nextCursor": 5}}
    checked = await client.protocol.check_tools(listing, peers=ProtocolContext("2025-11-25"))
    assert [
        ("get_forecast", "/result/tools/0", Disposition.KEEP),
        ("a", "/result/tools/1", Disposition.DROP),
        ("b c", "/result/tools/2", Disposition.WARN),
    ] == [(one.name, one.pointer, one.disposition) for one in checked.outcomes]
    assert ["/result/nextCursor"] == [
        found.instance_location for found in checked.listing.violations
    ]


async def test_definitions_are_taken_one_by_one(client: Client) -> None:
    """With documents of their own, and each in its own form."""
    schema = {"type": "object", "properties": {"city": {"$ref": "https://example.com/city"}}}
    tool = {**TOOL, "name": "by_city", "inputSchema": schema}
    document = Document("https://example.com/city", {"type": "string"})
    own = ToolDefinition(tool, (document,))
    tools: list[Any] = [own, json.dumps(tool), json.dumps(TOOL).encode()]
    for given, expected in ((tools[:1], [True]), (tools[1:], [False, True])):
        checked = await client.protocol.check_tools(given)
        assert expected == [one.verdict.valid for one in checked.outcomes]
    alone = await client.protocol.check_tools(tool, documents=[document])
    assert [("by_city", True)] == [(one.name, one.verdict.valid) for one in alone.outcomes]


async def test_a_message_comes_with_the_reply_to_send(client: Client) -> None:
    """Text is sent as it is, and the reply is ready."""
    answer = await client.protocol.check_message(
        CALL, sender="client", peers=ProtocolContext("2025-11-25")
    )
    assert ["REQUIRED"] == codes(answer)
    assert (7, -32602) == (answer.reply.value["id"], answer.reply.value["error"]["code"])


async def test_a_response_is_checked_as_what_it_answers(client: Client) -> None:
    """By the method alone, or by the request as a whole; else only its envelope."""
    result = {"jsonrpc": "2.0", "id": 1, "result": {"tools": 5}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    check, peers = client.protocol.check_message, ProtocolContext("2025-11-25")
    assert [[], ["TYPE"], ["TYPE"]] == [
        codes(await check(result, sender="server", peers=peers)),
        codes(await check(result, sender="server", answers="tools/list", peers=peers)),
        codes(await check(result, sender="server", request=request, peers=peers)),
    ]


async def test_peers_decide(client: Client) -> None:
    """The version has elicitation or not, and the client has declared it or not."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "elicitation/create",
        "params": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}},
    }
    check = client.protocol.check_message
    assert [[], True, True] == [
        codes(await check(message, sender="server", peers=ProtocolContext("2025-06-18"))),
        codes(await check(message, sender="server", peers=ProtocolContext("2025-03-26"))) != [],
        codes(await check(message, sender="server", peers=ProtocolContext("2025-06-18", {}))) != [],
    ]


async def test_the_text_contract_is_a_profile(client: Client) -> None:
    """What the specification allows it may refuse."""
    result = {"content": [{"type": "text", "text": "ok"}], "isError": False, "_meta": {}}
    assert [[], ["ADDITIONAL_PROPERTIES"]] == [
        codes(await client.protocol.check_tool_result(result)),
        codes(await client.protocol.check_tool_result(result, profile="text")),
    ]


async def test_options_say_how_much_is_told(client: Client) -> None:
    """A name of the caller's own choice is a value."""
    names, secret = ["tool of " + "x" * 200], "x" * 20
    told = await client.protocol.check_names(names)
    quiet = CheckOptions(hide_values=True, min_severity=Severity.ERROR, max_violations=1)
    left = await client.protocol.check_names(names, options=quiet)
    assert len(told.outcomes[0].verdict.violations) > 1
    assert [] == [found for found in left.outcomes[0].verdict.violations if secret in found.message]
    assert len(left.outcomes[0].verdict.violations) <= 1


async def test_a_batch_takes_all_kinds(client: Client) -> None:
    """In their order, and what cannot be checked is refused by itself."""
    items: list[CheckItem] = [
        Elicitation({"message": "?", "requestedSchema": {"type": "object", "properties": {}}}),
        ElicitationResult({"action": "perhaps"}),
        Sampling({"messages": []}),
        ToolResult({"content": []}, tool=Schema({"type": "object"})),
        ToolResult({"content": 5}),
        ProtocolMessage(CALL),
        ProtocolMessage(b"{"),
    ]
    found = await client.protocol.check_batch(items, peers=ProtocolContext("2025-11-25"))
    refused = found.pop(3)
    assert isinstance(refused, SidecheckError)
    assert [[], ["ENUM"], ["REQUIRED"], ["TYPE"], ["REQUIRED"], ["PAYLOAD_NOT_JSON"]] == [
        codes(one) for one in found
    ]


async def test_an_unknown_version_is_refused(client: Client) -> None:
    """Whatever is checked."""
    with pytest.raises(SidecheckError, match="UNKNOWN_PROTOCOL_VERSION"):
        await client.protocol.check_sampling({}, peers=ProtocolContext("2020-01-01"))


async def test_what_json_cannot_express_is_not_sent(client: Client) -> None:
    """As for payloads."""
    with pytest.raises(TypeError, match="a set has no form in JSON"):
        await client.protocol.check_elicitation_result({"action": {1}})
