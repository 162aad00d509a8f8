"""Calls that models make: read as each API gives them, and put to the tool that is meant."""

from sidecheck_server.core.convert.calls.reading import ModelCall, call_error_text, read_call
from sidecheck_server.core.convert.calls.restore import chosen_plan, common_api, refuse_mismatch
from sidecheck_server.core.convert.calls.told_names import with_known_names

__all__ = [
    "ModelCall",
    "call_error_text",
    "chosen_plan",
    "common_api",
    "read_call",
    "refuse_mismatch",
    "with_known_names",
]
