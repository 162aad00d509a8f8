"""Conversion of models' calls to MCP, and of tool results to messages."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from sidecheck_server.core.convert.mapping import ToolMapping, mapping_from_json
from sidecheck_server.core.convert.model_call import (
    CallResolution,
    ModelCall,
    ResolvedArguments,
    check_definition,
    common_api,
    read_model_call,
    select_mapping,
    with_model_names,
)
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.result_message import convert_result
from sidecheck_server.core.convert.types import Loss
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.call_errors import invalid_result_response
from sidecheck_server.core.mcp.call_params import ARGUMENTS
from sidecheck_server.core.mcp.subjects import CheckRequest, ToolResult
from sidecheck_server.core.payload import decode, is_object_text
from sidecheck_server.core.types import Change, Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.services.calls import CallVerdict, ResultChecker, reply_for_model_call
from sidecheck_server.services.offload import OffloadRule, Work, allow_offloading
from sidecheck_server.services.prepared_targets import ValidationOutcome
from sidecheck_server.services.resolution import ResolvedSchema, ResolvedTool, TargetResolver
from sidecheck_server.services.targets import DefinitionDigest, RegisteredTool, Side, Target
from sidecheck_server.services.validation import ValidationOptions, Validator

__all__ = [
    "CallConverter",
    "CallToConvert",
    "ConvertedCall",
    "ConvertedResult",
    "ResultConverter",
    "ResultToConvert",
]


@dataclass(frozen=True, slots=True)
class ResultToConvert:
    """A tool result to convert to a message."""

    api: Provider
    #: The ``CallToolResult``, with the options of its check.
    request: CheckRequest
    #: The tool that returned the result, or None if it is not known.
    target: Target | None
    #: Whether the request names the protocol version itself.
    names_version: bool
    #: The id that the API gave the call, or "".
    call_id: str
    #: The name of the tool in the API, or "".
    name: str


@dataclass(frozen=True, slots=True)
class ConvertedResult:
    """A tool result as a message of an API."""

    #: The message or the item, as JSON text.
    message: bytes
    #: Parts that the message cannot express, with locations in the result.
    losses: tuple[Loss, ...]
    #: The verdict on the result.
    verdict: Verdict


class ResultConverter:
    """Converts tool results to messages."""

    def __init__(self, resolver: TargetResolver, results: ResultChecker, limits: Limits) -> None:
        self._resolver = resolver
        self._results = results
        self._offload = OffloadRule(limits)

    async def convert(self, result: ResultToConvert) -> ConvertedResult:
        """Return the message for *result*, or for an error result if *result* is invalid.

        Raises:
            RequestError: as `ResultChecker.check` and `convert_result`.
        """
        request, subject = result.request, result.request.subject
        assert isinstance(subject, ToolResult), "only results are converted here"
        if not result.names_version:
            context = self._resolver.context_of(result.target, request.context)
            request = replace(request, context=context)
        check_report = await self._results.check(request, result.target)
        verdict = check_report.findings.verdict()
        text = subject.json
        if not verdict.valid:
            text = invalid_result_response(verdict, request.context.version).call_tool_result
        message, losses = await self._offload.run(
            Work.CONVERT_RESULT, text, lambda: _convert_message(text, result)
        )
        return ConvertedResult(message, losses if verdict.valid else (), verdict)


def _convert_message(text: bytes, result: ResultToConvert) -> tuple[bytes, tuple[Loss, ...]]:
    # The check guarantees an object of bounded depth. `decode` keeps numbers such as 1e300 as
    # text; converting them to integers would take seconds.
    value: Any = decode(text, max_depth=len(text))
    return convert_result(value, result.api, result.call_id, result.name)


@dataclass(frozen=True, slots=True)
class CallToConvert:
    """A call that a model made."""

    #: The JSON text of the call, as the API returned it.
    call: bytes
    # Decision 0035: the caller keeps mappings, and the service checks them like payloads.
    #: JSON texts of mappings, among them the mapping of the called tool.
    mappings: tuple[bytes, ...]
    #: The original tool, or None for the registered tool that the mapping names.
    target: Target | None
    options: ValidationOptions


@dataclass(frozen=True, slots=True)
class ConvertedCall:
    """A call of a model, converted to a call of MCP."""

    #: The server, tool and id of the call; "" for each that is missing or cannot be read.
    server: str
    tool: str
    call_id: str
    #: The ``params`` of the ``tools/call``, or b"" if the arguments are not an object.
    params: bytes
    #: The verdict on the arguments, or on a call that cannot be read. Its ``part`` is the
    #: verdict on the arguments as the model sent them, with the names in the API.
    verdict: CallVerdict
    #: The verdict with the reply to the model.
    outcome: ValidationOutcome
    #: Changes that the conversion made to the arguments.
    changes: tuple[Change, ...] = ()
    #: The arguments as JSON text, or b"" if the call cannot be read.
    arguments: bytes = b""


class CallConverter:
    """Converts calls of models."""

    def __init__(
        self,
        resolver: TargetResolver,
        validator: Validator,
        registry: Registry,
        limits: Limits,
    ) -> None:
        self._resolver = resolver
        self._validator = validator
        self._registry = registry
        self._limits = limits
        self._offload = OffloadRule(limits)

    async def convert(self, request: CallToConvert) -> ConvertedCall:
        """Return the call in terms of the original definition of its tool, with a verdict.

        Arguments may have several readings. The first one is returned that is valid, or that
        becomes valid by decoding strings with the JSON text of an object or array where the
        schema requires one.

        Raises:
            RequestError: INVALID_REQUEST if there is no mapping, or the mappings are for
                several APIs; INVALID_MAPPING; MAPPING_MISMATCH; UNKNOWN_DEFINITION if the
                request has no tool and the tool of the mapping is not registered;
                LIMIT_EXCEEDED; WORKER_CRASHED; as `TargetResolver.resolve_tool`.
        """
        options = replace(
            request.options,
            version=self._resolver.version_of(request.target, request.options.version),
        )
        mappings = [mapping async for mapping in self._read_mappings(request.mappings)]
        api = PROVIDERS[common_api(mappings)]
        call = await self._read(request.call, api, options.evaluation.max_violations)
        mapping = select_mapping(mappings, call)
        if mapping is None:
            return _converted_call("", "", call, _unreadable_verdict(call), options)
        target, tool = await self._resolve(request.target, mapping)
        check_definition(mapping, tool.definition_digest)
        server, name = mapping.server, mapping.tool
        if call.arguments is None or not call.verdict.valid:
            verdict = _unreadable_verdict(call, mapping.name, mapping.definition_digest)
            return _converted_call(server, name, call, verdict, options)
        schema = await self._resolver.resolve_schema(
            target, Side.INPUT, options.version, assert_formats=options.assert_formats
        )
        resolved = await self._convert(call, request.call, mapping, schema, options.evaluation)
        verdict = CallVerdict(
            resolved.verdict,
            mapping.name,
            schema.definition_digest,
            schema.schema_digest,
            schema.enforced,
            part=with_model_names(resolved.verdict, mapping.decoder),
        )
        converted = _converted_call(server, name, call, verdict, options)
        return replace(
            converted,
            params=_encode_params(name, resolved.payload),
            changes=resolved.changes,
            arguments=resolved.payload,
        )

    async def _read(self, text: bytes, api: Provider, max_violations: int) -> ModelCall:
        return await self._offload.run(
            Work.DECODE,
            text,
            lambda: read_model_call(text, api, self._limits, max_violations=max_violations),
        )

    async def _read_mappings(self, texts: Sequence[bytes]) -> AsyncIterator[ToolMapping]:
        for text in texts:
            if self._offload.runs_inline(Work.READ_MAPPING, text):
                yield mapping_from_json(text, self._limits)
                await asyncio.sleep(0)
            else:
                yield await asyncio.to_thread(mapping_from_json, text, self._limits)

    async def _resolve(
        self, target: Target | None, mapping: ToolMapping
    ) -> tuple[Target, ResolvedTool]:
        """Return the target to validate against, and the tool of that target."""
        if target is not None:
            return target, await self._resolver.resolve_tool(target)
        binding = self._registry.find(mapping.server, mapping.tool)
        if binding is not None and binding.definition.digest == mapping.definition_digest:
            # By name rather than by digest, so that `report_only` applies to the server.
            named = RegisteredTool(mapping.server, mapping.tool)
            return named, await self._resolver.resolve_tool(named)
        by_digest = DefinitionDigest(mapping.definition_digest)
        try:
            return by_digest, await self._resolver.resolve_tool(by_digest)
        except RequestError as error:
            raise RequestError(
                ErrorReason.UNKNOWN_DEFINITION,
                f"the definition of {mapping.tool[:128]!r} that the mapping was made from is "
                "not registered; send the tool with the call, or register it",
                error.metadata,
            ) from None

    async def _convert(
        self,
        call: ModelCall,
        text: bytes,
        mapping: ToolMapping,
        schema: ResolvedSchema,
        options: EvaluationOptions,
    ) -> ResolvedArguments:
        """Return the arguments of *call*, whose JSON is *text*, for the original schema."""
        resolution = CallResolution(call, mapping, options, self._limits)
        # Decoding arguments takes far more steps than their length.
        inline = mapping.decoder is None and self._offload.runs_inline(Work.READ_MAPPING, text)
        verdict: Verdict | None = None
        while True:
            if inline:
                step = resolution.advance(verdict)
            else:
                step = await asyncio.to_thread(resolution.advance, verdict)
            if isinstance(step, ResolvedArguments):
                return step
            verdict = await self._validator.validate(
                schema, step.payload, step.options, allow_offloading
            )


def _converted_call(
    server: str, tool: str, call: ModelCall, verdict: CallVerdict, options: ValidationOptions
) -> ConvertedCall:
    outcome = ValidationOutcome(
        verdict.verdict,
        verdict.definition_digest,
        verdict.schema_digest,
        verdict.enforced,
        options.lists_violations,
        reply_for_model_call(verdict, options),
    )
    return ConvertedCall(server, tool, call.id, b"", verdict, outcome)


def _unreadable_verdict(call: ModelCall, name: str = "", digest: str = "") -> CallVerdict:
    # A model can correct its arguments, but not the JSON around them.
    part = call.arguments_verdict
    return CallVerdict(call.verdict, name, digest, part=part, malformed=True)


def _encode_params(tool: str, arguments: bytes) -> bytes:
    if not is_object_text(arguments):
        return b""
    return msgspec.json.encode({"name": tool, ARGUMENTS: msgspec.Raw(arguments)})
