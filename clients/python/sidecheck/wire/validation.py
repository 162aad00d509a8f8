"""Messages of ValidationService."""

from collections.abc import Sequence
from typing import Final

from sidecheck.errors import SidecheckError
from sidecheck.json_texts import payload_text, protocol_text
from sidecheck.targets import Target
from sidecheck.v1 import options_pb2 as options_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.validation import (
    ABSENT,
    Arguments,
    CallParams,
    CallResult,
    Item,
    Options,
    StructuredContent,
    Subject,
    ValidateOutcome,
)
from sidecheck.values.error_reasons import ErrorReason
from sidecheck.values.verdict import Verdict
from sidecheck.wire.decoders.verdict import decode_verdict
from sidecheck.wire.encoders.validation_options import encode_validation_options
from sidecheck.wire.errors import decode_item_error, require_field
from sidecheck.wire.values import encode_target

__all__ = [
    "decode_batch",
    "decode_response",
    "decode_stream_response",
    "depends_on_batch",
    "encode_batch",
    "encode_batch_item",
    "encode_item",
    "encode_joint_batch",
    "encode_request",
    "encode_stream_defaults",
    "encode_stream_item",
]

#: Bounds of a whole batch. An item that exceeds one may succeed in a single call.
BATCH_BOUNDS: Final = frozenset(
    {"batch_items", "message_bytes", "offloaded_items", "request_steps"}
)


def encode_request(item: Item) -> validation_pb.ValidateRequest:
    """Return the request to validate one payload."""
    return validation_pb.ValidateRequest(
        target=encode_target(item.target),
        subject=encode_subject(item.subject),
        options=encode_validation_options(item.options),
    )


def encode_item(item: Item) -> validation_pb.ValidateItem:
    """Return the message for an item of a batch or stream."""
    return validation_pb.ValidateItem(
        target=encode_target(item.target),
        subject=encode_subject(item.subject),
        options=encode_validation_options(item.options),
    )


def encode_batch_item(request: validation_pb.ValidateRequest) -> validation_pb.ValidateItem:
    """Return the batch item for a single *request*, which has the same fields."""
    return validation_pb.ValidateItem.FromString(request.SerializeToString())


def encode_batch(
    items: Sequence[validation_pb.ValidateItem], target: Target | None, options: Options | None
) -> validation_pb.ValidateBatchRequest:
    """Return the request to validate *items*, with shared target and options."""
    return validation_pb.ValidateBatchRequest(
        target=encode_target(target), options=encode_validation_options(options), items=items
    )


def encode_joint_batch(
    items: Sequence[validation_pb.ValidateItem],
) -> validation_pb.ValidateBatchRequest:
    """Return the request to validate *items* with their own targets and options.

    If the target and the options are the same for all items, they are sent once, so that the
    server reads and resolves them once.
    """
    batch = validation_pb.ValidateBatchRequest()
    if items:
        first = items[0]
        if all(item.target == first.target and item.options == first.options for item in items):
            batch.target.CopyFrom(first.target)
            batch.options.CopyFrom(first.options)
            items = [validation_pb.ValidateItem(subject=item.subject) for item in items]
    batch.items.extend(items)
    return batch


def encode_stream_defaults(
    target: Target | None, options: Options | None
) -> validation_pb.ValidateStreamRequest:
    """Return the first message of a stream, with shared target and options."""
    return validation_pb.ValidateStreamRequest(
        defaults=validation_pb.StreamDefaults(
            target=encode_target(target), options=encode_validation_options(options)
        )
    )


def encode_stream_item(id_: str, item: Item | None) -> validation_pb.ValidateStreamRequest:
    """Return the message for an item of a stream, or for its id if *item* is None."""
    return validation_pb.ValidateStreamRequest(
        item=validation_pb.StreamItem(id=id_, item=None if item is None else encode_item(item))
    )


def encode_subject(subject: Subject) -> target_pb.Subject:
    """Return the message for a payload and its role.

    Raises:
        ValueError: JSON cannot express a value in the payload.
        TypeError: *subject* is not a subject, or has call params or a result as a ``str``.
    """
    match subject:
        case Arguments(payload):
            return target_pb.Subject(arguments=payload_text(payload, "arguments"))
        case StructuredContent(content):
            if content is ABSENT:
                return target_pb.Subject(absent_structured_content=target_pb.AbsentContent())
            return target_pb.Subject(structured_content=payload_text(content, "content"))
        case CallParams(payload):
            return target_pb.Subject(call_params=protocol_text(payload, "params"))
        case CallResult(payload):
            return target_pb.Subject(call_result=protocol_text(payload, "result"))
    raise TypeError(f"cannot validate a {type(subject).__name__}; pass Arguments, for example")


def decode_response(response: validation_pb.ValidateResponse) -> Verdict:
    """Return the verdict of a response."""
    return decode_verdict(require_field(response, "verdict"), response.registry_revision)


def decode_batch(response: validation_pb.ValidateBatchResponse) -> list[ValidateOutcome]:
    """Return the outcomes of a batch, in order."""
    return [decode_outcome(outcome, response.registry_revision) for outcome in response.outcomes]


def decode_stream_response(
    response: validation_pb.ValidateStreamResponse,
) -> tuple[str, ValidateOutcome]:
    """Return the id of an item, "" if the server could not read it, and its outcome."""
    return response.id, decode_outcome(response.outcome, response.registry_revision)


def decode_outcome(
    outcome: validation_pb.ValidateOutcome, registry_revision: int
) -> ValidateOutcome:
    """Return the verdict or error of one item."""
    if outcome.HasField("verdict"):
        return decode_verdict(outcome.verdict, registry_revision)
    return decode_item_error(outcome.error)


def depends_on_batch(outcome: ValidateOutcome, request: validation_pb.ValidateRequest) -> bool:
    """Return whether *outcome* may be due to the other items of its batch.

    A single call of *request* may then have another outcome: the item was not reached, or
    its verdict lists fewer violations than it would in a single call.
    """
    if isinstance(outcome, SidecheckError):
        return (
            outcome.reason == ErrorReason.LIMIT_EXCEEDED
            and outcome.metadata.get("bound") in BATCH_BOUNDS
        )
    max_violations = request.options.max_violations or Options().max_violations
    if request.options.detail == options_pb.DETAIL_VERDICT_ONLY:
        max_violations = 0
    elif request.options.detail == options_pb.DETAIL_FIRST:
        max_violations = 1
    reports = (outcome, outcome.repair) if outcome.repair else (outcome,)
    return any(report.truncated and len(report.violations) < max_violations for report in reports)
