"""The HTTP API of a real server."""

import http.client
import json
import socket
from pathlib import Path
from typing import Any

import grpc
import pytest
from sidecheck.v1.registry_service_pb2 import GetToolRequest
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from support.running import RunningServer

from .conftest import HttpApi

_JSON = {"content-type": "application/json"}
_TOOL = (
    b'{"name":"t",  "inputSchema": {"type": "object", "properties": {"n": {"maximum": 1.50e1}}}}'
)


def test_a_payload_is_validated(api: HttpApi) -> None:
    """An invalid one is an OK response with violations."""
    response = api.post("/v1/validate", b'{"tool": ' + _TOOL + b', "arguments": {"n": 16}}')

    verdict = response.json["verdict"]
    assert (200, "application/json") == (response.status, response.headers["content-type"])
    assert ["/n"] == [violation["instance_location"] for violation in verdict["violations"]]
    assert verdict["call_tool_result"]["isError"]


def test_registered_bytes_come_back_untouched(api: HttpApi) -> None:
    """HTTP and gRPC return the same bytes."""
    body = b'{"server": "exact", "tools": [' + _TOOL + b"]}"
    registered = api.post("/v1/register-tools", body)
    returned = api.post("/v1/get-tool", {"server": "exact", "name": "t"})
    with grpc.insecure_channel(api.server.address) as channel:
        stored = RegistryServiceStub(channel).GetTool(GetToolRequest(server="exact", name="t"))

    assert "created" == registered.json["outcomes"][0]["action"]
    assert b'"tool":' + _TOOL + b"," in returned.body
    assert _TOOL == stored.tool.json


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "status", "expected"),
    [
        ("GET", "/metrics", {"host": "evil.example"}, b"", 403, {}),
        ("GET", "/openapi.json", {"host": "evil.example"}, b"", 403, {}),
        ("OPTIONS", "/v1/validate", {"origin": "http://evil.example"}, b"", 405, {}),
        ("POST", "/v1/normalize", _JSON, b"{}", 404, {"title": "Not Found"}),
        (
            "POST",
            "/v1/validate",
            {**_JSON, "origin": "http://evil.example"},
            b"{}",
            403,
            {"detail": "this origin is not allowed"},
        ),
        (
            "POST",
            "/v1/validate",
            {**_JSON, "host": "evil.example"},
            b"{}",
            403,
            {"detail": "this host is not allowed"},
        ),
        (
            "POST",
            "/v1/validate",
            _JSON,
            b'{"server": "s", "name": "none", "arguments": {}}',
            404,
            {"reason": "UNKNOWN_TOOL", "title": "Unknown tool"},
        ),
        (
            "POST",
            "/v1/validate",
            _JSON,
            b'{"schema": {"type": "text"}, "arguments": {}}',
            400,
            {"reason": "INVALID_SCHEMA"},
        ),
        (
            "POST",
            "/v1/validate",
            {**_JSON, "content-length": "5000000"},
            b"",
            413,
            {"reason": "LIMIT_EXCEEDED"},
        ),
    ],
)
def test_errors_are_problem_details(
    api: HttpApi,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes,
    status: int,
    expected: dict[str, Any],
) -> None:
    """They have the usual HTTP status, and no CORS header."""
    response = api.send(method, path, body, headers)

    problem = response.json
    assert status == response.status
    assert "application/problem+json" == response.headers["content-type"]
    assert status == problem["status"]
    assert problem["type"] == "about:blank" or problem["type"].endswith(f"#{problem['reason']}")
    assert expected == {name: problem.get(name) for name in expected}
    assert not any(name.startswith("access-control") for name in response.headers)


def test_headers_of_errors_name_the_accepted_values(api: HttpApi) -> None:
    """These are the methods in `allow`, and the content type in `accept`."""
    wrong_method = api.send("DELETE", "/v1/validate")
    wrong_type = api.send("POST", "/v1/validate", b"{}", {"content-type": "text/plain"})

    assert "POST" == wrong_method.headers["allow"]
    assert "application/json" == wrong_type.headers["accept"]


def test_faults_of_a_schema_are_listed(api: HttpApi) -> None:
    """Each has its location in the schema."""
    schema = {"properties": {"a": {"type": "text"}, "b": {"pattern": "("}}}
    problem = api.post("/v1/validate", {"schema": schema, "arguments": {}}).json

    places = [violation["instance_location"] for violation in problem["violations"]]
    assert ["/properties/a/type", "/properties/b/pattern"] == places


def test_a_body_without_length_is_bounded(api: HttpApi) -> None:
    """The response comes before the end of the body, and ends the connection."""
    host, _, port = api.address.partition(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        head = f"POST /v1/validate HTTP/1.1\r\nhost: {api.address}\r\n"
        fields = "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        connection.sendall((head + fields).encode())
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        for _ in range(65):
            connection.sendall(chunk)
        response = http.client.HTTPResponse(connection)
        response.begin()
        problem = json.loads(response.read())

    assert (413, "close") == (response.status, response.getheader("connection"))
    assert {"bound": "message_bytes"}.items() <= problem["metadata"].items()


def test_pages_of_this_machine_may_call(api: HttpApi) -> None:
    """The page of the server itself is such a page."""
    headers = {**_JSON, "origin": f"http://{api.address}"}
    body = b'{"schema": true, "arguments": {}}'

    assert 200 == api.send("POST", "/v1/validate", body, headers).status


def test_verdicts_count_and_no_call_of_grpc_does(api: HttpApi) -> None:
    """Metrics of gRPC servers are about gRPC."""

    def count(name: str) -> float:
        text = api.send("GET", "/metrics").body.decode()
        [line] = [line for line in text.splitlines() if line.startswith(name)]
        return float(line.rpartition(" ")[2])

    names = (
        'sidecheck_verdicts_total{method="Validate",outcome="valid"}',
        'grpc_server_started_total{grpc_method="Validate"',
    )
    before = [count(name) for name in names]
    api.post("/v1/validate", {"schema": True, "arguments": {}})

    assert [before[0] + 1, before[1]] == [count(name) for name in names]


def test_the_log_has_no_contents_of_a_body(api: HttpApi) -> None:
    """This applies to parsed and to malformed bodies."""
    bodies: list[Any] = [
        {"schema": {"type": "integer"}, "arguments": "hush-1"},
        {"schema": {"type": "hush-2"}, "arguments": {}},
        {"hush-3": {}},
        {"server": "s", "options": {"detail": "hush-4"}},
        b'{"hush-5',
    ]
    for body in bodies:
        api.post("/v1/validate", body)

    log = api.server.log_text()
    assert "rpc.rejected" in log
    assert "hush" not in log


def test_a_call_may_end_after_a_stop(tmp_path: Path) -> None:
    """One that has begun within the grace period; later ones are rejected."""
    running = RunningServer(tmp_path, SIDECHECK_ADMIN_LISTEN="127.0.0.1:0")
    try:
        api = HttpApi(running)
        host, _, port = api.address.partition(":")
        body = b'{"schema": true, "arguments": {}}'
        with socket.create_connection((host, int(port)), timeout=120) as connection:
            head = f"POST /v1/validate HTTP/1.1\r\nhost: {api.address}\r\n"
            fields = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            connection.sendall((head + fields).encode() + body[:5])
            # Another response proves that the server has read the first part.
            assert 200 == api.post("/v1/validate", body).status
            running.process.terminate()
            running.wait_for("server.draining")
            while (rejected := api.post("/v1/validate", body)).status == 200:
                pass
            connection.sendall(body[5:])
            response = http.client.HTTPResponse(connection)
            response.begin()
            verdict = json.loads(response.read())["verdict"]

        assert verdict["valid"]
        assert (503, "SHUTTING_DOWN") == (rejected.status, rejected.json["reason"])
        assert 0 == running.process.wait(timeout=120)
    finally:
        running.close()


@pytest.mark.parametrize(("is_open", "status"), [("false", 403), ("true", 200)])
def test_beyond_loopback_methods_are_off_by_default(
    tmp_path: Path, is_open: str, status: int
) -> None:
    """Probes and metrics are not."""
    running = RunningServer(
        tmp_path, SIDECHECK_ADMIN_LISTEN="0.0.0.0:0", SIDECHECK_ADMIN_OPEN=is_open
    )
    try:
        api = HttpApi(running)
        api.address = api.address.replace("0.0.0.0", "127.0.0.1")
        response = api.post("/v1/validate", {"schema": True, "arguments": {}})

        assert status == response.status
        assert status == 200 or "admin_open" in response.json["detail"]
        assert 200 == api.send("GET", "/livez").status
    finally:
        running.close()


def test_a_whole_session_is_checked_in_one_request(api: HttpApi) -> None:
    """Rules that span messages apply; responses are in the order of the messages."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    logged = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}}
    response = api.post(
        "/v1/check-session",
        {
            "context": {"protocol_version": "2025-11-25"},
            "from_beginning": False,
            "items": [
                {"message": ping, "sender": "client", "http_status": 401},
                {"message": ping, "sender": "client"},
                {"message_text": "{", "sender": "client"},
                {"message": ping, "sender": "client"},
                {"message": logged, "sender": "server"},
            ],
        },
    )

    outcomes = response.json["outcomes"]
    codes = [
        {violation["code"] for violation in outcome["result"]["verdict"]["violations"]}
        for outcome in outcomes
    ]
    assert [set(), set(), {"PAYLOAD_NOT_JSON"}, {"REQUEST_ID_REUSED"}] == codes[:4]
    assert "REQUIRED" in codes[4]
    assert {"repeated_violations": []} == response.json["summary"]


def test_a_session_is_bounded(api: HttpApi, tmp_path: Path) -> None:
    """The number of messages and their total work are limited; the rest is not reached."""
    many = api.post("/v1/check-session", {"items": [{}] * 10_001})
    assert ("LIMIT_EXCEEDED", "batch_items") == (
        many.json["reason"],
        many.json["metadata"]["bound"],
    )

    running = RunningServer(
        tmp_path, SIDECHECK_ADMIN_LISTEN="127.0.0.1:0", SIDECHECK_LIMITS__REQUEST_STEPS="2000"
    )
    try:
        tool = {"name": "t", "inputSchema": {"type": "object"}}
        result = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool] * 20}}
        items = [{"message": result, "sender": "server", "request_method": "tools/list"}] * 30
        body = {"context": {"protocol_version": "2025-11-25"}, "items": items}
        outcomes = HttpApi(running).post("/v1/check-session", body).json["outcomes"]
    finally:
        running.close()

    reached = ["result" in outcome for outcome in outcomes]
    assert reached == sorted(reached, reverse=True)
    assert (30, True, False) == (len(reached), reached[0], reached[-1])
    assert outcomes[-1]["error"]["detail"].startswith("not reached")
