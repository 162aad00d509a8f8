"""ValidationService."""

import time
from asyncio import sleep

from sidecheck.v1 import options_pb2, target_pb2
from sidecheck.v1.validation_service_pb2 import (
    ValidateBatchRequest,
    ValidateBatchResponse,
    ValidateItem,
    ValidateOutcome,
    ValidateRequest,
    ValidateResponse,
)
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceServicer
from sidecheck.v1.verdict_pb2 import Verdict

from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.refusals import Refusal
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.answering import answering, internal_error
from sidecheck_server.rpc.convert import validation_from_wire, verdict_to_wire
from sidecheck_server.rpc.status import refusal_to_wire
from sidecheck_server.state.validation import Validator

__all__ = ["ValidationServicer"]

_TURN_SECONDS = 0.004
"""How long a batch works before other calls have their turn."""


class ValidationServicer(ValidationServiceServicer):
    """Judges payloads."""

    def __init__(self, validator: Validator, registry: Registry, limits: Limits) -> None:
        self._validator = validator
        self._registry = registry
        self._limits = limits

    @answering
    async def Validate(self, request: ValidateRequest) -> ValidateResponse:  # noqa: N802
        """Judge one payload."""
        revision = self._registry.revision
        verdict = await self._judge(request.target, request.subject, request.options)
        return ValidateResponse(verdict=verdict, registry_revision=revision)

    @answering
    async def ValidateBatch(  # noqa: N802
        self, request: ValidateBatchRequest
    ) -> ValidateBatchResponse:
        """Judge many payloads in their order."""
        count = len(request.items)
        if count > self._limits.batch_items:
            raise exceeded("batch_items", self._limits.batch_items, "the batch", count)
        revision = self._registry.revision
        outcomes = []
        turn = time.perf_counter()
        for item in request.items:
            outcomes.append(await self._outcome(request, item))
            if time.perf_counter() - turn > _TURN_SECONDS:
                await sleep(0)
                turn = time.perf_counter()
        return ValidateBatchResponse(outcomes=outcomes, registry_revision=revision)

    async def _outcome(self, request: ValidateBatchRequest, item: ValidateItem) -> ValidateOutcome:
        target = item.target if item.HasField("target") else request.target
        options = item.options if item.HasField("options") else request.options
        try:
            return ValidateOutcome(verdict=await self._judge(target, item.subject, options))
        except Refusal as refusal:
            return ValidateOutcome(refusal=refusal_to_wire(refusal))
        except Exception as error:  # noqa: BLE001  (one item must not cost the others)
            return ValidateOutcome(refusal=internal_error(error, "ValidateBatch"))

    async def _judge(
        self,
        target: target_pb2.Target,
        subject: target_pb2.Subject,
        options: options_pb2.ValidationOptions,
    ) -> Verdict:
        validation = validation_from_wire(target, subject, options, self._limits)
        return verdict_to_wire(await self._validator.validate(validation), validation.side)
