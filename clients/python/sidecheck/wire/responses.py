"""From the messages of responses, and from failed calls, to values.

A value and its message name their fields alike, so most are carried over by name.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias, TypeVar, cast

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sidecheck.errors import SidecheckError, Unavailable
from sidecheck.info import Engine, Limits, ServerInfo
from sidecheck.repairs import Change, Repair
from sidecheck.targets import Document
from sidecheck.texts import JsonText
from sidecheck.tools import Action, Deletion, Outcome, Registration, Tool
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.verdicts import Verdict
from sidecheck.violations import Severity, Violation

__all__ = [
    "Judgement",
    "batch_judgements",
    "call_refusal",
    "deletion",
    "page",
    "registration",
    "server_info",
    "status_refusal",
    "streamed",
    "tool",
    "verdict",
]

Value = TypeVar("Value")

#: What became of one item of a batch.
Judgement: TypeAlias = Verdict | SidecheckError

#: The domain of the `google.rpc.ErrorInfo` whose reasons are Sidecheck's own.
DOMAIN: Final = "sidecheck"

STATUS_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
UNANSWERED: Final = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED})

#: A severity that this release does not know never claims to be an error:
#: whether the verdict is valid, the server has said itself.
SEVERITIES: Final[Mapping[int, Severity]] = {
    verdict_pb.SEVERITY_ERROR: Severity.ERROR,
    verdict_pb.SEVERITY_WARNING: Severity.WARNING,
}
ACTIONS: Final = {
    registry_pb.RegistrationOutcome.ACTION_CREATED: Action.CREATED,
    registry_pb.RegistrationOutcome.ACTION_CHANGED: Action.CHANGED,
    registry_pb.RegistrationOutcome.ACTION_UNCHANGED: Action.UNCHANGED,
    registry_pb.RegistrationOutcome.ACTION_REJECTED: Action.REFUSED,
}


def carried(message: Message, kind: type[Value], **translated: object) -> Value:
    """Return the *kind* whose fields are *translated* or, by name, those of *message*."""
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(cast("Any", kind))
    same = {field.name for field in fields}.difference(translated)
    return kind(**{name: getattr(message, name) for name in same}, **translated)


def severity(value: int) -> Severity:
    """Translate a severity."""
    return SEVERITIES.get(value, Severity.INFO)


def violations(messages: Iterable[verdict_pb.Violation]) -> tuple[Violation, ...]:
    """Translate violations."""
    return tuple(carried(one, Violation, severity=severity(one.severity)) for one in messages)


def changes(messages: Iterable[verdict_pb.Change]) -> tuple[Change, ...]:
    """Translate changes of a payload."""
    return tuple(carried(one, Change, pointer=one.instance_location) for one in messages)


def repair(message: verdict_pb.Repair) -> Repair:
    """Translate a repair."""
    return carried(
        message,
        Repair,
        violations=violations(message.violations),
        changes=changes(message.changes),
    )


def judged(message: verdict_pb.Verdict, registry_revision: int = 0) -> Verdict:
    """Translate a verdict."""
    return carried(
        message,
        Verdict,
        violations=violations(message.violations),
        registry_revision=registry_revision,
        repair=repair(message.repair) if message.HasField("repair") else None,
        call_tool_result=JsonText(message.call_tool_result),
        json_rpc_error=JsonText(message.json_rpc_error),
    )


def judgement(outcome: validation_pb.ValidateOutcome, registry_revision: int) -> Judgement:
    """Translate the answer to one payload of many."""
    if outcome.HasField("verdict"):
        return judged(outcome.verdict, registry_revision)
    return status_refusal(outcome.error)


def verdict(response: validation_pb.ValidateResponse) -> Verdict:
    """Translate the answer to one payload."""
    return judged(response.verdict, response.registry_revision)


def batch_judgements(response: validation_pb.ValidateBatchResponse) -> list[Judgement]:
    """Translate the answers to many payloads."""
    return [judgement(outcome, response.registry_revision) for outcome in response.outcomes]


def streamed(response: validation_pb.ValidateStreamResponse) -> tuple[str, Judgement]:
    """Return the id of an item of a stream, "" where it could not be read, and its answer."""
    return response.id, judgement(response.outcome, response.registry_revision)


def registration(responses: Iterable[registry_pb.RegisterToolsResponse]) -> Registration:
    """Translate the answers to the parts of a registration into one."""
    parts = list(responses)
    return Registration(
        outcomes=tuple(
            carried(
                one,
                Outcome,
                action=ACTIONS.get(one.action, Action.UNSPECIFIED),
                problems=violations(one.violations),
            )
            for part in parts
            for one in part.outcomes
        ),
        removed=tuple(name for part in parts for name in part.removed),
        registry_revision=parts[-1].registry_revision,
    )


def documents(messages: Iterable[target_pb.Document]) -> tuple[Document, ...]:
    """Translate the documents of a registered tool."""
    return tuple(Document(one.uri, one.json) for one in messages)


def listed_tool(message: registry_pb.Tool) -> Tool:
    """Translate a registered tool."""
    return carried(message, Tool, documents=documents(message.documents))


def tool(response: registry_pb.GetToolResponse) -> Tool:
    """Translate the answer to a request for one tool."""
    return listed_tool(response.tool)


def page(response: registry_pb.ListToolsResponse) -> tuple[list[Tool], str]:
    """Return the tools of a page and the token of the next, "" after the last."""
    return [listed_tool(one) for one in response.tools], response.next_page_token


def deletion(response: registry_pb.DeleteToolsResponse) -> Deletion:
    """Translate the answer to a removal."""
    return Deletion(
        deleted=tuple(response.deleted),
        unknown=tuple(response.unknown),
        registry_revision=response.registry_revision,
    )


def server_info(response: info_pb.GetServerInfoResponse) -> ServerInfo:
    """Translate the facts of the server."""
    return carried(
        response,
        ServerInfo,
        limits=carried(response.limits, Limits),
        dialects=tuple(response.dialects),
        protocol_versions=tuple(response.protocol_versions),
        engines=tuple(carried(one, Engine) for one in response.engines),
    )


def status_refusal(status: Status) -> SidecheckError:
    """Return the refusal that *status* carries.

    Its reason is that of the `google.rpc.ErrorInfo` of the domain ``sidecheck``;
    without one the refusal is gRPC's own, and its reason the name of the code.
    """
    code = STATUS_CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    info = error_info(status)
    if info is None:
        kind = Unavailable if code in UNANSWERED else SidecheckError
        return kind(code.name, status.message, {}, code)
    # A server that is going away is not there for the caller any more.
    kind = Unavailable if info.reason == "SHUTTING_DOWN" else SidecheckError
    return kind(info.reason, status.message, info.metadata, code)


def error_info(status: Status) -> ErrorInfo | None:
    """Return Sidecheck's own word on why, if *status* has one that decodes."""
    for detail in status.details:
        info = ErrorInfo()
        with suppress(DecodeError):
            if detail.Unpack(info) and info.domain == DOMAIN:
                return info
    return None


def call_refusal(error: grpc.RpcError) -> SidecheckError:
    """Return the refusal that a failed call amounts to.

    The details travel as a serialized `google.rpc.Status` in the trailing metadata
    ``grpc-status-details-bin`` (gRPC, "Error handling", richer error model). What
    does not decode is passed over: the code and the message stand by themselves.
    """
    status = Status(code=error.code().value[0], message=error.details() or "")
    # The stubs know the metadata of the blocking stack alone; both yield pairs.
    metadata = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())
    for key, value in metadata:
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            with suppress(DecodeError):
                status.details.extend(Status.FromString(value).details)
    return status_refusal(status)
