"""Servers over stdio whose faults some clients forgive: they work in audit as they do directly.

Under enforcement a part at fault is left out, or the request gets an error with the reason.
"""

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from support.running import RunningServer
from support.shared_material import REPOSITORY
from support.stdio_proxy import Proxy, codes

SERVER = [sys.executable, str(REPOSITORY / "tests" / "support" / "answering_server.py")]


@pytest.fixture(params=["audit", "enforce"])
def lenient(request: pytest.FixtureRequest) -> Iterator[tuple[str, Proxy]]:
    """Yield each mode, and a proxy in this mode before the server."""
    options = ["--enforce"] if request.param == "enforce" else []
    proxy = Proxy(*options, server=SERVER)
    proxy.shake_hands()
    with proxy.process:
        yield request.param, proxy
        proxy.process.kill()


def call(proxy: Proxy, **arguments: Any) -> None:
    """Call the tool of the server with the id 8."""
    params = {"name": "echo", "arguments": arguments}
    proxy.send({"id": 8, "method": "tools/call", "params": params})


RESULT = '"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}'
ANSWERS = [
    pytest.param(
        '{"jsonrpc":"2.0","id":"{id}",' + RESULT + "}",
        'the server answered with id "8", a string; the request has the id 8, a number'
        " (RESPONSE_WITHOUT_REQUEST at /id)",
        id="the id as a string",
    ),
    pytest.param(
        '[{"jsonrpc":"2.0","id":{id},' + RESULT + "}]",
        "the response is invalid: BATCH_UNSUPPORTED at its root",
        id="an array",
    ),
    pytest.param(
        '{"jsonrpc":"2.0","error":{"code":-32000,"message":"sign in again"}}',
        "sign in again",
        id="an error without an id",
    ),
    pytest.param(
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"sign in again"}}',
        "sign in again",
        id="an error with the id null",
    ),
    pytest.param('\ufeff{"jsonrpc":"2.0","id":{id},' + RESULT + "}", None, id="a byte order mark"),
]


@pytest.mark.parametrize(("answer", "error"), ANSWERS)
def test_an_answer(lenient: tuple[str, Proxy], answer: str, error: str | None) -> None:
    """Each request is answered at once, while the server waits for more."""
    mode, proxy = lenient
    call(proxy, answer=answer)
    if mode == "audit":
        assert answer.replace("{id}", "8").encode() + b"\n" == proxy.line()
    else:
        response = proxy.receive()
        assert (8, error) == (response["id"], response.get("error", {}).get("message"))
    call_again = {"id": 9, "method": "ping"}
    proxy.send(call_again)
    assert 9 == proxy.receive()["id"]
    proxy.end()


@pytest.mark.parametrize(
    ("method", "name", "passed"),
    [
        ("tools/list", "tools", ["echo"]),
        ("prompts/list", "prompts", ["a"]),
        ("resources/list", "resources", ["b"]),
    ],
)
def test_a_list(lenient: tuple[str, Proxy], method: str, name: str, passed: list[str]) -> None:
    """Metadata of FastMCP 2, a null cursor and null annotations lose no list."""
    mode, proxy = lenient
    proxy.send({"id": 8, "method": method})
    result = proxy.receive()["result"]
    _, _, err = proxy.end()

    if mode == "audit":
        passed = [*(["a"] if method == "resources/list" else []), *passed]
        passed = list(dict.fromkeys(passed))
    assert passed == [item["name"] for item in result[name]]
    assert (mode == "audit" and method != "resources/list") == ("nextCursor" in result)
    assert any("META_KEY" in code and code.endswith("warning, passed") for code in codes(err))


def test_metadata_of_a_client(lenient: tuple[str, Proxy]) -> None:
    """The Sentry SDK adds `_sentry` to requests."""
    _, proxy = lenient
    params = {"name": "echo", "arguments": {}, "_meta": {"_sentry": "trace"}}
    proxy.send({"id": 8, "method": "tools/call", "params": params})
    response = proxy.receive()
    _, _, err = proxy.end()

    assert "result" in response
    assert ["client->server tools/call echo META_KEY /params/_meta/_sentry warning, passed"] == [
        code for code in codes(err) if "_sentry" in code
    ]


def test_a_log_message_without_the_capability(lenient: tuple[str, Proxy]) -> None:
    """FastMCP 2, and FastMCP of the Python SDK 1, log without declaring `logging`."""
    _, proxy = lenient
    log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a"}}'
    call(proxy, answer=log)
    assert "notifications/message" == proxy.receive()["method"]
    _, _, err = proxy.end()

    assert ["server->client notifications/message LOGGING_UNDECLARED /method warning, passed"] == [
        code for code in codes(err) if "LOGGING" in code
    ]


@pytest.mark.parametrize("options", [(), ("--enforce",)])
def test_a_server_that_logs_what_it_receives(options: tuple[str, ...]) -> None:
    """The log looks like requests; the proxy does not answer it, which the server would log."""
    proxy = Proxy(*options, server=[*SERVER, "--log"])
    proxy.send(
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "client", "version": "1"},
            },
        }
    )
    responses: list[Any] = []
    while not responses or responses[-1].get("result") is None:
        responses.append(proxy.receive())
    proxy.send({"id": 2, "method": "ping"})
    _, rest, err = proxy.end()

    received = [message for message in (*responses, *rest) if "jsonrpc" not in message]
    # The proxy itself sends nothing to the server, so the log has the messages of the client.
    expected = [] if options else [1, 1]
    assert expected == [message["id"] for message in received]
    assert 2 == sum("NOT_A_MESSAGE" in code for code in codes(err))
    assert [1, 2] == [m["id"] for m in (*responses, *rest) if m.get("jsonrpc") == "2.0"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a running Sidecheck."""
    with closing(RunningServer(tmp_path_factory.mktemp("service"))) as server:
        yield server.unix_address


@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize("asserts", [False, True])
def test_formats(asserts: bool, remote: bool, service: str) -> None:
    """They are asserted on demand, here and by a running Sidecheck."""
    options = [*(["--assert-formats"] if asserts else []), *(["--service", service] * remote)]
    proxy = Proxy("--results", "enforce", *options, server=SERVER)
    proxy.shake_hands()
    call(proxy, when="2026-01-01T00:00:00")
    result = proxy.receive()["result"]
    _, _, err = proxy.end()

    assert asserts == result.get("isError", False)
    findings = [
        "client->server tools/call echo FORMAT /params/arguments/when error, passed",
        "server->client tools/call echo FORMAT /result/structuredContent/when error, rejected",
    ]
    assert (findings if asserts else []) == [code for code in codes(err) if "FORMAT" in code]


def test_formats_without_a_subject() -> None:
    """The option has no effect where nothing is validated."""
    proxy = Proxy("--assert-formats", "--arguments", "off", "--results", "off", server=SERVER)
    code, _, err = proxy.end()

    assert 2 == code
    assert "--assert-formats has no effect with --arguments off and --results off" in err
