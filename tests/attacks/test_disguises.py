"""Messages over HTTP that are not where, or in which form, they are looked for."""

import json
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import HttpProxied, codes, proxied

_BAD = {"content": [], "structuredContent": {"n": "x"}}
_GOOD = {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"n": 1}}
_JSON, _EVENTS = "application/json", "text/event-stream"


def response(id_: Any, result: Any) -> dict[str, Any]:
    """Return the response to the request with *id_*."""
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def event(message: Any) -> str:
    """Return an event with *message*."""
    return f"data: {json.dumps(message)}\n\n"


def send(proxy: HttpProxied, version: str, kind: str = _JSON, **arguments: Any) -> httpx.Response:
    """Call the tool without a session."""
    params = {"name": "echo", "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
    headers = {"content-type": kind, "mcp-protocol-version": version}
    return proxy.client.post(proxy.url, content=json.dumps(call), headers=headers)


def serve(server: HttpMcpServer, kind: str, body: str) -> None:
    """Let *server* respond to all but lists with *body*."""

    async def answer(_request: Request, text: bytes) -> Response | None:
        lists = text and json.loads(text).get("method") == "tools/list"
        return None if lists else Response(body, headers={"content-type": kind})

    server.answer = answer


def results(text: str) -> list[Any]:
    """Return what the messages in *text*, JSON or events, have as structured content."""
    texts = [line.removeprefix("data: ") for line in text.splitlines() if line]
    messages = [json.loads(line) for line in texts]
    items = [
        item
        for message in messages
        for item in (message if isinstance(message, list) else [message])
    ]
    return [item.get("result", {}).get("structuredContent") for item in items]


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        pytest.param(
            _JSON, json.dumps([response("5", _BAD), response(5, _GOOD)]), [None], id="a batch"
        ),
        pytest.param(
            _EVENTS, event([response("5", _BAD), response(5, _GOOD)]), [None], id="in an event"
        ),
        pytest.param(
            _EVENTS, event(response(5, _GOOD)) + event(response(5, _BAD)), [{"n": 1}], id="twice"
        ),
        pytest.param(_JSON, json.dumps(response([5], _BAD)), [None], id="an id in a list"),
    ],
)
def test_a_response_to_no_request_does_not_pass_without_a_session(
    server: HttpMcpServer, enforced: HttpProxied, kind: str, body: str, expected: list[Any]
) -> None:
    """Clients may take "5" for 5, and the first of two: it stands for the response."""
    serve(server, kind, body)

    assert expected == results(send(enforced, "2025-03-26").text)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (_EVENTS, 200),
        ("text/event-stream, text/plain", 502),
        ("text/event-stream; charset=UTF-8", 200),
        ("text/plain", 502),
        (_JSON, 502),
        ("text/event-stream;charset=utf-7", 502),
    ],
)
def test_a_get_has_events_or_fails(
    server: HttpMcpServer, enforced: HttpProxied, kind: str, status: int
) -> None:
    """Some clients read events from a GET of any content type."""
    serve(server, kind, event(response(5, _BAD)))
    got = enforced.client.get(enforced.url, headers={"mcp-protocol-version": "2025-11-25"})

    assert status == got.status_code
    assert "structuredContent" not in got.text


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json; charset=utf-7", 415),
        ('application/json;x=1; Charset="UTF-16LE"', 415),
        ("application/json; charset=UTF-8", 200),
        ('application/json;charset="utf-8"', 200),
    ],
)
def test_a_request_is_in_utf_8(
    server: HttpMcpServer, enforced: HttpProxied, kind: str, status: int
) -> None:
    """In UTF-7, ``+ACI-`` is a quotation mark: the server would read other arguments."""
    assert status == send(enforced, "2025-11-25", kind, a="+ACI-,+ACI-do+ACI-:1").status_code
    assert (200 == status) is any(message["id"] == 5 for message in server.messages())


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json;charset=utf-7", json.dumps(response(5, _GOOD))),
        ("text/event-stream; charset=utf-16", event(response(5, _GOOD))),
        ("text/event-stream; charset*0=utf-16; charset*1=le", event(response(5, _GOOD))),
        ("text/event-stream; charset*=utf-8''utf-16", event(response(5, _GOOD))),
        ('application/json; x="; charset=utf-16"', json.dumps(response(5, _GOOD))),
    ],
)
def test_a_response_is_in_utf_8(
    server: HttpMcpServer, enforced: HttpProxied, kind: str, body: str
) -> None:
    """Otherwise the client receives an error."""
    serve(server, kind, body)

    assert -32603 == send(enforced, "2025-11-25").json()["error"]["code"]


def test_an_audit_reports_and_passes_disguised_messages(server: HttpMcpServer) -> None:
    """The bytes are unchanged."""
    with proxied(server) as proxy:
        serve(server, "text/plain", event(response(5, _BAD)))
        got = proxy.client.get(proxy.url, headers={"mcp-protocol-version": "2025-11-25"})
        serve(server, "application/json; charset=utf-7", json.dumps(response(5, _GOOD)))
        called = send(proxy, "2025-11-25", "application/json; charset=utf-16")
        err = proxy.end()

    assert event(response(5, _BAD)) == got.text
    assert response(5, _GOOD) == called.json()
    assert [
        "server->client NOT_VALIDATED error, passed",
        "client->server NOT_VALIDATED error, passed",
        "server->client tools/call NOT_VALIDATED error, passed",
    ] == [code for code in codes(err) if "NOT_VALIDATED" in code]


@pytest.mark.parametrize("encoding", ["", "identity", "Identity"])
def test_an_empty_content_encoding_is_ignored(
    server: HttpMcpServer, enforced: HttpProxied, encoding: str
) -> None:
    """The body is read."""
    message = {"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {}}
    headers = {"content-encoding": encoding, "mcp-protocol-version": "2025-11-25"}

    assert 200 == enforced.client.post(enforced.url, json=message, headers=headers).status_code


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
@pytest.mark.parametrize("before", [": a comment", "id: 1", "event: x"])
def test_no_event_hides_behind_a_line_end_of_other_readers(
    server: HttpMcpServer, enforced: HttpProxied, before: str, end: str
) -> None:
    """Python splits lines at more characters than the specification of events has."""
    hidden = f"{before}{end}{event(response(5, _BAD))}"
    serve(server, _EVENTS, f"{hidden}\n{event(response(5, _GOOD))}")
    text = send(enforced, "2025-11-25").text
    lines = [line for line in text.splitlines() if line.startswith("data:")]

    assert [response(5, _GOOD)] == [json.loads(line.removeprefix("data:")) for line in lines]


def test_line_ends_of_other_readers_in_texts_are_escaped(
    server: HttpMcpServer, enforced: HttpProxied
) -> None:
    """Each parser reads the message with the same value."""
    good = {**_GOOD, "content": [{"type": "text", "text": "a\u2028b\x85c"}]}
    raw = json.dumps(response(5, good), ensure_ascii=False)
    serve(server, _EVENTS, f"data: {raw}\n\n")
    text = send(enforced, "2025-11-25").text
    [line] = [line for line in text.splitlines() if line]

    assert response(5, good) == json.loads(line.removeprefix("data:"))


@pytest.mark.parametrize("status", [400, 404, 500])
@pytest.mark.parametrize("kind", [_JSON, "text/plain"])
def test_a_result_with_an_error_status_is_rejected(
    server: HttpMcpServer, enforced: HttpProxied, status: int, kind: str
) -> None:
    """Some readers look at the body alone."""

    async def answer(request: Request, body: bytes) -> Response | None:
        return Response(json.dumps(response(5, _BAD)), status, media_type=kind)

    server.answer = answer
    got = send(enforced, "2025-11-25")

    assert "structuredContent" not in got.text
    assert 502 == got.status_code
