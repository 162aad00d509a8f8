"""Conversion of a case to a request, and of a response to the summary that a case expects.

A summary is one of

- ``{"reason": …}``, with the ``bound`` for LIMIT_EXCEEDED: a status with a reason;
- ``{"status": …}``: a status of gRPC itself, without a reason;
- ``{"verdict": "valid"}``, or ``{"verdict": "invalid", "codes": […]}`` with distinct codes,
  and ``"truncated": true`` for a truncated verdict;
- ``{"outcomes": {…}}``: the number of items of a batch, or of tools of a registration or a
  conversion, by outcome; with the ``codes`` of violations of a whole conversion request;
- ``{"tools": n}``: the number of inferred tools, with the ``codes`` of the diagnostics;
- ``{"answered": true}`` for any other response;
- ``{"unanswered": …}``: the deadline passed, or the server ended.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from hostile.building import build
from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
    options_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
    verdict_pb2,
)
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool

__all__ = ["Question", "answer_of", "question_of", "refusal_answer"]

_RESPONSES: Mapping[str, type[Message]] = {
    "ValidationService/Validate": validation_service_pb2.ValidateResponse,
    "ValidationService/ValidateBatch": validation_service_pb2.ValidateBatchResponse,
    "RegistryService/RegisterTools": registry_service_pb2.RegisterToolsResponse,
    "RegistryService/GetTool": registry_service_pb2.GetToolResponse,
    "RegistryService/ListTools": registry_service_pb2.ListToolsResponse,
    "RegistryService/DeleteTools": registry_service_pb2.DeleteToolsResponse,
    "ProtocolService/CheckMessage": protocol_service_pb2.CheckMessageResponse,
    "ProtocolService/CheckSampling": protocol_service_pb2.CheckSamplingResponse,
    "ProtocolService/CheckElicitation": protocol_service_pb2.CheckElicitationResponse,
    "ProtocolService/CheckToolNames": protocol_service_pb2.CheckToolNamesResponse,
    "ProtocolService/CheckTools": protocol_service_pb2.CheckToolsResponse,
    "ProtocolService/CheckSession": protocol_service_pb2.CheckSessionResponse,
    "ConversionService/ConvertTools": conversion_service_pb2.ConvertToolsResponse,
    "ConversionService/ConvertToolCall": conversion_service_pb2.ConvertToolCallResponse,
    "ConversionService/ConvertToolResult": conversion_service_pb2.ConvertToolResultResponse,
    "InferenceService/InferTools": inference_service_pb2.InferToolsResponse,
    "InferenceService/AdaptTool": inference_service_pb2.AdaptToolResponse,
    "ProtocolService/NormalizeToolResult": protocol_service_pb2.NormalizeToolResultResponse,
    "InfoService/GetServerInfo": info_service_pb2.GetServerInfoResponse,
}


_ERROR = verdict_pb2.SEVERITY_ERROR


@dataclass(frozen=True, slots=True)
class Question:
    """A method, and the bytes of its request."""

    method: str
    message: bytes


def question_of(
    asks: Mapping[str, Any], baits: Mapping[str, str] | None = None, *, turn: int = 0
) -> Question:
    """Return the request that a case describes.

    Each *turn* appends other white space, so that the server compiles its schemas again.
    """
    asker = _Asker(baits or {}, b" " * turn)
    if "call" in asks:
        return Question(asks["call"], asker.text(asks["message"]))
    if "register" in asks:
        return Question("RegistryService/RegisterTools", asker.registration(asks["register"]))
    if "convert" in asks:
        return Question("ConversionService/ConvertTools", asker.conversion(asks["convert"]))
    if "restore" in asks:
        return Question("ConversionService/ConvertToolCall", asker.tool_call(asks["restore"]))
    if "tell" in asks:
        return Question("ConversionService/ConvertToolResult", asker.tool_result(asks["tell"]))
    if "infer" in asks:
        return Question("InferenceService/InferTools", asker.inference(asks))
    if "project" in asks:
        return Question("InferenceService/AdaptTool", asker.adaptation(asks["project"]))
    if "normalize" in asks:
        return Question(
            "ProtocolService/NormalizeToolResult", asker.normalization(asks["normalize"])
        )
    if "items" in asks:
        batch = validation_service_pb2.ValidateBatchRequest(items=asker.items(asks["items"]))
        return Question("ValidationService/ValidateBatch", batch.SerializeToString())
    return Question("ValidationService/Validate", asker.item(asks).SerializeToString())


class _Asker:
    def __init__(self, baits: Mapping[str, str], space: bytes) -> None:
        self._baits = baits
        self._space = space

    def text(self, text: Any) -> bytes:
        return build(text, self._baits)

    def item(self, asks: Mapping[str, Any]) -> Any:
        documents = [
            target_pb2.Document(
                uri=self.text(document["uri"]).decode(), json=self.text(document["json"])
            )
            for document in _each(asks.get("documents", ()))
        ]
        if "tool" in asks:
            tool = target_pb2.InlineTool(
                json=self.text(asks["tool"]) + self._space, documents=documents
            )
            target = target_pb2.Target(inline_tool=tool)
        else:
            schema = target_pb2.InlineSchema(
                json=self.text(asks["schema"]) + self._space,
                documents=documents,
                default_dialect=asks.get("default_dialect", ""),
            )
            target = target_pb2.Target(inline_schema=schema)
        subject: dict[str, Any] = {asks.get("side", "arguments"): self.text(asks["payload"])}
        return validation_service_pb2.ValidateRequest(
            target=target,
            subject=target_pb2.Subject(**subject),
            options=options_pb2.ValidationOptions(**asks.get("options", {})),
        )

    def items(self, items: list[Mapping[str, Any]]) -> list[Any]:
        requests = map(self.item, _each(items))
        return [
            validation_service_pb2.ValidateItem(
                target=request.target, subject=request.subject, options=request.options
            )
            for request in requests
        ]

    def registration(self, asks: Mapping[str, Any]) -> bytes:
        tools = list(map(self._tool, _each(asks["tools"])))
        return registry_service_pb2.RegisterToolsRequest(
            server=asks["server"], tools=tools, **asks.get("how", {})
        ).SerializeToString()

    def conversion(self, asks: Mapping[str, Any]) -> bytes:
        tools = [
            conversion_service_pb2.ToolToConvert(
                tool=target_pb2.Target(inline_tool=self._tool(tool)),
                server=self.text(tool.get("server", "")).decode(),
            )
            for tool in _each(asks["tools"])
        ]
        return conversion_service_pb2.ConvertToolsRequest(
            api=_api(asks),
            tools=tools,
            servers=asks.get("servers", ()),
            options=conversion_service_pb2.ConversionOptions(**asks.get("how", {})),
        ).SerializeToString()

    def tool_call(self, asks: Mapping[str, Any]) -> bytes:
        tool = self._tool(asks)
        mappings = [
            self.text(mapping["mapping"]).replace(b"<digest>", _digest_of(tool).encode())
            for mapping in _each(asks["mappings"])
        ]
        return conversion_service_pb2.ConvertToolCallRequest(
            call=self.text(asks["call"]),
            mappings=mappings,
            tool=target_pb2.Target(inline_tool=tool),
        ).SerializeToString()

    def tool_result(self, asks: Mapping[str, Any]) -> bytes:
        result = protocol_service_pb2.ToolResult(
            json=self.text(asks["result"]) + self._space, profile=asks.get("profile", 0)
        )
        if "tool" in asks:
            result.tool.CopyFrom(target_pb2.Target(inline_tool=self._tool(asks)))
        return conversion_service_pb2.ConvertToolResultRequest(
            api=_api(asks), result=result, call_id=asks.get("call_id", "c1"), name="called"
        ).SerializeToString()

    def inference(self, asks: Mapping[str, Any]) -> bytes:
        return inference_service_pb2.InferToolsRequest(
            source=self.text(asks["infer"]) + self._space, **asks.get("how", {})
        ).SerializeToString()

    def adaptation(self, asks: Mapping[str, Any]) -> bytes:
        return inference_service_pb2.AdaptToolRequest(
            tool=target_pb2.Target(inline_tool=self._tool(asks)),
            protocol_version=asks.get("version", ""),
        ).SerializeToString()

    def normalization(self, asks: Mapping[str, Any]) -> bytes:
        fields: dict[str, Any] = {
            name: self.text(asks[name]) for name in _RESULT_FIELDS if name in asks
        }
        request = protocol_service_pb2.NormalizeToolResultRequest(
            profile=asks.get("profile", 0), **fields
        )
        request.context.protocol_version = asks.get("version", "")
        if "tool" in asks:
            request.tool.CopyFrom(target_pb2.Target(inline_tool=self._tool(asks)))
        return request.SerializeToString()

    def _tool(self, asks: Mapping[str, Any]) -> Any:
        documents = [
            target_pb2.Document(uri=document["uri"], json=self.text(document["json"]))
            for document in asks.get("documents", ())
        ]
        return target_pb2.InlineTool(
            json=self.text(asks["tool"]) + self._space, documents=documents
        )


_RESULT_FIELDS = ("value", "content", "result", "error")


def _api(asks: Mapping[str, Any]) -> Any:
    """Return the protobuf name of the API; a case has the name that a mapping has."""
    return "MODEL_API_" + asks["api"].upper().replace("-", "_")


def _digest_of(tool: Any) -> str:
    """Return the digest of the definition *tool*, or "" if it is not a valid definition."""
    try:
        return read_tool(tool.json, (), Limits()).digest
    except RequestError:
        return ""


def _each(parts: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Yield *parts*; a part with ``times`` is repeated that many times."""
    for part in parts:
        if "times" not in part:
            yield part
            continue
        once = {key: value for key, value in part.items() if key != "times"}
        texts = [key for key in _TEXTS if key in once]
        built = {key: _split_turns(once[key], part["times"]) for key in texts}
        for turn in range(part["times"]):
            yield {**once, **{key: {"hex": built[key](turn).hex()} for key in texts}}


_TEXTS = ("uri", "json", "schema", "tool", "payload", "mapping", "server")


def _split_turns(text: Any, times: int) -> Callable[[int], bytes]:
    mark = b"\0next\0"
    turns = build({"repeat": text, "times": times, "between": mark.decode(), "as": "n"})
    return turns.split(mark).__getitem__


# What came back


def answer_of(method: str, response: bytes) -> tuple[dict[str, Any], Any]:
    """Return the summary of *response*, and the response without the registry's revision."""
    message: Any = _RESPONSES[method].FromString(response)
    if "registry_revision" in message.DESCRIPTOR.fields_by_name:
        message.ClearField("registry_revision")
    if isinstance(message, protocol_service_pb2.CheckSessionResponse):
        return _checked(message.outcome), message
    if isinstance(message, inference_service_pb2.InferToolsResponse):
        codes = sorted({diagnostic.code for diagnostic in message.diagnostics})
        return {"tools": len(message.tools), **({"codes": codes} if codes else {})}, message
    if isinstance(message, conversion_service_pb2.ConvertToolsResponse):
        codes = sorted({violation.code for violation in message.request.violations})
        outcomes = _counted(map(_converted, message.conversions))
        return {**outcomes, **({"codes": codes} if codes else {})}, message
    if "verdict" in message.DESCRIPTOR.fields_by_name:
        return _verdict(message.verdict), message
    if "result" in message.DESCRIPTOR.fields_by_name:
        return _verdict(message.result.verdict), message
    if isinstance(message, validation_service_pb2.ValidateBatchResponse):
        return _counted(map(_outcome, message.outcomes)), message
    if isinstance(message, registry_service_pb2.RegisterToolsResponse):
        outcomes = _counted(map(_registered, message.outcomes))
        # The second registration of the same tools changes nothing.
        for outcome in message.outcomes:
            outcome.ClearField("action")
            outcome.ClearField("previous_definition_digest")
        message.ClearField("removed")
        return outcomes, message
    return {"answered": True}, message


def refusal_answer(error: grpc.RpcError) -> tuple[dict[str, Any], Any]:
    """Return the summary of a failed call, and its details."""
    assert isinstance(error, grpc.Call)
    trailers = dict(error.trailing_metadata() or ())
    if "grpc-status-details-bin" in trailers:
        return _refusal(Status.FromString(trailers["grpc-status-details-bin"])), error.details()
    return {"status": error.code().name}, error.details()


def _refusal(status: Status) -> dict[str, Any]:
    info = ErrorInfo()
    assert status.details[0].Unpack(info)
    bound = {"bound": info.metadata["bound"]} if "bound" in info.metadata else {}
    return {"reason": info.reason, **bound}


def _verdict(verdict: verdict_pb2.Verdict) -> dict[str, Any]:
    errors = [violation for violation in verdict.violations if violation.severity == _ERROR]
    assert verdict.valid == (not errors)
    if not verdict.violations:
        return {"verdict": "valid"}
    codes = sorted({violation.code for violation in verdict.violations})
    truncated = {"truncated": True} if verdict.truncated else {}
    return {"verdict": "valid" if verdict.valid else "invalid", "codes": codes, **truncated}


def _checked(outcome: protocol_service_pb2.CheckOutcome) -> dict[str, Any]:
    if outcome.HasField("error"):
        return _refusal(outcome.error)
    return _verdict(outcome.result.verdict)


def _outcome(outcome: validation_service_pb2.ValidateOutcome) -> str:
    if outcome.WhichOneof("outcome") == "error":
        return " ".join(_refusal(outcome.error).values())
    verdict = _verdict(outcome.verdict)
    return " ".join(
        [verdict["verdict"], *verdict.get("codes", ()), *["…"] * ("truncated" in verdict)]
    )


def _converted(conversion: conversion_service_pb2.ToolConversion) -> str:
    if conversion.WhichOneof("outcome") == "error":
        return " ".join(_refusal(conversion.error).values())
    return "converted"


def _registered(outcome: registry_service_pb2.RegistrationOutcome) -> str:
    action = registry_service_pb2.RegistrationOutcome.Action.Name(outcome.action)
    # The first registration creates a tool that the second leaves as it is.
    done = "REJECTED" if action == "ACTION_REJECTED" else "registered"
    return " ".join([done, *sorted({problem.code for problem in outcome.violations})])


def _counted(outcomes: Iterable[str]) -> dict[str, Any]:
    return {"outcomes": dict(sorted(Counter(outcomes).items()))}
