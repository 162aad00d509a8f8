"""The version that the handshake agrees on."""

from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.rules.negotiation import (
    LAST_HANDSHAKE,
    PROTOCOL_VERSION_WITHOUT_HANDSHAKE,
)
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.sessions.memory import Reporter, SessionMessage

__all__ = ["Negotiation"]


class Negotiation:
    """Results of initialize; their type does not exist in a version without a handshake."""

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Check that the version of a result has a handshake."""
        if current.message.method != "initialize" or current.message.kind is not Kind.RESULT:
            return
        version = current.result.get("protocolVersion")
        # A version that is unknown has a rule of its own.
        if version in VERSIONS and version > LAST_HANDSHAKE:
            message = f"{version} has no handshake; expected {LAST_HANDSHAKE} or an earlier version"
            fault = Fault(("result", "protocolVersion"), message, LAST_HANDSHAKE)
            report(PROTOCOL_VERSION_WITHOUT_HANDSHAKE, fault)
