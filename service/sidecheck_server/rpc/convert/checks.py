"""What was found by the rules of the protocol, for the wire."""

from sidecheck.v1 import protocol_service_pb2

from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.rpc.convert.verdicts import checked_to_wire

__all__ = ["answer_to_wire"]


def answer_to_wire(checked: Checked) -> protocol_service_pb2.CheckAnswer:
    """Return the message of what was found in one thing."""
    return protocol_service_pb2.CheckAnswer(verdict=checked_to_wire(checked.findings.verdict()))
