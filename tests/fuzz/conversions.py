"""Writes requests of ConversionService with related parts: a tool, its mapping, a call.

A conversion does not depend on earlier calls: the same bytes have the same answer.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

from fuzz.answers import SUDDEN, answer_in
from fuzz.exchanges import Caller, Exchange, Outcome
from fuzz.properties import Finding
from fuzz.rpcs import rpc_named
from fuzz.sample_messages import SampleTexts
from fuzz.texts import changed_text
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from sidecheck.v1 import conversion_service_pb2 as v1
from sidecheck_server.core.convert.mapping import ToolMapping, mapping_to_json
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool

__all__ = ["CONVERSION", "ConversionWriter", "examine_conversion"]

CONVERSION = "/sidecheck.v1.ConversionService/"
_LIMITS = Limits()
_APIS: Mapping[ModelApi, int] = {
    api: v1.ModelApi.Value("MODEL_API_" + api.name) for api in ModelApi
}
_NAMED = "called"


def _chat(arguments: bytes) -> bytes:
    text = json.dumps(arguments.decode(errors="replace")).encode()
    return b'{"id": "c", "function": {"name": "called", "arguments": ' + text + b"}}"


def _responses(arguments: bytes) -> bytes:
    text = json.dumps(arguments.decode(errors="replace")).encode()
    return b'{"call_id": "c", "name": "called", "arguments": ' + text + b"}"


def _ollama(arguments: bytes) -> bytes:
    return b'{"function": {"name": "called", "arguments": ' + arguments + b"}}"


def _with(member: bytes) -> Callable[[bytes], bytes]:
    return lambda arguments: b'{"name": "called", "%s": %s}' % (member, arguments)


_CALLS: Mapping[ModelApi, Callable[[bytes], bytes]] = {
    ModelApi.OPENAI_CHAT: _chat,
    ModelApi.OPENAI_RESPONSES: _responses,
    ModelApi.ANTHROPIC: _with(b"input"),
    ModelApi.GEMINI: _with(b"args"),
    ModelApi.GEMINI_JSON: _with(b"args"),
    ModelApi.BEDROCK: _with(b"input"),
    ModelApi.MISTRAL: _chat,
    ModelApi.OLLAMA: _ollama,
    ModelApi.MCP: _with(b"arguments"),
}


class ConversionWriter:
    """Writes the requests of one exchange; *tool* and *payload* make related texts."""

    def __init__(
        self,
        random: Random,
        sample_texts: SampleTexts,
        mark: str,
        tool: Callable[[], bytes],
        payload: Callable[[], bytes],
    ) -> None:
        self._random = random
        self._sample_texts = sample_texts
        self._mark = mark
        self._tool = tool
        self._payload = payload

    def request(self, descriptor: Descriptor) -> Message:
        """Return a request of the type *descriptor*."""
        request: Any = GetMessageClass(descriptor)()
        api = self._random.choice(list(ModelApi))
        match descriptor.name:
            case "ConvertToolsRequest":
                request.api = _APIS[api]
                self._to_convert(request)
            case "ConvertToolCallRequest":
                self._to_restore(request, api)
            case _:
                request.api = _APIS[api]
                request.call_id = request.name = self._random.choice(("c", "c", self._mark))
                request.result.json = self._changed(
                    self._sample_texts.choose(self._random, "tool_result").text
                )
        return request  # type: ignore[no-any-return]

    def _changed(self, text: bytes) -> bytes:
        if self._random.random() < 0.6:
            return text
        return changed_text(self._random, text, self._mark)

    def _to_convert(self, request: Any) -> None:
        random = self._random
        request.options.mode = random.choice(v1.ConversionMode.values())
        request.options.server_prefix = random.choice(v1.ServerPrefix.values())
        request.options.assume_closed = random.random() < 0.5
        request.options.description_length = random.choice((0, 0, 1, 10))
        request.options.include_output_schema = random.random() < 0.3
        request.options.drop_defaults = random.random() < 0.3
        for _ in range(random.choice((1, 1, 2, 5))):
            tool = request.tools.add()
            tool.tool.inline_tool.json = self._tool()
            tool.server = random.choice(("", "a", "b"))

    def _to_restore(self, request: Any, api: ModelApi) -> None:
        tool = self._tool()
        request.tool.inline_tool.json = tool
        request.call = self._changed(_CALLS[api](self._payload()))
        request.mappings.append(self._changed(self._plan(tool, api)))

    def _plan(self, text: bytes, api: ModelApi) -> bytes:
        """Return the mapping of the tool *text*, without a decoder if it is not convertible."""
        mode = self._random.choice(list(Mode))
        guide, name, digest = None, "?", "sha256:0"
        try:
            tool = read_tool(text, (), _LIMITS)
            name, digest = tool.name, tool.digest
            options = ConversionOptions(mode, assume_closed=True)
            guide = convert_definition(tool, PROVIDERS[api], options, _LIMITS).decoder
        except Exception:  # noqa: BLE001  (the server reports the fault of the tool)
            pass
        return mapping_to_json(
            ToolMapping(api, _NAMED, "", name, digest, mode is Mode.STRICT, guide)
        )


def examine_conversion(caller: Caller, exchange: Exchange, outcome: Outcome) -> Iterator[Finding]:
    """Yield a finding if the answer to a repeated call differs from *outcome*."""
    rpc = rpc_named(exchange.path)
    try:
        request: Any = GetMessageClass(rpc.request).FromString(exchange.messages[0])
    except DecodeError:
        return
    first = answer_in(exchange.path, outcome)
    if first is None or first in SUDDEN or _depends_on_registry(request):
        return
    again = answer_in(exchange.path, caller.send(exchange))
    if again is not None and again not in SUDDEN and again != first:
        yield Finding("another conversion in a repeated call", f"{first}\n{again}", [exchange])


def _depends_on_registry(request: Any) -> bool:
    """Return whether the answer depends on the registry, which another call may change."""
    if isinstance(request, v1.ConvertToolsRequest):
        targets = [item.tool for item in request.tools]
        known = not request.servers
    elif isinstance(request, v1.ConvertToolCallRequest):
        targets, known = [request.tool], request.HasField("tool")
    else:
        targets, known = [request.result.tool], True
    kinds = {target.WhichOneof("target") for target in targets}
    return not known or bool(kinds - {None, "inline_tool", "inline_schema"})
