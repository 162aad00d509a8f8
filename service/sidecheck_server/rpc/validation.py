"""ValidationService: validates single payloads, batches and streams."""

from collections.abc import AsyncIterator, Awaitable, Callable
from copy import copy
from typing import NamedTuple, TypeVar

from sidecheck.v1 import options_pb2, target_pb2
from sidecheck.v1.validation_service_pb2 import (
    StreamDefaults,
    ValidateBatchRequest,
    ValidateBatchResponse,
    ValidateItem,
    ValidateOutcome,
    ValidateRequest,
    ValidateResponse,
    ValidateStreamRequest,
    ValidateStreamResponse,
)
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceServicer

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.rpc.access_log import LoggedResponse, OutcomeCounter, log_fields
from sidecheck_server.rpc.handler import rpc_handler, status_of
from sidecheck_server.rpc.mapping.options import options_from_proto
from sidecheck_server.rpc.mapping.targets import subject_from_proto, target_from_proto
from sidecheck_server.rpc.mapping.verdicts import outcome_to_proto
from sidecheck_server.rpc.method_table import SharedResponse, Unreadable
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.rpc.streams import OpenStreams, read_item, rpc_stream_handler
from sidecheck_server.services.container import Services
from sidecheck_server.services.offload import TimeSlice
from sidecheck_server.services.prepared_targets import PreparedTarget, ValidationOutcome
from sidecheck_server.services.request_work import BatchBudget, open_request
from sidecheck_server.services.targets import SubjectKind

__all__ = ["ValidationServicer"]

_Value = TypeVar("_Value")


class ValidationServicer(ValidationServiceServicer):
    """Serves ValidationService."""

    def __init__(
        self,
        services: Services,
        limits: Limits,
        streams: OpenStreams,
    ) -> None:
        self.streams = streams
        self.changes = services.changes
        self._prepared_targets = services.prepared_targets
        self._limits = limits

    @rpc_handler
    def Validate(  # noqa: N802
        self, request: ValidateRequest
    ) -> LoggedResponse | Awaitable[LoggedResponse | ValidateResponse]:
        """Validate one payload."""
        options = request.options if request.HasField("options") else None
        prepared = self._prepare(request.target, options)
        kind, payload = subject_from_proto(request.subject)
        outcome = prepared.try_validate(kind, payload)
        if outcome is not None and outcome.shared:
            return (outcome.encoded or _encode(outcome, prepared.revision)).response
        return self._validate(prepared, kind, payload, outcome)

    async def _validate(
        self,
        prepared: PreparedTarget,
        kind: SubjectKind | None,
        payload: bytes,
        outcome: ValidationOutcome | None,
    ) -> LoggedResponse | ValidateResponse:
        """Return the response for *outcome*, or validate *payload* first if that is None."""
        if outcome is None:
            outcome = await prepared.validate(kind, payload, was_tried=True)
            if outcome.shared:
                return (outcome.encoded or _encode(outcome, prepared.revision)).response
        verdict = outcome_to_proto(outcome)
        return ValidateResponse(verdict=verdict, registry_revision=prepared.revision)

    @rpc_handler
    async def ValidateBatch(self, request: ValidateBatchRequest) -> LoggedResponse:  # noqa: N802
        """Validate the payloads of a batch in their order."""
        count = len(request.items)
        if count > self._limits.batch_items:
            raise limit_exceeded_error("batch_items", self._limits.batch_items, "the batch", count)
        default = self._prepare(request.target, request.options)
        response = ValidateBatchResponse(registry_revision=default.revision)
        append = response.outcomes.append
        budget, counter = BatchBudget(self._limits), OutcomeCounter(count)
        work = open_request(self._limits)
        time_slice = TimeSlice()
        for item in request.items:
            try:
                work.begin_item()
            except RequestError as error:
                message = ValidateOutcome(error=status_from_error(error))
                counter.classify(message)
                append(message)
                if time_slice.is_over():
                    await time_slice.renew()
                continue
            prepared = self._prepare_item(default, request.target, request.options, item)
            kind, payload = subject_from_proto(item.subject)
            try:
                outcome, was_tried = prepared.try_validate(kind, payload, budget), True
            except Exception:  # noqa: BLE001  (`_item_outcome` raises it again and converts it)
                outcome, was_tried = None, False
            if outcome is not None and outcome.shared:
                append((outcome.encoded or _encode(outcome, prepared.revision)).item)
            else:
                message = await _item_outcome(
                    outcome, prepared, item, "ValidateBatch", budget, was_tried=was_tried
                )
                counter.classify(message)
                append(message)
            if time_slice.is_over():
                await time_slice.renew()
        return LoggedResponse(response, *counter.log_fields(), counter.codes, counter.reasons)

    @rpc_stream_handler
    async def ValidateStream(  # noqa: N802
        self, requests: AsyncIterator[ValidateStreamRequest | Unreadable]
    ) -> AsyncIterator[ValidateStreamResponse]:
        """Validate payloads as they arrive, in their order."""
        defaults = StreamDefaults()
        default = self._prepare(defaults.target, defaults.options)
        first = True
        async for request in requests:
            if (
                first
                and isinstance(request, ValidateStreamRequest)
                and request.HasField("defaults")
            ):
                defaults = request.defaults
                await self.changes.wait_for_revision(defaults.min_revision)
                default = self._prepare(defaults.target, defaults.options)
            else:
                if not self._prepared_targets.is_current(default):
                    default = self._prepare(defaults.target, defaults.options)
                yield await self._respond(request, default, defaults)
            first = False

    async def _respond(
        self,
        request: ValidateStreamRequest | Unreadable,
        default: PreparedTarget,
        defaults: StreamDefaults,
    ) -> ValidateStreamResponse:
        try:
            item = read_item(request)
        except RequestError as error:
            outcome = ValidateOutcome(error=status_from_error(error))
            return ValidateStreamResponse(outcome=outcome, registry_revision=default.revision)
        prepared = self._prepare_item(default, defaults.target, defaults.options, item.item)
        outcome = await _item_outcome(None, prepared, item.item, "ValidateStream")
        revision = prepared.revision
        return ValidateStreamResponse(id=item.id, outcome=outcome, registry_revision=revision)

    def _prepare(
        self, target: target_pb2.Target, options: options_pb2.ValidationOptions | None
    ) -> PreparedTarget:
        """Return a prepared target; its use raises errors of *target* and *options*."""
        key = (target.SerializeToString(), b"" if options is None else options.SerializeToString())
        prepared = self._prepared_targets.find(key)
        if prepared is not None:
            return prepared
        return self._prepared_targets.add(
            key,
            _value_or_error(lambda: target_from_proto(target)),
            _value_or_error(
                lambda: options_from_proto(options or options_pb2.ValidationOptions(), self._limits)
            ),
        )

    def _prepare_item(
        self,
        default: PreparedTarget,
        target: target_pb2.Target,
        options: options_pb2.ValidationOptions,
        item: ValidateItem,
    ) -> PreparedTarget:
        """Return the prepared target of *item*, which may override the defaults."""
        has_target, has_options = item.HasField("target"), item.HasField("options")
        if not (has_target or has_options):
            return default
        return self._prepare(
            item.target if has_target else target, item.options if has_options else options
        )


class _EncodedOutcome(NamedTuple):
    """The messages of an outcome that all valid payloads of a prepared target share."""

    response: LoggedResponse
    item: ValidateOutcome


def _encode(outcome: ValidationOutcome, revision: int) -> _EncodedOutcome:
    """Encode the shared *outcome* and store the result in it."""
    verdict = outcome_to_proto(outcome)
    response = ValidateResponse(verdict=verdict, registry_revision=revision)
    shared = SharedResponse(response, response.SerializeToString())
    logged = LoggedResponse(shared, *log_fields(response))
    encoded = outcome.encoded = _EncodedOutcome(logged, ValidateOutcome(verdict=verdict))
    return encoded


async def _item_outcome(
    outcome: ValidationOutcome | None,
    prepared: PreparedTarget,
    item: ValidateItem,
    method: str,
    budget: BatchBudget | None = None,
    *,
    was_tried: bool = False,
) -> ValidateOutcome:
    """Return the message of *outcome*, or validate *item* if that is None.

    An error becomes the outcome of the item, and does not affect other items.
    """
    try:
        if outcome is None:
            kind, payload = subject_from_proto(item.subject)
            outcome = await prepared.validate(kind, payload, budget, was_tried=was_tried)
        if outcome.shared:
            return (outcome.encoded or _encode(outcome, prepared.revision)).item
        return ValidateOutcome(verdict=outcome_to_proto(outcome))
    except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the client)
        return ValidateOutcome(error=status_of(error, method))


def _value_or_error(read: Callable[[], _Value]) -> _Value | RequestError:
    try:
        return read()
    except RequestError as error:
        return copy(error)
