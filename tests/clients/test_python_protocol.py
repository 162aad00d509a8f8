"""Protocol checks by the Python client, asynchronous and blocking, with a real server."""

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

CALL = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {}}'


def codes(result: Any) -> list[str]:
    """Return the codes of the errors of a check result."""
    assert isinstance(result, CheckResult), result
    return [
        violation.code
        for violation in result.verdict.violations
        if violation.severity is Severity.ERROR
    ]


async def test_rules_are_listed(client: Client) -> None:
    """All rules are sorted by code, and can be filtered by protocol version."""
    rules = [rule async for rule in client.protocol.list_rules()]
    assert sorted({rule.code for rule in rules}) == [rule.code for rule in rules]
    filtered = [rule async for rule in client.protocol.list_rules("2024-11-05")]
    assert [rule for rule in rules if "2024-11-05" in rule.protocol_versions] == filtered
    assert 0 < len(filtered) < len(rules)


async def test_names_are_checked_together(client: Client) -> None:
    """Every name has an outcome, and collisions are reported."""
    checked = await client.protocol.check_names(["a.b", "two words", "a_b"])
    assert ["a_b", "two_words", "a_b"] == [outcome.sanitized for outcome in checked.outcomes]
    assert [True, False, True] == [outcome.sdk_valid for outcome in checked.outcomes]
    assert [("a_b", (0, 2))] == [
        (collision.sanitized, collision.indexes) for collision in checked.collisions
    ]


TOOL = {"name": "get_forecast", "description": "Tells.", "inputSchema": {"type": "object"}}


async def test_a_bad_tool_does_not_affect_the_others(client: Client) -> None:
    """Every tool has an outcome; violations of the list itself are separate."""
    tools = [TOOL, {**TOOL, "name": "a", "inputSchema": {"type": 5}}, {**TOOL, "name": "b c"}]
    listing = {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, "nextCursor": 5}}
    checked = await client.protocol.check_tools(listing, context=ProtocolContext("2025-11-25"))
    assert [
        ("get_forecast", "/result/tools/0", Disposition.KEEP),
        ("a", "/result/tools/1", Disposition.DROP),
        ("b c", "/result/tools/2", Disposition.WARN),
    ] == [(outcome.name, outcome.pointer, outcome.disposition) for outcome in checked.outcomes]
    assert ["/result/nextCursor"] == [
        violation.instance_location for violation in checked.tools_list_verdict.violations
    ]


async def test_definitions_may_be_separate(client: Client) -> None:
    """Every definition may have documents, and may be an object or bytes."""
    schema = {"type": "object", "properties": {"city": {"$ref": "https://example.com/city"}}}
    tool = {**TOOL, "name": "by_city", "inputSchema": schema}
    document = Document("https://example.com/city", {"type": "string"})
    with_document = ToolDefinition(tool, (document,))
    tools: list[Any] = [with_document, tool, json.dumps(TOOL).encode()]
    for selected, expected in ((tools[:1], [False]), (tools[1:], [True, False])):
        checked = await client.protocol.check_tools(definitions=selected)
        assert expected == [outcome.disposition is Disposition.DROP for outcome in checked.outcomes]
    single = await client.protocol.check_tools(tool, documents=[document])
    assert [("by_city", True)] == [
        (outcome.name, outcome.verdict.valid) for outcome in single.outcomes
    ]


async def test_an_invalid_message_has_an_error_response(client: Client) -> None:
    """Text is sent unchanged, and the result has the error response to send."""
    result = await client.protocol.check_message(
        CALL, sender="client", context=ProtocolContext("2025-11-25")
    )
    assert ["REQUIRED"] == codes(result)
    assert (7, -32602) == (
        result.error_response.value["id"],
        result.error_response.value["error"]["code"],
    )


async def test_a_response_is_checked_against_its_request(client: Client) -> None:
    """The method or the request identifies its type; without them only its envelope is checked."""
    result = {"jsonrpc": "2.0", "id": 1, "result": {"tools": 5}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    check, context = client.protocol.check_message, ProtocolContext("2025-11-25")
    assert [[], ["TYPE"], ["TYPE"]] == [
        codes(await check(result, sender="server", context=context)),
        codes(await check(result, sender="server", request_method="tools/list", context=context)),
        codes(await check(result, sender="server", request=request, context=context)),
    ]


async def test_the_context_determines_the_rules(client: Client) -> None:
    """Elicitation depends on the protocol version and the capabilities of the client."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "elicitation/create",
        "params": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}},
    }
    check = client.protocol.check_message
    assert [[], True, True] == [
        codes(await check(message, sender="server", context=ProtocolContext("2025-06-18"))),
        codes(await check(message, sender="server", context=ProtocolContext("2025-03-26"))) != [],
        codes(await check(message, sender="server", context=ProtocolContext("2025-06-18", {})))
        != [],
    ]


async def test_the_text_contract_is_a_profile(client: Client) -> None:
    """The profile is stricter than the specification."""
    result = {"content": [{"type": "text", "text": "ok"}], "isError": False, "_meta": {}}
    assert [[], ["ADDITIONAL_PROPERTIES"]] == [
        codes(await client.protocol.check_tool_result(result)),
        codes(await client.protocol.check_tool_result(result, profile="text")),
    ]


async def test_options_determine_the_detail(client: Client) -> None:
    """Names are values, which can be hidden; violations can be filtered and limited."""
    names, secret = ["tool of " + "x" * 200], "x" * 20
    complete = await client.protocol.check_names(names)
    options = CheckOptions(hide_values=True, min_severity=Severity.ERROR, max_violations=1)
    limited = await client.protocol.check_names(names, options=options)
    assert len(complete.outcomes[0].verdict.violations) > 1
    assert [] == [
        violation
        for violation in limited.outcomes[0].verdict.violations
        if secret in violation.message
    ]
    assert len(limited.outcomes[0].verdict.violations) <= 1


async def test_a_batch_accepts_all_kinds_of_items(client: Client) -> None:
    """Outcomes are in order; an item that cannot be checked has an error."""
    items: list[CheckItem] = [
        Elicitation({"message": "?", "requestedSchema": {"type": "object", "properties": {}}}),
        ElicitationResult({"action": "perhaps"}),
        Sampling({"messages": []}),
        ToolResult({"content": []}, tool=Schema({"type": "object"})),
        ToolResult({"content": 5}),
        ProtocolMessage(CALL),
        ProtocolMessage(b"{"),
    ]
    outcomes = await client.protocol.check_batch(items, context=ProtocolContext("2025-11-25"))
    error = outcomes.pop(3)
    assert isinstance(error, SidecheckError)
    assert [[], ["ENUM"], ["REQUIRED"], ["TYPE"], ["REQUIRED"], ["PAYLOAD_NOT_JSON"]] == [
        codes(outcome) for outcome in outcomes
    ]


async def test_an_unknown_version_is_an_error(client: Client) -> None:
    """This applies to every check."""
    with pytest.raises(SidecheckError, match="UNKNOWN_PROTOCOL_VERSION"):
        await client.protocol.check_sampling({}, context=ProtocolContext("2020-01-01"))


async def test_what_json_cannot_express_is_not_sent(client: Client) -> None:
    """Values without a JSON form are errors."""
    with pytest.raises(ValueError, match="result: /action is of type complex, which has no JSON"):
        await client.protocol.check_elicitation_result({"action": 1j})
