"""Between the wire and the core: the only package that knows both."""

from sidecheck_server.rpc.convert.limits import limits_to_wire
from sidecheck_server.rpc.convert.options import Asked, options_from_wire
from sidecheck_server.rpc.convert.registrations import (
    outcome_to_wire,
    registration_from_wire,
    tool_to_wire,
)
from sidecheck_server.rpc.convert.targets import side_of, target_from_wire
from sidecheck_server.rpc.convert.verdicts import skipped_to_wire, valid_to_wire, verdict_to_wire

__all__ = [
    "Asked",
    "limits_to_wire",
    "options_from_wire",
    "outcome_to_wire",
    "registration_from_wire",
    "side_of",
    "skipped_to_wire",
    "target_from_wire",
    "tool_to_wire",
    "valid_to_wire",
    "verdict_to_wire",
]
