"""Writes requests to normalize results and to adapt definitions, with related parts.

A normalized result passes the check of results against the definition adapted to its version,
even if the value that the tool returned is invalid.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import grpc
from fuzz.exchanges import Caller, Exchange, Outcome
from fuzz.properties import Finding
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck_server.core.mcp.context import VERSIONS

__all__ = ["NORMALIZE", "PROJECT", "NormalizationWriter", "examine_normalization"]

NORMALIZE = "/sidecheck.v1.ProtocolService/NormalizeToolResult"
PROJECT = "/sidecheck.v1.InferenceService/AdaptTool"
_CHECK = "/sidecheck.v1.ProtocolService/CheckToolResult"
_BLOCK = b'{"type": "text", "text": "a"}'


class NormalizationWriter:
    """Writes the requests of one exchange; *schema* and *payload* make related texts."""

    def __init__(
        self,
        random: Random,
        schema: Callable[[], bytes],
        payload: Callable[[], bytes],
        documents: Callable[[Any], None],
    ) -> None:
        self._random = random
        self._schema = schema
        self._payload = payload
        self._documents = documents

    def request(self, descriptor: Descriptor) -> Message:
        """Return a request of the type *descriptor*."""
        request: Any = GetMessageClass(descriptor)()
        random = self._random
        if random.random() < 0.9:
            tool = request.tool.inline_tool
            tool.json = b'{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": '
            tool.json += self._schema() + b', "title": "T", "icons": []}'
            self._documents(tool.documents)
        version = random.choice(VERSIONS)
        if descriptor.name == "AdaptToolRequest":
            request.protocol_version = version
            return request  # type: ignore[no-any-return]
        request.context.protocol_version = version
        request.options.hide_values = random.random() < 0.3
        request.profile = random.choice((0, 1, 2))
        payload = self._payload()
        match random.randrange(6):
            case 0 | 1 | 2:
                request.value = payload
            case 3:
                request.result = b'{"content": [' + _BLOCK + b'], "structuredContent": '
                request.result += payload + b"}"
            case 4:
                request.content = random.choice((_BLOCK, b"[" + _BLOCK + b"]", payload))
            case _:
                request.error = "It broke."
        return request  # type: ignore[no-any-return]


def examine_normalization(
    caller: Caller, exchange: Exchange, outcome: Outcome
) -> Iterator[Finding]:
    """Yield a finding if the normalized result of *outcome* is invalid."""
    if exchange.path != NORMALIZE or outcome.code is not grpc.StatusCode.OK:
        return
    try:
        request = v1.NormalizeToolResultRequest.FromString(exchange.messages[0])
    except DecodeError:
        return
    normalized = v1.NormalizeToolResultResponse.FromString(outcome.responses[0])
    is_error = json.loads(normalized.result).get("isError") is True
    if not (normalized.verdict.valid or is_error):
        yield Finding("invalid result without isError", normalized.result.decode(), [exchange])
    check = v1.CheckToolResultRequest(context=request.context)
    check.tool_result.json = normalized.result
    check.tool_result.profile = request.profile
    if request.tool.WhichOneof("target") == "inline_tool" and request.profile != 2:
        adapt_request = inference_pb.AdaptToolRequest(
            tool=request.tool, protocol_version=request.context.protocol_version
        )
        path, message = PROJECT, adapt_request.SerializeToString()
        adapt_schema = caller.send(replace(exchange, path=path, messages=(message,)))
        if adapt_schema.code is not grpc.StatusCode.OK:
            return
        form = inference_pb.AdaptToolResponse.FromString(adapt_schema.responses[0])
        check.tool_result.tool.inline_tool.json = form.json
        documents = request.tool.inline_tool.documents
        check.tool_result.tool.inline_tool.documents.extend(documents)
    check_exchange = replace(exchange, path=_CHECK, messages=(check.SerializeToString(),))
    checked = caller.send(check_exchange)
    if checked.code is not grpc.StatusCode.OK:
        return
    verdict = v1.CheckToolResultResponse.FromString(checked.responses[0]).result.verdict
    if not verdict.valid:
        yield Finding("normalized result fails its check", str(verdict), [exchange, check_exchange])
