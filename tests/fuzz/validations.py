"""Comparison of the verdicts of a real server.

The same bytes have the same verdict: in a repeated call, as an item of a batch, as an item
of a stream, and from the core in this process.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fuzz.answers import CORE, SUDDEN, answer_in, reason_in
from fuzz.exchanges import Caller, Exchange, Outcome
from fuzz.properties import Finding
from google.protobuf.message import DecodeError
from sidecheck.v1 import validation_service_pb2 as v1
from sidecheck.v1.verdict_pb2 import Verdict
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.mcp.results.check import require_object
from sidecheck_server.core.mcp.tool_definitions import read_tool
from sidecheck_server.core.mcp.wrapping.definitions import adapt_tool
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, SchemaSource
from sidecheck_server.core.types import Document

__all__ = ["VALIDATE", "examine_validation"]

VALIDATE = "/sidecheck.v1.ValidationService/Validate"
_BATCH = "/sidecheck.v1.ValidationService/ValidateBatch"
_STREAM = "/sidecheck.v1.ValidationService/ValidateStream"
_LIMITS = Limits()
# Options of the core; another option changes the subject, or belongs to the service.
_PLAIN = {"max_violations", "assert_formats", "hide_values", "protocol_version"}


def examine_validation(caller: Caller, exchange: Exchange, outcome: Outcome) -> Iterator[Finding]:
    """Yield the differences between *outcome* and other answers to the same request."""
    if exchange.path != VALIDATE:
        return
    try:
        request = v1.ValidateRequest.FromString(exchange.messages[0])
    except DecodeError:
        return
    if request.target.WhichOneof("target") not in {"inline_schema", "inline_tool"}:
        return  # another call may change the registry meanwhile
    first = _answer(VALIDATE, outcome)
    if first is None or first in SUDDEN or first == ErrorReason.REVISION_NOT_REACHED.value:
        return  # the batch and the stream have no min_revision
    others = {
        "in a repeated call": exchange,
        "in a batch": _in_batch(exchange, request),
        "in a stream": _in_stream(exchange, request),
    }
    for where, variant in others.items():
        answer = _answer(variant.path, caller.send(variant))
        if answer is not None and answer not in SUDDEN and answer != first:
            yield Finding(f"another verdict {where}", f"{first}\n{answer}", [exchange, variant])
    try:
        with CORE:
            core = _from_core(request)
    except Exception as error:  # noqa: BLE001  (any exception is a finding)
        core = f"raised {type(error).__name__}: {error}"
    if core is not None and core != _reduced(first):
        yield Finding("the core differs", f"{_reduced(first)}\n{core}", [exchange])


def _in_batch(exchange: Exchange, request: v1.ValidateRequest) -> Exchange:
    # The target and options are those of the batch here, and those of the item in a stream.
    batch = v1.ValidateBatchRequest(
        target=request.target, items=[v1.ValidateItem(subject=request.subject)]
    )
    if request.HasField("options"):
        batch.options.CopyFrom(request.options)
    return replace(exchange, path=_BATCH, messages=(batch.SerializeToString(),))


def _in_stream(exchange: Exchange, request: v1.ValidateRequest) -> Exchange:
    item = v1.ValidateItem(target=request.target, subject=request.subject)
    if request.HasField("options"):
        item.options.CopyFrom(request.options)
    message = v1.ValidateStreamRequest(item=v1.StreamItem(id="i", item=item))
    return replace(exchange, path=_STREAM, messages=(message.SerializeToString(),))


def _answer(path: str, outcome: Outcome) -> Verdict | str | None:
    """Return the verdict, or the reason of the error; None for an error of gRPC itself."""
    response = answer_in(path, outcome)
    if response is None or isinstance(response, str):
        return response
    if path == VALIDATE:
        return response.verdict  # type: ignore[no-any-return]
    answer = response.outcomes[0] if path == _BATCH else response.outcome
    return answer.verdict if answer.HasField("verdict") else reason_in(answer.error)


def _reduced(answer: Verdict | str) -> Any:
    """Return the part of *answer* that the core gives too."""
    if isinstance(answer, str):
        return answer
    return (
        answer.valid,
        answer.truncated,
        [
            (
                violation.instance_location,
                violation.keyword_location,
                violation.keyword,
                violation.code,
                violation.message,
            )
            for violation in answer.violations
        ],
    )


def _from_core(request: v1.ValidateRequest) -> Any:
    """Return the reduced verdict of the core or its error's reason; None if it has no answer."""
    options = request.options
    kind = request.subject.WhichOneof("subject")
    set_ = {field.name for field, _ in options.ListFields()}
    if kind not in {"arguments", "structured_content"} or set_ - _PLAIN:
        return None
    if options.protocol_version:
        return None
    evaluation_options = EvaluationOptions(
        max_violations=min(options.max_violations or 20, _LIMITS.violations),
        hide_values=options.hide_values,
    )
    try:
        source = _source(request, output=kind == "structured_content")
        if source is None:
            return ErrorReason.NO_OUTPUT_SCHEMA.value
        if kind == "structured_content" and _is_adapted(request):
            return None
        source = replace(source, assert_formats=options.assert_formats)
        compiled = CompiledSchema(source, compile_schema(source, _LIMITS), _LIMITS)
        payload = getattr(request.subject, kind)
        verdict = evaluate(compiled, payload, evaluation_options)
        if kind == "structured_content":
            verdict = require_object(verdict, payload, evaluation_options, DEFAULT_VERSION)
    except RequestError as refusal:
        return refusal.reason.value
    return (
        verdict.valid,
        verdict.truncated,
        [
            (
                violation.instance_location,
                violation.keyword_location,
                violation.keyword,
                violation.code,
                violation.message,
            )
            for violation in verdict.violations
        ],
    )


def _source(request: v1.ValidateRequest, *, output: bool) -> SchemaSource | None:
    target = request.target
    if target.HasField("inline_schema"):
        schema = target.inline_schema
        dialect = schema.default_dialect or DEFAULT_DIALECT.uri
        return SchemaSource(schema.json, _documents(schema.documents), dialect)
    inline = target.inline_tool
    tool = read_tool(inline.json, _documents(inline.documents), _LIMITS)
    return tool.output if output else tool.input


def _is_adapted(request: v1.ValidateRequest) -> bool:
    """Return whether the output schema of an inline tool is wrapped for the default version."""
    tool = request.target.inline_tool.json
    return bool(tool) and adapt_tool(tool, DEFAULT_VERSION, _LIMITS).wraps_output


def _documents(documents: Any) -> tuple[Document, ...]:
    return tuple(Document(document.uri, document.json) for document in documents)
