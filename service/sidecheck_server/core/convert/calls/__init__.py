"""Calls that models make: read as each API gives them, put to the tool that is meant, judged."""

from sidecheck_server.core.convert.calls.meaning import Meaning, Meant
from sidecheck_server.core.convert.calls.reading import ModelCall, read_call
from sidecheck_server.core.convert.calls.restore import chosen_plan, common_api, refuse_mismatch
from sidecheck_server.core.convert.calls.told_names import with_known_names

__all__ = [
    "Meaning",
    "Meant",
    "ModelCall",
    "chosen_plan",
    "common_api",
    "read_call",
    "refuse_mismatch",
    "with_known_names",
]
