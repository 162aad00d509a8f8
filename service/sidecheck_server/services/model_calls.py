"""Restoring of the calls that models make: turned back by a plan, and judged."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import msgspec

from sidecheck_server.core.convert.call_resolution import (
    CallResolution,
    ResolvedArguments,
    check_definition,
    common_api,
    select_mapping,
    with_model_names,
)
from sidecheck_server.core.convert.mapping import ToolMapping, mapping_from_json
from sidecheck_server.core.convert.model_call import ModelCall, read_model_call
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.calls.members import is_object
from sidecheck_server.core.mcp.calls.params import ARGUMENTS
from sidecheck_server.core.types import Change, Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.services.calls import WholeVerdict
from sidecheck_server.services.protocol import allow
from sidecheck_server.services.targets import DefinitionDigest, RegisteredTool, Side, Target
from sidecheck_server.services.validation import ResolvedDefinition, ResolvedSchema, Validator

__all__ = ["CallToRestore", "RestoredCall", "Restorer"]

_INLINE_BYTES = 8 << 10
"""The largest call whose arguments are written again in the event loop, if nothing is to be
turned back in them, and the largest plan that is read there: a few milliseconds."""


@dataclass(frozen=True, slots=True)
class CallToRestore:
    """A call that a model made, as its API gave it."""

    #: Its JSON text.
    call: bytes
    #: The plan of the tool that was called, among others or not, as JSON texts.
    plans: tuple[bytes, ...]
    #: The original tool, or None for the registered one that the plan names.
    target: Target | None
    how: EvaluationOptions
    assert_formats: bool = False


@dataclass(frozen=True, slots=True)
class RestoredCall:
    """A call as MCP has it."""

    #: "" if there is none, as the name of the tool and the id are if they cannot be read.
    server: str
    tool: str
    call_id: str
    #: The ``params`` of the ``tools/call``, or b"" if the arguments are not an object.
    params: bytes
    #: The verdict on the arguments, or on a call that cannot be read, and that on what of
    #: it are the arguments, as the model is told: tool and members have the names there that
    #: it knows.
    whole: WholeVerdict
    #: What was done to the arguments.
    changes: tuple[Change, ...] = ()
    #: The arguments as JSON text, or b"" if the call cannot be read.
    arguments: bytes = b""


class Restorer:
    """Restores calls."""

    def __init__(self, validator: Validator, registry: Registry, limits: Limits) -> None:
        self._validator = validator
        self._registry = registry
        self._limits = limits

    async def restore(self, asked: CallToRestore) -> RestoredCall:
        """Return what a call means under the original definition of its tool, and a verdict.

        Where the arguments can mean several things it is the first that is valid, or is
        once strings that hold an object or an array are decoded where one is demanded.

        Raises:
            Refusal: INVALID_REQUEST if there is no plan, or they are of several APIs;
                INVALID_MAPPING; MAPPING_MISMATCH; as `Validator.definition`, and
                UNKNOWN_DEFINITION if no tool is sent along and that of the plan is not
                registered; LIMIT_EXCEEDED; WORKER_CRASHED.
        """
        plans = [plan async for plan in self._read_plans(asked.plans)]
        api = PROVIDERS[common_api(plans)]
        most = asked.how.max_violations
        call = await self._read(asked.call, api, most)
        plan = select_mapping(plans, call)
        if plan is None:
            return RestoredCall("", "", call.id, b"", _unreadable(call))
        if asked.target is not None:
            await self._validator.read_ahead(asked.target)
        target, found = self._found(asked.target, plan)
        check_definition(plan, found.digest)
        if call.arguments is None or not call.verdict.valid:
            whole = _unreadable(call, plan.name, plan.definition_digest)
            return RestoredCall(plan.server, plan.tool, call.id, b"", whole)
        standard = await self._validator.find(
            target, Side.INPUT, assert_formats=asked.assert_formats
        )
        meant = await self._meant(call, len(asked.call), plan, standard, asked.how)
        return RestoredCall(
            server=plan.server,
            tool=plan.tool,
            call_id=call.id,
            params=_params(plan.tool, meant.payload),
            whole=WholeVerdict(
                meant.verdict,
                plan.name,
                standard.definition_digest,
                standard.schema_digest,
                standard.enforced,
                part=with_model_names(meant.verdict, plan.decoder),
            ),
            changes=meant.changes,
            arguments=meant.payload,
        )

    async def _read(self, text: bytes, api: Provider, most: int) -> ModelCall:
        if len(text) <= self._limits.inline_bytes:
            return read_model_call(text, api, self._limits, most=most)
        # Megabytes take longer than a moment; other calls have their turn in between.
        return await asyncio.to_thread(read_model_call, text, api, self._limits, most=most)

    async def _read_plans(self, texts: Sequence[bytes]) -> AsyncIterator[ToolMapping]:
        for text in texts:
            # Reading holds the loop; other calls have their turn in between.
            if len(text) > _INLINE_BYTES:
                yield await asyncio.to_thread(mapping_from_json, text, self._limits)
            else:
                yield mapping_from_json(text, self._limits)
                await asyncio.sleep(0)

    def _found(self, target: Target | None, plan: ToolMapping) -> tuple[Target, ResolvedDefinition]:
        """Return what to judge under, and the definition of the tool that it is."""
        if target is not None:
            return target, self._validator.definition(target)
        bound = self._registry.find(plan.server, plan.tool)
        if bound is not None and bound.definition.digest == plan.definition_digest:
            # By its name, whether the caller should act on the verdict is known too.
            named = RegisteredTool(plan.server, plan.tool)
            return named, self._validator.definition(named)
        by_digest = DefinitionDigest(plan.definition_digest)
        try:
            return by_digest, self._validator.definition(by_digest)
        except RequestError as refusal:
            raise RequestError(
                ErrorReason.UNKNOWN_DEFINITION,
                f"the definition of {plan.tool[:128]!r} that the plan is of is not registered: "
                "send the tool along with the call, or register it",
                refusal.metadata,
            ) from None

    async def _meant(
        self,
        call: ModelCall,
        length: int,
        plan: ToolMapping,
        standard: ResolvedSchema,
        how: EvaluationOptions,
    ) -> ResolvedArguments:
        """Return what the arguments of *call*, which has *length* bytes, mean."""
        meaning = CallResolution(call, plan, how, self._limits)
        at_once = plan.decoder is None and length <= _INLINE_BYTES
        verdict: Verdict | None = None
        while True:
            # What a guide asks for may take longer than a moment.
            step = (
                meaning.advance(verdict)
                if at_once
                else await asyncio.to_thread(meaning.advance, verdict)
            )
            if isinstance(step, ResolvedArguments):
                return step
            verdict = await self._validator.judge(standard, step.payload, step.options, allow)


def _unreadable(call: ModelCall, name: str = "", digest: str = "") -> WholeVerdict:
    # The model is told of its arguments, and knows nothing of what is around them.
    return WholeVerdict(call.verdict, name, digest, part=call.arguments_verdict, malformed=True)


def _params(tool: str, arguments: bytes) -> bytes:
    if not is_object(arguments):
        return b""
    return msgspec.json.encode({"name": tool, ARGUMENTS: msgspec.Raw(arguments)})
