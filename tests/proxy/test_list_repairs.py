"""Lists with a fault in a part: enforcement leaves out the part, and the rest passes."""

import json
from typing import Any

import pytest
from sidecheck_server.config.policies import Policies, Policy
from support.running_proxy import policies_of, proxied, shake_hands, text_of

ENFORCE = dict.fromkeys(("arguments", "results", "messages", "tools"), "enforce")
TOOL = {"name": "echo", "description": "Returns its arguments", "inputSchema": {"type": "object"}}
LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "tools/list": ("tools", TOOL),
    "resources/list": ("resources", {"name": "a", "uri": "file:///a"}),
    "resources/templates/list": ("resourceTemplates", {"name": "a", "uriTemplate": "file:///{a}"}),
    "prompts/list": ("prompts", {"name": "a"}),
}


async def rule(method: str, result: Any, values: Any) -> tuple[bytes, bytes | None, list[str]]:
    """Return the text of *result*, what reaches the client, and the findings."""
    text = result if isinstance(result, bytes) else text_of({"id": 8, "result": result})
    async with proxied([TOOL], policies_of(values)) as proxy:
        await shake_hands(proxy)
        await proxy.session.handle(text_of({"id": 8, "method": method}), "client")
        ruling = await proxy.session.handle(text, "server")
    return text, ruling.forward, proxy.findings


FAULTS = [
    pytest.param({"annotations": None}, id="null annotations"),
    pytest.param({"_meta": None}, id="null metadata"),
    pytest.param({"title": 5}, id="a title that is a number"),
    pytest.param({"name": None}, id="a null name"),
]


@pytest.mark.parametrize("method", [*LISTS])
@pytest.mark.parametrize("fault", FAULTS)
async def test_an_item_at_fault_is_dropped(method: str, fault: Any) -> None:
    """Audit passes the list as it is."""
    if method == "prompts/list" and "annotations" in fault:
        fault = {"arguments": None}
    key, item = LISTS[method]
    result = {key: [item, {**item, "name": "b", **fault}, {**item, "name": "c"}]}
    text, forward, _ = await rule(method, result, {})
    _, enforced, findings = await rule(method, result, ENFORCE)

    assert text == forward
    assert enforced is not None
    names = [item["name"] for item in json.loads(enforced)["result"][key]]
    assert [item["name"], "c"] == names
    [dropped] = [line for line in findings if line.endswith("dropped")]
    assert f"/result/{key}/1" in dropped


@pytest.mark.parametrize("method", [*LISTS])
@pytest.mark.parametrize("name", ["nextCursor", "_meta"])
@pytest.mark.parametrize("value", [None, 5])
async def test_a_property_at_fault_is_left_out(method: str, name: str, value: Any) -> None:
    """All items pass."""
    key, item = LISTS[method]
    text, forward, _ = await rule(method, {key: [item], name: value}, {})
    _, enforced, findings = await rule(method, {key: [item], name: value}, ENFORCE)

    assert text == forward
    assert enforced is not None
    assert {key: [item]} == json.loads(enforced)["result"]
    assert [f"server {method}  TYPE /result/{name} error dropped"] == findings


@pytest.mark.parametrize("faulty", [1, 30, 100])
async def test_more_faults_than_a_verdict_lists(faulty: int) -> None:
    """Each item at fault is dropped, and only these."""
    items: list[dict[str, Any]] = [
        {"name": f"{number}", "annotations": None if number < faulty else {}}
        for number in range(100)
    ]
    resources = [{**item, "uri": "file:///a"} for item in items]
    _, enforced, findings = await rule("resources/list", {"resources": resources}, ENFORCE)

    assert enforced is not None
    names = [item["name"] for item in json.loads(enforced)["result"]["resources"]]
    assert [str(number) for number in range(faulty, 100)] == names
    assert faulty == sum(line.endswith("dropped") for line in findings)


@pytest.mark.parametrize("item", [b'{"name":"b","x":NaN}', b'{"name":"b","x":1,"x":2}'])
async def test_an_item_that_readers_read_differently(item: bytes) -> None:
    """It is dropped too; what passes was validated."""
    result = b'{"prompts":[{"name":"a"},%b,{"name":"c"}],"_meta":null}' % item
    text = b'{"jsonrpc":"2.0","id":8,"result":%b}' % result
    _, enforced, _ = await rule("prompts/list", text, {"messages": "enforce"})

    assert enforced is not None
    assert {"prompts": [{"name": "a"}, {"name": "c"}]} == json.loads(enforced)["result"]


@pytest.mark.parametrize(
    "result",
    [
        pytest.param({"prompts": None}, id="no list"),
        pytest.param({}, id="nothing"),
        pytest.param([], id="an array"),
        pytest.param({"prompts": {"name": "a"}}, id="an object in place of the list"),
    ],
)
async def test_what_no_part_repairs(result: Any) -> None:
    """It is an error."""
    _, enforced, _ = await rule("prompts/list", result, ENFORCE)

    assert enforced is not None
    assert -32603 == json.loads(enforced)["error"]["code"]


@pytest.mark.parametrize("key", ["_fastmcp", "_sentry", "my key", "a..b/c"])
@pytest.mark.parametrize("method", [*LISTS])
async def test_keys_of_metadata_pass(method: str, key: str) -> None:
    """Receivers accept keys of any form; they are reported."""
    name, item = LISTS[method]
    result = {name: [{**item, "_meta": {key: {"tags": []}}}], "_meta": {key: 1}}
    text, forward, findings = await rule(method, result, ENFORCE)

    assert text == forward
    assert {"warning passed"} == {" ".join(line.split()[-2:]) for line in findings}
    assert all(" META_KEY " in line for line in findings)


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read", "ping"])
async def test_keys_of_metadata_in_requests_pass(method: str) -> None:
    """Clients of Sentry add `_sentry`."""
    params: dict[str, dict[str, Any]] = {
        "tools/call": {"name": "echo", "arguments": {}},
        "prompts/get": {"name": "a"},
        "resources/read": {"uri": "file:///a"},
        "ping": {},
    }
    text = text_of(
        {"id": 8, "method": method, "params": {**params[method], "_meta": {"_sentry": "a"}}}
    )
    async with proxied([TOOL], policies_of(ENFORCE)) as proxy:
        await shake_hands(proxy)
        ruling = await proxy.session.handle(text, "client")

    assert text == ruling.forward
    [finding] = [line for line in proxy.findings if "META_KEY" in line]
    assert finding.endswith("META_KEY /params/_meta/_sentry warning passed")


@pytest.mark.parametrize("messages", [Policy.AUDIT, Policy.ENFORCE])
async def test_definitions_are_dropped_where_tools_are_enforced(messages: Policy) -> None:
    """The policy of tools decides on them, and that of messages on the rest."""
    policies = Policies(tools=Policy.ENFORCE, messages=messages)
    result = {"tools": [TOOL, {**TOOL, "name": "b", "annotations": None}], "nextCursor": None}
    async with proxied([TOOL], policies) as proxy:
        await shake_hands(proxy)
        await proxy.session.handle(text_of({"id": 8, "method": "tools/list"}), "client")
        ruling = await proxy.session.handle(text_of({"id": 8, "result": result}), "server")

    cursor = {} if messages is Policy.ENFORCE else {"nextCursor": None}
    assert ruling.forward is not None
    assert {"tools": [TOOL], **cursor} == json.loads(ruling.forward)["result"]
