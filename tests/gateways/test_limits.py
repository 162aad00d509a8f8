"""Bodies and waits beyond the limits of Envoy and of Sidecheck, and their log events."""

import json
import queue
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response
from support.gateway import ENFORCE, Gateway, ext_proc_settings, running_gateway
from support.http_mcp_server import HttpMcpServer
from support.running import RunningServer
from support.running_envoy import Configuration

#: Of the limits, in bytes.
PAYLOAD, BUFFER = 1 << 20, 3 << 20
MESSAGE_SECONDS = 3


@pytest.fixture(scope="module")
def limited(
    sidecheck: RunningServer, scripted: HttpMcpServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    """Return an Envoy with the route /audit too, which waits no longer than 3 s for Sidecheck."""

    def change(configuration: Configuration) -> None:
        configuration.processor["message_timeout"] = f"{MESSAGE_SECONDS}s"
        configuration.add_route("/audit", {"server": "limits"})

    folder = tmp_path_factory.mktemp("envoy")
    with running_gateway(folder, scripted, sidecheck, change=change) as running:
        running.begin()
        running.post("tools/list", path="/audit")
        running.received()
        running.envoy.entries(4)
        yield running


@pytest.mark.parametrize(
    ("path", "size", "status", "reaches", "verdict", "code"),
    [
        ("/mcp", PAYLOAD + 1000, 200, False, "rejected", "LIMIT_EXCEEDED"),
        ("/audit", PAYLOAD + 1000, 200, True, "unvalidated", "LIMIT_EXCEEDED"),
        # The last that fits into Envoy also fits into a message to Sidecheck.
        ("/audit", BUFFER - 1000, 200, True, "unvalidated", "LIMIT_EXCEEDED"),
        ("/mcp", BUFFER + 1000, 413, False, "valid", ""),
        ("/audit", BUFFER + 1000, 413, False, "valid", ""),
    ],
)
def test_large_requests(
    limited: Gateway, path: str, size: int, status: int, reaches: bool, verdict: str, code: str
) -> None:
    """Sidecheck validates up to payload_bytes, and Envoy buffers up to its limit."""
    response = limited.call(path, do="x" * size)

    assert (status, reaches) == (response.status_code, bool(limited.received()))
    [entry] = limited.envoy.entries(1)
    assert (verdict, code) == (entry["verdict"], entry["code"])


@pytest.mark.parametrize(
    ("path", "size", "status", "verdict", "code"),
    [
        ("/mcp", PAYLOAD + 1000, 200, "rejected", "LIMIT_EXCEEDED"),
        ("/audit", PAYLOAD + 1000, 200, "unvalidated", "LIMIT_EXCEEDED"),
        ("/mcp", BUFFER + 1000, 500, "valid", ""),
        ("/audit", BUFFER + 1000, 500, "valid", ""),
    ],
)
def test_large_responses(
    limited: Gateway, path: str, size: int, status: int, verdict: str, code: str
) -> None:
    """The policies apply up to the limit of Envoy."""

    def respond(message: Any) -> Response:
        content = [{"type": "text", "text": "x" * size}]
        result = {"content": content, "structuredContent": {"n": 1}}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    limited.server.replace = respond
    response = limited.call(path)
    limited.server.replace = lambda _: None
    limited.received()

    assert status == response.status_code
    [entry] = limited.envoy.entries(1)
    assert (verdict, code) == (entry["verdict"], entry["code"])
    assert ("response_payload_too_large" in entry["details"]) is (status == 500)


def test_a_stream_that_is_idle_for_long(limited: Gateway) -> None:
    """Longer than Sidecheck may take for a part of it."""
    limited.server.parts = parts = queue.SimpleQueue[bytes | None]()
    parts.put(b": hello\n\n")
    try:
        with limited.client.stream("GET", limited.url()) as response:
            received = response.iter_raw()
            assert b": hello\n\n" == next(received)
            # The test measures the time.
            time.sleep(MESSAGE_SECONDS + 1)
            parts.put(b": still\n\n")
            assert b": still\n\n" == next(received)
            parts.put(None)
            assert [] == list(received)
    finally:
        parts.put(None)
        limited.server.parts = None
    limited.server.requests.clear()
    [entry] = limited.envoy.entries(1)
    assert ("valid", "") == (entry["verdict"], entry["code"])


def test_the_log_has_no_values_and_the_same_id(tmp_path: Path, scripted: HttpMcpServer) -> None:
    """Envoy's entry leads to the event of Sidecheck."""
    sidecheck = RunningServer(tmp_path, **ext_proc_settings(**ENFORCE))
    secret = "s3cret"
    try:
        with running_gateway(tmp_path, scripted, sidecheck) as gateway:
            gateway.begin()
            gateway.envoy.entries(3)
            gateway.call(do=[secret])
            gateway.call(do="break", other=secret)
            gateway.post("tools/call", {"name": secret, "arguments": {secret: secret}})
            gateway.post(secret, {secret: secret}, headers={"x": secret})
            gateway.notify(secret)
            gateway.client.post(gateway.url(), content=secret)
            entries = gateway.envoy.entries(6)
        log = sidecheck.log_text()
    finally:
        sidecheck.close()

    events = [json.loads(line) for line in log.splitlines()]
    completed = [event for event in events if event["event"] == "gateway.completed"][3:]
    assert secret not in log
    assert "echo" not in log
    expected = [
        ("rejected", ["TYPE"]),
        ("rejected", ["TYPE"]),
        ("rejected", ["TOOLS_NOT_LISTED"]),
        ("valid", []),
        ("valid", []),
        ("rejected", ["PAYLOAD_NOT_JSON"]),
    ]
    assert expected == [(event["verdict"], event["codes"]) for event in completed]
    assert [(event["verdict_id"], event["verdict"]) for event in completed] == [
        (entry["verdict_id"], entry["verdict"]) for entry in entries
    ]
