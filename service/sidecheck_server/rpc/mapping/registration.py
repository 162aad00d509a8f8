"""Requests and responses of RegistryService."""

from collections.abc import Iterator

from sidecheck.v1 import registry_service_pb2, target_pb2
from sidecheck.v1 import registry_service_pb2 as proto

from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import check_version_known
from sidecheck_server.registry.definitions import Action, Binding, Change
from sidecheck_server.rpc.mapping.comparison import ComparisonWriter, reading_from_proto
from sidecheck_server.rpc.mapping.fields import unknown_value
from sidecheck_server.rpc.mapping.targets import tools_from_proto
from sidecheck_server.rpc.mapping.verdicts import violation_to_proto
from sidecheck_server.services.change_log import Checkpoint
from sidecheck_server.services.comparison import CompatibilityPolicy
from sidecheck_server.services.registration import ChangePolicy, Outcome, Registration

__all__ = [
    "change_to_proto",
    "checkpoint_to_proto",
    "outcome_to_proto",
    "registration_from_proto",
    "tool_to_proto",
]


def change_to_proto(change: Change, max_bytes: int) -> Iterator[proto.WatchToolsResponse]:
    """Yield messages of *change*, each with up to *max_bytes* of tools and names.

    All messages but the last are marked as continued.
    """
    message = _begin_message(change)
    size = 0
    for binding in change.bound:
        # The size of the message, since documents may be far larger than the definition.
        tool = tool_to_proto(binding, binding.definition.json)
        tool_size = tool.ByteSize()
        size += tool_size
        if size > max_bytes and message.registered:
            yield _finish_message(message)
            message, size = _begin_message(change), tool_size
        message.registered.append(tool)
    for name in change.unbound:
        name_size = len(name.encode())
        size += name_size
        if size > max_bytes and (message.registered or message.deleted):
            yield _finish_message(message)
            message, size = _begin_message(change), name_size
        message.deleted.append(name)
    yield proto.WatchToolsResponse(change=message)


def checkpoint_to_proto(checkpoint: Checkpoint) -> proto.WatchToolsResponse:
    """Return the message of *checkpoint*."""
    return proto.WatchToolsResponse(
        checkpoint=proto.RevisionCheckpoint(revision=checkpoint.revision, id=str(checkpoint.id))
    )


def _begin_message(change: Change) -> proto.ToolsChange:
    return proto.ToolsChange(revision=change.revision, id=str(change.id), server=change.server)


def _finish_message(message: proto.ToolsChange) -> proto.WatchToolsResponse:
    message.continued = True
    return proto.WatchToolsResponse(change=message)


_CHANGE_POLICIES = {
    registry_service_pb2.CHANGE_POLICY_UNSPECIFIED: ChangePolicy.ACCEPT,
    registry_service_pb2.CHANGE_POLICY_ACCEPT: ChangePolicy.ACCEPT,
    registry_service_pb2.CHANGE_POLICY_REPORT: ChangePolicy.REPORT,
    registry_service_pb2.CHANGE_POLICY_REJECT: ChangePolicy.REJECT,
}
_COMPATIBILITY_POLICIES = {
    registry_service_pb2.COMPATIBILITY_POLICY_UNSPECIFIED: CompatibilityPolicy.IGNORE,
    registry_service_pb2.COMPATIBILITY_POLICY_IGNORE: CompatibilityPolicy.IGNORE,
    registry_service_pb2.COMPATIBILITY_POLICY_REPORT: CompatibilityPolicy.REPORT,
    registry_service_pb2.COMPATIBILITY_POLICY_REJECT_BREAKING: CompatibilityPolicy.REJECT_BREAKING,
    registry_service_pb2.COMPATIBILITY_POLICY_REJECT_UNDECIDED: (
        CompatibilityPolicy.REJECT_UNDECIDED
    ),
}
_ACTIONS = {
    Action.CREATED: registry_service_pb2.RegistrationOutcome.ACTION_CREATED,
    Action.CHANGED: registry_service_pb2.RegistrationOutcome.ACTION_CHANGED,
    Action.UNCHANGED: registry_service_pb2.RegistrationOutcome.ACTION_UNCHANGED,
    None: registry_service_pb2.RegistrationOutcome.ACTION_REJECTED,
}


async def registration_from_proto(
    request: registry_service_pb2.RegisterToolsRequest, limits: Limits
) -> Registration:
    """Return the registration of a request.

    Raises:
        RequestError: INVALID_REQUEST for an unknown enum value; LIMIT_EXCEEDED if there are
            too many tools, which are counted before they are read;
            UNKNOWN_PROTOCOL_VERSION.
    """
    if len(request.tools) > limits.batch_items:
        raise limit_exceeded_error(
            "batch_items", limits.batch_items, "the tools", len(request.tools)
        )
    check_version_known(request.protocol_version)
    change_policy = _CHANGE_POLICIES.get(request.change_policy)
    if change_policy is None:
        raise unknown_value("change_policy")
    if request.mode not in registry_service_pb2.RegistrationMode.values():
        raise unknown_value("mode")
    compatibility = _COMPATIBILITY_POLICIES.get(request.compatibility)
    if compatibility is None:
        raise unknown_value("compatibility")
    return Registration(
        server=request.server,
        tools=await tools_from_proto(request.tools),
        replace=request.mode == registry_service_pb2.REGISTRATION_MODE_REPLACE,
        change_policy=change_policy,
        validate_only=request.validate_only,
        protocol_version=request.protocol_version,
        compatibility=compatibility,
        reading=reading_from_proto(request.reading),
    )


def outcome_to_proto(
    outcome: Outcome, comparisons: ComparisonWriter
) -> registry_service_pb2.RegistrationOutcome:
    """Return the message of the outcome of a definition."""
    definition = outcome.definition
    return registry_service_pb2.RegistrationOutcome(
        name=outcome.name,
        action=_ACTIONS[outcome.action],
        violations=[violation_to_proto(violation) for violation in outcome.violations],
        definition_digest=outcome.digest,
        input_schema_digest=definition.input_schema_digest if definition else "",
        output_schema_digest=(definition.output_schema_digest or "") if definition else "",
        previous_definition_digest=outcome.previous_digest,
        comparison=comparisons.write(outcome.comparison) if outcome.comparison else None,
    )


def tool_to_proto(binding: Binding, json: bytes) -> registry_service_pb2.Tool:
    """Return the message of a registered tool, with the text *json* of its definition."""
    definition = binding.definition
    return registry_service_pb2.Tool(
        server=binding.server,
        name=binding.name,
        json=json,
        documents=[
            target_pb2.Document(uri=document.uri, json=document.json)
            for document in definition.documents
        ],
        definition_digest=definition.digest,
        input_schema_digest=definition.input_schema_digest,
        output_schema_digest=definition.output_schema_digest or "",
        revision=binding.revision,
        protocol_version=definition.protocol_version,
    )
