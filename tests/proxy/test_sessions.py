"""Decisions on each message of a connection by the policies: `tests/cases/proxy`."""

import json
from typing import Any

import pytest
from sidecheck_server.proxy.messages import Direction
from support.running_proxy import policies_of, proxied, shake_hands
from support.shared_material import REPOSITORY

SESSIONS = json.loads((REPOSITORY / "tests/cases/proxy/sessions.json").read_text())
TOOLS = SESSIONS["tools"]
LISTS = {"all": TOOLS, "valid": TOOLS[:1]}


def message_of(value: Any) -> Any:
    """Return the message of *value* in a case; a string is the text itself."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return [message_of(item) for item in value]
    message = {"jsonrpc": "2.0", **value}
    result = message.get("result")
    if isinstance(result, dict) and result.get("tools") in LISTS:
        message["result"] = {**result, "tools": LISTS[result["tools"]]}
    return message


@pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in SESSIONS["cases"]])
async def test_a_session(case: Any) -> None:
    """By default, a message passes byte for byte and has no reply."""
    rulings, expected = [], []
    async with proxied(LISTS[case.get("lists", "valid")], policies_of(case["policies"])) as proxy:
        await shake_hands(proxy)
        for step in case["steps"]:
            sender: Direction = "client" if "client" in step else "server"
            text = text_of(message_of(step[sender]))
            ruling = await proxy.session.handle(text, sender)
            passed = ruling.forward is text
            rulings.append(
                ("as it is" if passed else value_of(ruling.forward), value_of(ruling.reply))
            )
            expected.append(
                (
                    message_of(step["forward"]) if "forward" in step else "as it is",
                    message_of(step.get("reply")),
                )
            )

    assert expected == rulings
    assert case["findings"] == proxy.findings


def text_of(message: Any) -> bytes:
    """Return the JSON text of *message*, or the text that it is."""
    return (message if isinstance(message, str) else json.dumps(message)).encode()


def value_of(text: bytes | None) -> Any:
    """Return the value of the JSON *text*, None for none."""
    return None if text is None else json.loads(text)
