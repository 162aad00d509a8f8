"""Exemptions from enforcement: what they let pass, and what never passes."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sidecheck_server.config.exemptions import Exemptions
from sidecheck_server.proxy.rulings.pins import PinnedTools
from support.running_proxy import policies_of, proxied, shake_hands, text_of
from support.stdio_proxy import PROXY, SERVER, Proxy, codes

from docs.generate.codes import TABLES

ENFORCE = dict.fromkeys(("arguments", "results", "messages", "tools"), "enforce")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOL = {"name": "add", "description": "Adds", "inputSchema": SCHEMA, "outputSchema": SCHEMA}
BROKEN = {**TOOL, "name": "broken", "annotations": None}
READ = {"id": 8, "method": "resources/read", "params": {"uri": 5}}


def call(tool: str = "add", **arguments: Any) -> Any:
    """Return a call of *tool*."""
    return {"id": 8, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


ADMITTED = [
    pytest.param(["TYPE"], call(n="a"), "TYPE /params/arguments/n", id="the code of a schema"),
    pytest.param(["REQUIRED"], call(), "REQUIRED /params/arguments", id="another one"),
    pytest.param(["tool:add"], call(n="a"), "TYPE /params/arguments/n", id="the tool"),
    pytest.param(["method:tools/call"], call(), "REQUIRED /params/arguments", id="its method"),
    pytest.param(["TYPE"], READ, "TYPE /params/uri", id="the code of a request"),
    pytest.param(["method:resources/read"], READ, "TYPE /params/uri", id="the method of a request"),
]
REJECTED = [
    pytest.param(["REQUIRED"], call(n="a"), id="another code"),
    pytest.param(["tool:other"], call(n="a"), id="another tool"),
    pytest.param(["method:tools/list"], call(n="a"), id="another method"),
    pytest.param(["TYPE"], call(m="a"), id="a code that is missing"),
    pytest.param(["method:prompts/get"], READ, id="another method of a request"),
]


@pytest.mark.parametrize(("allow", "message", "finding"), ADMITTED)
async def test_requests_that_pass(allow: list[str], message: Any, finding: str) -> None:
    """Their findings stay, marked as allowed."""
    text = text_of(message)
    async with proxied([TOOL], policies_of({**ENFORCE, "allow": allow})) as proxy:
        await shake_hands(proxy)
        ruling = await proxy.session.handle(text, "client")

    assert text == ruling.forward
    [reported] = proxy.findings
    assert reported.endswith(f"{finding} error allowed")


@pytest.mark.parametrize(("allow", "message"), REJECTED)
async def test_requests_that_do_not_pass(allow: list[str], message: Any) -> None:
    """An exemption covers nothing else."""
    async with proxied([TOOL], policies_of({**ENFORCE, "allow": allow})) as proxy:
        await shake_hands(proxy)
        ruling = await proxy.session.handle(text_of(message), "client")

    assert None is ruling.forward
    assert ruling.reply is not None
    assert all(finding.endswith("rejected") for finding in proxy.findings)


@pytest.mark.parametrize("allow", ["TYPE", "tool:add", "method:tools/call"])
async def test_results_that_pass(allow: str) -> None:
    """They are those of the tool or the method, or have the fault."""
    async with proxied([TOOL], policies_of({**ENFORCE, "allow": [allow]})) as proxy:
        await shake_hands(proxy)
        await proxy.session.handle(text_of(call(n=1)), "client")
        result = {
            "content": [{"type": "text", "text": '{"n":"a"}'}],
            "structuredContent": {"n": "a"},
        }
        text = text_of({"id": 8, "result": result})
        ruling = await proxy.session.handle(text, "server")

    assert text == ruling.forward
    [finding] = proxy.findings
    assert finding.endswith("TYPE /result/structuredContent/n error allowed")


@pytest.mark.parametrize("allow", ["NULL_PROPERTY", "tool:broken", "method:tools/list"])
async def test_definitions_that_pass(allow: str) -> None:
    """Calls of the tool pass too."""
    async with proxied([TOOL], policies_of({**ENFORCE, "allow": [allow]})) as proxy:
        await shake_hands(proxy)
        await proxy.session.handle(text_of({"id": 7, "method": "tools/list"}), "client")
        text = text_of({"id": 7, "result": {"tools": [TOOL, BROKEN]}})
        ruling = await proxy.session.handle(text, "server")
        called = text_of(call("broken", n=1))
        call_ruling = await proxy.session.handle(called, "client")

    assert (text, called) == (ruling.forward, call_ruling.forward)
    [finding] = proxy.findings
    assert finding.endswith("NULL_PROPERTY /result/tools/1/annotations error allowed")


@pytest.mark.parametrize(
    ("allow", "passes"),
    [
        ("tool:add", False),
        ("method:tools/call", False),
        ("DUPLICATE_KEY", True),
        ("PAYLOAD_NOT_JSON", False),
    ],
)
async def test_ambiguity_needs_its_code(allow: str, passes: bool) -> None:
    """Readers of such a message may see something else than what was validated."""
    text = (
        b'{"jsonrpc":"2.0","id":8,"method":"tools/call",'
        b'"params":{"name":"add","name":"add","arguments":{"n":1}}}'
    )
    async with proxied([TOOL], policies_of({**ENFORCE, "allow": [allow]})) as proxy:
        await shake_hands(proxy)
        ruling = await proxy.session.handle(text, "client")

    assert (text if passes else None) == ruling.forward


@pytest.mark.parametrize("allow", ["tool:add", "method:tools/call", "method:tools/list"])
async def test_pins_have_no_exemptions(allow: str, tmp_path: Path) -> None:
    """A tool that differs from the lock file is neither listed nor called."""
    pins = PinnedTools(path=tmp_path / "pins.json")
    pins.note_definition("add", b"{}")
    pins.complete({"add"})
    async with proxied([TOOL], policies_of({"allow": [allow]}), pins) as proxy:
        await shake_hands(proxy)
        await proxy.session.handle(text_of({"id": 7, "method": "tools/list"}), "client")
        listed = text_of({"id": 7, "result": {"tools": [TOOL]}})
        ruling = await proxy.session.handle(listed, "server")
        call_ruling = await proxy.session.handle(text_of(call(n=1)), "client")

    assert ruling.forward is not None
    assert [] == json.loads(ruling.forward)["result"]["tools"]
    assert None is call_ruling.forward


async def test_responses_without_a_request_pass_by_their_code() -> None:
    """Under every spelling of the id."""
    policies = policies_of({**ENFORCE, "allow": ["RESPONSE_WITHOUT_REQUEST"]})
    async with proxied([TOOL], policies) as proxy:
        await shake_hands(proxy)
        await proxy.session.handle(text_of({"id": 8, "method": "ping"}), "client")
        texts = [text_of({"id": id_, "result": {}}) for id_ in ("8", 9)]
        rulings = [await proxy.session.handle(text, "server") for text in texts]

    assert texts == [ruling.forward for ruling in rulings]
    assert {"allowed"} == {finding.split()[-1] for finding in proxy.findings}


async def test_errors_beyond_the_limit_of_a_verdict_are_unknown() -> None:
    """So an exemption by code does not cover them; that of the tool does."""
    items = {"type": "array", "items": {"type": "integer"}}
    schema = {"type": "object", "properties": {"list": items}}
    message = call(list=["a"] * 100)
    outcomes = []
    for allow in ("TYPE", "tool:add"):
        policies = policies_of({"arguments": "enforce", "allow": [allow]})
        async with proxied([{**TOOL, "inputSchema": schema}], policies) as proxy:
            await shake_hands(proxy)
            ruling = await proxy.session.handle(text_of(message), "client")
        outcomes.append(ruling.forward is not None)

    assert [False, True] == outcomes


def test_every_code_of_a_schema_is_known() -> None:
    """As the reference lists them."""
    names = TABLES["Keywords of JSON Schema"]

    assert frozenset(names) == Exemptions.parse(names).codes


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("META_KY", 'unknown code "META_KY"; did you mean META_KEY?'),
        ("meta_key", 'unknown code "meta_key"; did you mean META_KEY?'),
        ("XQZ", 'unknown code "XQZ"; the findings of the proxy name the codes'),
        ("TOOL_CHANGED", '"TOOL_CHANGED" cannot be allowed'),
        ("tools:add", '"tools:add": expected CODE, tool:NAME or method:NAME'),
        ("tool:", '"tool:": expected CODE, tool:NAME or method:NAME'),
    ],
)
def test_exemptions_that_are_wrong(text: str, error: str) -> None:
    """They are errors of the command."""
    run = subprocess.run(
        [*PROXY[:-1], "--allow", text, "--", *SERVER],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )

    assert 2 == run.returncode
    assert f"Error: --allow: {error}" in run.stderr


def test_exemptions_of_the_command() -> None:
    """The option may be repeated."""
    proxy = Proxy("--enforce", "--allow", "FORMAT", "--allow", "tool:echo")
    proxy.shake_hands()
    proxy.call(2, do=5)
    response = proxy.receive()
    _, _, err = proxy.end()

    assert "result" in response
    assert ["client->server tools/call echo TYPE /params/arguments/do error, allowed"] == codes(err)
