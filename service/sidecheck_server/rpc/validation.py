"""ValidationService."""

import time
from asyncio import sleep
from collections.abc import AsyncIterator

from sidecheck.v1.options_pb2 import ValidationOptions
from sidecheck.v1.target_pb2 import Target
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
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.access_log import LoggedResponse
from sidecheck_server.rpc.batches import TURN_SECONDS, Batch
from sidecheck_server.rpc.cases import PreparedTarget, PreparedTargets
from sidecheck_server.rpc.handler import rpc_handler, status_of
from sidecheck_server.rpc.methods import Unreadable
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.rpc.streams import Streams, item_of, rpc_stream_handler
from sidecheck_server.services.calls import ToolCalls
from sidecheck_server.services.validation import Validator

__all__ = ["ValidationServicer"]


class ValidationServicer(ValidationServiceServicer):
    """Judges payloads."""

    def __init__(
        self,
        validator: Validator,
        calls: ToolCalls,
        registry: Registry,
        limits: Limits,
        door: ShutdownGate,
        streams: Streams,
    ) -> None:
        self.door = door
        self.streams = streams
        self._cases = PreparedTargets(validator, calls, registry, limits)
        self._limits = limits

    @rpc_handler
    async def Validate(self, request: ValidateRequest) -> LoggedResponse | ValidateResponse:  # noqa: N802
        """Judge one payload."""
        case = self._cases.of(request.target, request.options)
        answer = case.answer_at_once(request.subject)
        if answer is None:
            verdict = await case.judge(request.subject, tried=True)
            answer = ValidateResponse(verdict=verdict, registry_revision=case.revision)
        return answer

    @rpc_handler
    async def ValidateBatch(self, request: ValidateBatchRequest) -> LoggedResponse:  # noqa: N802
        """Judge many payloads in their order."""
        count = len(request.items)
        if count > self._limits.batch_items:
            raise exceeded("batch_items", self._limits.batch_items, "the batch", count)
        whole = self._cases.of(request.target, request.options)
        response = ValidateBatchResponse(registry_revision=whole.revision)
        batch, append = Batch(count, self._limits), response.outcomes.append
        turn = time.perf_counter()
        for item in request.items:
            case = self._case(whole, request.target, request.options, item)
            try:
                outcome, tried = case.item_at_once(item.subject, batch), True
            except Exception:  # noqa: BLE001  (asked again below, where it is told)
                outcome, tried = None, False
            if outcome is None:
                outcome = await _outcome(case, item, "ValidateBatch", batch, tried=tried)
                batch.tally.look(outcome)
            append(outcome)
            if time.perf_counter() - turn > TURN_SECONDS:
                await sleep(0)
                turn = time.perf_counter()
        return LoggedResponse(response, *batch.tally.told())

    @rpc_stream_handler
    async def ValidateStream(  # noqa: N802
        self, requests: AsyncIterator[ValidateStreamRequest | Unreadable]
    ) -> AsyncIterator[ValidateStreamResponse]:
        """Judge payloads as they come, in their order."""
        defaults = StreamDefaults()
        whole = self._cases.of(defaults.target, defaults.options)
        first = True
        async for request in requests:
            if (
                first
                and isinstance(request, ValidateStreamRequest)
                and request.HasField("defaults")
            ):
                defaults = request.defaults
                whole = self._cases.of(defaults.target, defaults.options)
            else:
                whole = self._cases.still(whole, defaults.target, defaults.options)
                yield await self._answer(request, whole, defaults)
            first = False

    async def _answer(
        self,
        request: ValidateStreamRequest | Unreadable,
        whole: PreparedTarget,
        defaults: StreamDefaults,
    ) -> ValidateStreamResponse:
        try:
            item = item_of(request)
        except RequestError as refusal:
            outcome = ValidateOutcome(error=status_from_error(refusal))
            return ValidateStreamResponse(outcome=outcome, registry_revision=whole.revision)
        case = self._case(whole, defaults.target, defaults.options, item.item)
        outcome = await _outcome(case, item.item, "ValidateStream")
        return ValidateStreamResponse(id=item.id, outcome=outcome, registry_revision=case.revision)

    def _case(
        self, whole: PreparedTarget, target: Target, options: ValidationOptions, item: ValidateItem
    ) -> PreparedTarget:
        """Return the case of *item*, which may replace the target or the options of the whole."""
        own_target, own_options = item.HasField("target"), item.HasField("options")
        if not (own_target or own_options):
            return whole
        return self._cases.of(
            item.target if own_target else target, item.options if own_options else options
        )


async def _outcome(
    case: PreparedTarget,
    item: ValidateItem,
    method: str,
    batch: Batch | None = None,
    *,
    tried: bool = False,
) -> ValidateOutcome:
    """Return the verdict on *item*, or its refusal: one item must not cost the others."""
    try:
        return ValidateOutcome(verdict=await case.judge(item.subject, batch, tried=tried))
    except Exception as error:  # noqa: BLE001  (the border)
        return ValidateOutcome(error=status_of(error, method))
