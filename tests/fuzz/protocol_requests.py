"""Writes requests of ProtocolService with related parts: a text and its context.

The text is a message of a peer, in most cases with small changes.
"""

import json
from random import Random
from typing import Any

from fuzz.sample_messages import SampleText, SampleTexts
from fuzz.texts import changed_text
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck_server.core.mcp.context import VERSIONS

__all__ = ["SERVICE", "ProtocolWriter"]

SERVICE = "/sidecheck.v1.ProtocolService/"
_KINDS = ("elicitation", "elicitation_result", "sampling", "tool_result", "message")
_SENDERS = {"client": v1.SENDER_CLIENT, "server": v1.SENDER_SERVER}
_CAPABILITIES = (b"{}", b'{"sampling": {"tools": {}}, "elicitation": {}}', b'{"tools": {}}')
_NAMES = ("get_user", "get user", "get.user", "", "-x", "x" * 129, "é", "a,b", "名前")


class ProtocolWriter:
    """Writes the requests of one exchange."""

    def __init__(self, random: Random, sample_texts: SampleTexts, mark: str) -> None:
        self._random = random
        self._sample_texts = sample_texts
        self._mark = mark

    def request(self, descriptor: Descriptor) -> Message:
        """Return a request of the type *descriptor*."""
        request: Any = GetMessageClass(descriptor)()
        match descriptor.name:
            case "CheckSessionRequest":
                if self._random.random() < 0.1:
                    self._terms(request.defaults, self._sample_text("message"))
                else:
                    request.item.id = str(self._random.randrange(5))
                    self._fill(request.item.message, self._sample_text("message"))
            case "CheckBatchRequest":
                self._terms(request, self._sample_text("message"))
                for _ in range(self._random.choice((0, 1, 2, 5))):
                    kind = self._random.choice(_KINDS)
                    self._fill(getattr(request.items.add(), kind), self._sample_text(kind))
            case "CheckToolNamesRequest":
                self._terms(request, self._sample_text("tool"))
                request.names.extend(self._random.choices((*_NAMES, self._mark), k=4))
            case "CheckToolsRequest":
                self._tools(request)
            case "ListRulesRequest":
                request.page_size = self._random.choice((0, 1, 50, 5000))
                request.protocol_version = self._random.choice(("", *VERSIONS))
            case _:
                kind = next(field for field in _KINDS if field in descriptor.fields_by_name)
                sample_text = self._sample_text(kind)
                self._terms(request, sample_text)
                self._fill(getattr(request, kind), sample_text)
        return request  # type: ignore[no-any-return]

    def text(self, kind: str) -> bytes:
        """Return a text of *kind*, changed in most cases."""
        return self._changed(self._sample_text(kind).text)

    def capabilities(self) -> bytes:
        """Return the capabilities of a peer, valid in most cases."""
        declared = self._random.choice(_CAPABILITIES)
        return self._changed(declared) if self._random.random() < 0.3 else declared

    def _sample_text(self, kind: str) -> SampleText:
        return self._sample_texts.choose(self._random, kind)

    def _changed(self, text: bytes) -> bytes:
        if self._random.random() < 0.3:
            return text
        return changed_text(self._random, text, self._mark)

    def _terms(self, message: Any, sample_text: SampleText) -> None:
        random = self._random
        version = str(sample_text.known.get("version", ""))
        message.context.protocol_version = (
            version if random.random() < 0.8 else random.choice(VERSIONS)
        )
        for name in ("client_capabilities", "server_capabilities"):
            if name in sample_text.known:
                setattr(message.context, name, json.dumps(sample_text.known[name]).encode())
            elif random.random() < 0.2:
                setattr(message.context, name, self.capabilities())
        options = message.options
        options.max_violations = random.choice((0, 0, 1, 3, 1000, 2**32 - 1))
        options.hide_values = random.random() < 0.3
        options.min_severity = random.choice((0, 0, 1, 2, 3))

    def _fill(self, message: Any, sample_text: SampleText) -> None:
        text, known = self._changed(sample_text.text), sample_text.known
        request = known.get("request")
        request_bytes = b"" if request is None else self._changed(json.dumps(request).encode())
        match sample_text.kind:
            case "elicitation" | "sampling":
                message.params = text
            case "elicitation_result":
                message.result, message.params = text, request_bytes
            case "tool_result":
                message.json = text
                message.profile = self._random.choice((0, 1, 2))
                if "output_schema" in known or self._random.random() < 0.2:
                    output = known.get("output_schema", {"type": "object"})
                    tool = {"name": "t", "inputSchema": {}, "outputSchema": output}
                    message.tool.inline_tool.json = self._changed(json.dumps(tool).encode())
            case _:
                message.json, message.request = text, request_bytes
                message.sender = _SENDERS.get(str(known.get("sender")), v1.SENDER_UNSPECIFIED)
                message.request_method = str(known.get("answers", ""))

    def _tools(self, message: Any) -> None:
        self._terms(message, self._sample_text("tool"))
        if self._random.random() < 0.4:
            message.tools_list = self.text("listing")
            return
        for _ in range(self._random.choice((1, 1, 3))):
            sample_text = self._sample_text("tool")
            message.tools.add().json = self._changed(sample_text.text)
