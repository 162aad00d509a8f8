"""Requests over stdio without a response in time."""

import sys

import pytest
from support.shared_material import REPOSITORY
from support.stdio_proxy import HANDSHAKE, Proxy, codes

_SERVER = [sys.executable, str(REPOSITORY / "tests" / "support" / "relayed_server.py")]
REASON = "the server did not respond within 0.3 s (--timeout)"
FINDING = "server->client {} RESPONSE_TIMEOUT error, {}"


def test_a_response_that_comes_too_late() -> None:
    """The client gets an error, the server the cancellation, and its late response goes nowhere."""
    proxy = Proxy("--timeout", "0.3", server=[*_SERVER, "late"])
    # Without a handshake, for which the server would have to start in time.
    proxy.call(2)
    error = proxy.receive()
    # The server reads the cancellation before this request.
    proxy.call(3)
    second = proxy.receive()
    proxy.end_input()
    _, rest, err = proxy.end()

    assert {"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": REASON}} == error
    assert (3, REASON) == (second["id"], second["error"]["message"])
    assert [] == rest
    seen = [line for line in err.splitlines() if line.startswith("SAW ") and "list" not in line]
    assert ["SAW tools/call 2", "SAW notifications/cancelled None"] == seen[:2]
    findings = [line for line in codes(err) if "RESPONSE_TIMEOUT" in line]
    assert FINDING.format("tools/call", "rejected") == findings[0]
    assert FINDING.format("tools/call", "dropped") in findings


@pytest.mark.parametrize("options", [(), ("--enforce",)], ids=["audit", "enforce"])
def test_the_handshake_is_not_cancelled(options: tuple[str, ...]) -> None:
    """Clients must not cancel `initialize` (2025-11-25, basic/utilities/cancellation)."""
    proxy = Proxy("--timeout", "0.3", *options, server=[*_SERVER, "silent"])
    proxy.send(HANDSHAKE[0])
    error = proxy.receive()
    proxy.end_input()
    _, rest, err = proxy.end()

    assert (1, REASON, []) == (error["id"], error["error"]["message"], rest)
    assert "SAW initialize 1" in err
    assert "notifications/cancelled" not in err
    assert FINDING.format("initialize", "rejected") in codes(err)


def test_a_request_that_the_client_cancels() -> None:
    """It gets no error."""
    proxy = Proxy("--timeout", "3600", server=[*_SERVER, "late"])
    proxy.call(2)
    proxy.send({"method": "notifications/cancelled", "params": {"requestId": 2}})
    proxy.send({"id": 3, "method": "ping"})
    received = [proxy.receive(), proxy.receive()]
    proxy.end_input()
    _, rest, err = proxy.end()

    assert ([2, 3], []) == ([message["id"] for message in received], rest)
    assert "RESPONSE_TIMEOUT" not in err


def test_a_long_response_that_comes_too_late() -> None:
    """It goes nowhere either, though it is not read as a whole."""
    options = ("--timeout", "0.3", "--max-message-bytes", "20000")
    proxy = Proxy(*options, server=[*_SERVER, "late and long"])
    proxy.call(2)
    error = proxy.receive()
    proxy.call(3)
    second = proxy.receive()
    proxy.end_input()
    _, rest, err = proxy.end()

    assert [(2, REASON), (3, REASON)] == [
        (message["id"], message["error"]["message"]) for message in (error, second)
    ]
    assert [] == rest
    assert FINDING.format("tools/call", "dropped") in codes(err)


def test_an_id_that_is_used_again_after_its_time() -> None:
    """The server has obeyed the cancellation, so that its response is to the second request."""
    proxy = Proxy("--timeout", "1", server=[*_SERVER, "obeys"])
    proxy.call(2, do="nothing")
    first = proxy.receive()
    # On a busy machine, a response may come too late.
    for _ in range(30):
        proxy.call(2)
        second = proxy.receive()
        if "result" in second:
            break
    proxy.end_input()
    proxy.end()

    assert "error" in first
    assert (2, True) == (second["id"], "result" in second)
