"""Attacks by a client over HTTP end in an error, and reach no server."""

import json

import pytest
from attacks.conftest import Attacked
from attacks.raw_http import response_of
from attacks.requests import ATTACKS, BAD_CALL, GOOD_CALL, RequestAttack, request
from support.http_proxy import META

_RESULT = b'{"content":[{"type":"text","text":"{}"}],"structuredContent":{"n":1}}'
_RESPONSE = response_of(b'{"jsonrpc":"2.0","id":5,"result":%b}' % _RESULT)


@pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.name) for attack in ATTACKS])
def test_an_attack_reaches_no_server(attacked: Attacked, attack: RequestAttack) -> None:
    """It has its status, and what passes in its place has no body."""
    attacked.server.answer = lambda _: _RESPONSE
    response = attacked.send(attack.request)

    assert attack.status == response.status, response.body
    assert attack.reaches == tuple(got.line for got in attacked.server.received), attack.rule
    assert [] == [got.body for got in attacked.server.received if got.body]


def test_the_disguised_call_passes_if_it_is_valid(attacked: Attacked) -> None:
    """So the attacks fail because of their faults."""
    attacked.server.answer = lambda _: _RESPONSE
    response = attacked.send(request(GOOD_CALL))

    assert (200, [GOOD_CALL]) == (
        response.status,
        [got.body for got in attacked.server.received],
    )
    assert b'"isError":true' in attacked.send(request(BAD_CALL)).body
    assert 1 == len(attacked.server.received)


@pytest.mark.parametrize(("connection", "status"), [(b"close", 200), (b"Mcp-Method", 400)])
def test_a_header_that_does_not_pass_is_not_read(
    attacked: Attacked, connection: bytes, status: int
) -> None:
    """A client can list it in `Connection` to hide it from the server."""
    attacked.server.answer = lambda _: _RESPONSE
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call"}
    params = {"name": "echo", "arguments": {}, **META}
    text = json.dumps({**call, "params": params}).encode()
    head = (b"mcp-method: tools/call", b"mcp-name: echo", b"connection: " + connection)
    response = attacked.send(request(text, *head).replace(b"2025-11-25", b"2026-07-28", 1))

    assert status == response.status
    assert (200 == status) is bool(attacked.server.received)
