"""Words and messages for requests to which the server does not respond in time."""

import msgspec

from sidecheck_server.proxy.messages import join_object
from sidecheck_server.proxy.report import Action, Finding

__all__ = ["cancellation", "timeout_finding", "timeout_reason"]


def timeout_reason(seconds: float) -> str:
    """Return the text of the error for a client whose request got no response in *seconds*."""
    return f"the server did not respond within {seconds:g} s (--timeout)"


def timeout_finding(method: str, note: str, action: Action = Action.REJECTED) -> Finding:
    """Return the finding about a request of *method*."""
    return Finding(
        sender="server", method=method, code="RESPONSE_TIMEOUT", action=action, note=note
    )


def cancellation(id_text: bytes, reason: str) -> bytes:
    """Return the message that cancels the request with the id *id_text*.

    Clause: 2025-11-25, basic/utilities/cancellation.
    """
    params = {"requestId": id_text, "reason": msgspec.json.encode(reason)}
    return join_object(
        {
            "jsonrpc": b'"2.0"',
            "method": b'"notifications/cancelled"',
            "params": join_object(params),
        }
    )
