"""Between the wire and the core: the only package that knows both."""

from sidecheck_server.rpc.mapping.checks import (
    answer_to_wire,
    collision_to_wire,
    name_to_wire,
    tool_outcome_to_wire,
    tools_from_wire,
)
from sidecheck_server.rpc.mapping.context import RequestContext, terms_from_wire
from sidecheck_server.rpc.mapping.conversions import (
    call_to_restore_from_wire,
    converted_to_wire,
    losses_to_wire,
    result_to_tell_from_wire,
    tools_to_convert_from_wire,
)
from sidecheck_server.rpc.mapping.inference import inferred_to_wire, to_infer_from_wire
from sidecheck_server.rpc.mapping.limits import limits_to_wire
from sidecheck_server.rpc.mapping.normalizing import (
    normalized_to_wire,
    projected_to_wire,
    to_normalize_from_wire,
    to_project_from_wire,
)
from sidecheck_server.rpc.mapping.options import ValidationOptions, options_from_wire
from sidecheck_server.rpc.mapping.registrations import (
    outcome_to_wire,
    registration_from_wire,
    tool_to_wire,
)
from sidecheck_server.rpc.mapping.rules import rule_to_wire
from sidecheck_server.rpc.mapping.subjects import (
    Sent,
    asked_from_wire,
    nothing_to_check,
    sender_from_wire,
)
from sidecheck_server.rpc.mapping.targets import WHOLES, side_of, target_from_wire
from sidecheck_server.rpc.mapping.verdicts import (
    changes_to_wire,
    checked_to_wire,
    skipped_to_wire,
    valid_to_wire,
    verdict_to_wire,
)

__all__ = [
    "WHOLES",
    "RequestContext",
    "Sent",
    "ValidationOptions",
    "answer_to_wire",
    "asked_from_wire",
    "call_to_restore_from_wire",
    "changes_to_wire",
    "checked_to_wire",
    "collision_to_wire",
    "converted_to_wire",
    "inferred_to_wire",
    "limits_to_wire",
    "losses_to_wire",
    "name_to_wire",
    "normalized_to_wire",
    "nothing_to_check",
    "options_from_wire",
    "outcome_to_wire",
    "projected_to_wire",
    "registration_from_wire",
    "result_to_tell_from_wire",
    "rule_to_wire",
    "sender_from_wire",
    "side_of",
    "skipped_to_wire",
    "target_from_wire",
    "terms_from_wire",
    "to_infer_from_wire",
    "to_normalize_from_wire",
    "to_project_from_wire",
    "tool_outcome_to_wire",
    "tool_to_wire",
    "tools_from_wire",
    "tools_to_convert_from_wire",
    "valid_to_wire",
    "verdict_to_wire",
]
