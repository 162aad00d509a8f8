"""Writes messages of any type by its descriptor, with meaningful contents.

Every field of every message is set sometimes. Values are of four kinds: values that fit the
other fields, valid but unusual values, undefined enum numbers, and the limits of numeric ranges.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.conversions import ConversionWriter
from fuzz.materials import Material, Sample
from fuzz.normalizations import NormalizationWriter
from fuzz.protocol_requests import ProtocolWriter
from fuzz.sources import SourceWriter
from fuzz.texts import changed_text, mark_of
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

__all__ = ["SERVERS", "Writer"]

SERVERS = ("s0", "s1", "s2")
_NAMES = ("t0", "t1", "a.b")
_VERSIONS = ("", "", "2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28")
_STRANGE = (
    "",
    " ",
    "\0",
    "\n",
    "../../etc/passwd",
    "%s{}",
    "'; DROP TABLE x; --",
    "日本",
    "x" * 5000,
)
_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (0, 1, 2, 100, -1, -(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (0, 1, -1, -(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 1, 2, 20, 2**31, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 1, 2**53 + 1, 2**64 - 1),
}
_ASKED = {"result": "elicitation_result"}
_UNDEFINED = (99, -1, 2**31 - 1, -(2**31))
_DEEPEST = 8


class Writer:
    """Writes the messages of one exchange."""

    def __init__(self, random: Random, material: Material, serial: int, digests: list[str]) -> None:
        self._random = random
        self._mark = mark_of(serial)
        self._digests = digests
        self._sample: Sample = material.sample(random)
        self._protocol = ProtocolWriter(random, material.sample_texts, self._mark)
        self._conversions = ConversionWriter(
            random, material.sample_texts, self._mark, self._tool, self._payload
        )
        self._normalizations = NormalizationWriter(
            random, self._schema, self._payload, self._add_documents
        )
        self._sources = SourceWriter(random, self._mark)
        #: The full names of the fields that were set.
        self.fields: set[str] = set()

    def write(self, descriptor: Descriptor) -> Message:
        """Return a message of the type *descriptor*."""
        return self._message(descriptor, 0)

    def validation(self, descriptor: Descriptor) -> Message:
        """Return a request to validate a payload against a related schema."""
        message: Any = GetMessageClass(descriptor)()
        target = message.target
        kind = self._random.random()
        if kind < 0.15:
            target.registered_tool.server = self._random.choice(SERVERS)
            target.registered_tool.name = self._random.choice(_NAMES)
            documents = None
        elif kind < 0.75:
            schema = target.inline_schema
            schema.json = self._schema()
            schema.default_dialect = self._sample.default_dialect
            documents = schema.documents
        else:
            target.inline_tool.json = self._tool()
            documents = target.inline_tool.documents
        if documents is not None:
            self._add_documents(documents)
        if kind < 0.15 or kind >= 0.75:
            self._of_tool(message.subject)
        else:
            message.subject.arguments = self._payload()
        if self._random.random() < 0.5:
            options = message.options
            options.protocol_version = self._random.choice(_VERSIONS)
            options.max_violations = self._random.choice((0, 1, 3, 1000, 2**32 - 1))
            options.assert_formats = self._random.random() < 0.4
            options.hide_values = self._random.random() < 0.4
        return message  # type: ignore[no-any-return]

    def _of_tool(self, subject: Any) -> None:
        """Set a subject for a tool: a part of a call or of a result, or the whole."""
        payload = self._payload()
        name = json.dumps(self._random.choice(_NAMES)).encode()
        match self._random.randrange(6):
            case 0 | 1:
                subject.arguments = payload
            case 2:
                subject.structured_content = payload
            case 3:
                subject.call_params = b'{"name": ' + name + b', "arguments": ' + payload + b"}"
            case 4:
                subject.call_result = b'{"content": [], "structuredContent": ' + payload + b"}"
            case _:
                whole = b'{"name": ' + name + b', "content": [], "_meta": ' + payload + b"}"
                setattr(subject, self._random.choice(("call_params", "call_result")), whole)

    def protocol_request(self, descriptor: Descriptor) -> Message:
        """Return a request of ProtocolService with related parts."""
        return self._protocol.request(descriptor)

    def conversion(self, descriptor: Descriptor) -> Message:
        """Return a request of ConversionService with related parts."""
        return self._conversions.request(descriptor)

    def normalization(self, descriptor: Descriptor) -> Message:
        """Return a request to normalize a result, or to adapt a definition."""
        return self._normalizations.request(descriptor)

    def source(self) -> Message:
        """Return a request to infer tools."""
        return self._sources.request()

    def registration(self, descriptor: Descriptor) -> Message:
        """Return a request to register a tool, which is valid in most cases."""
        message: Any = GetMessageClass(descriptor)()
        message.server = self._random.choice(SERVERS)
        name = json.dumps(self._random.choice(_NAMES)).encode()
        tool = message.tools.add()
        tool.json = b'{"name": ' + name + b', "inputSchema": ' + self._sample.schema + b"}"
        self._add_documents(tool.documents)
        return message  # type: ignore[no-any-return]

    def _message(self, descriptor: Descriptor, depth: int) -> Message:
        message = GetMessageClass(descriptor)()
        chosen = {oneof.name: self._random.choice(oneof.fields).name for oneof in descriptor.oneofs}
        for field in descriptor.fields:
            among = field.containing_oneof
            if among is not None and chosen[among.name] != field.name:
                continue
            if self._random.random() < (0.9 if among is not None else 0.55):
                self._set(message, field, depth)
        return message

    def _set(self, message: Message, field: FieldDescriptor, depth: int) -> None:
        if field.message_type is not None and depth >= _DEEPEST:
            return
        self.fields.add(field.full_name)
        if field.is_repeated:
            values = getattr(message, field.name)
            count = self._random.choice((0, 1, 1, 2, 3, 12))
            values.extend(self._value(field, depth) for _ in range(count))
        elif field.message_type is not None:
            getattr(message, field.name).CopyFrom(self._message(field.message_type, depth + 1))
        else:
            setattr(message, field.name, self._value(field, depth))

    def _value(self, field: FieldDescriptor, depth: int) -> Any:
        if field.message_type is not None:
            return self._message(field.message_type, depth + 1)
        if field.enum_type is not None:
            undefined = self._random.random() < 0.1
            defined = [value.number for value in field.enum_type.values]
            return self._random.choice(_UNDEFINED if undefined else defined)
        if field.name == "min_revision":
            # A call would wait for a later revision.
            return self._random.choice((0, 1))
        if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
            return self._random.random() < 0.3
        if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
            is_text = field.type == FieldDescriptor.TYPE_STRING
            return self._string(field) if is_text else self._bytes(field)
        return self._random.choice(_INTEGERS.get(field.cpp_type, (0,)))

    def _string(self, field: FieldDescriptor) -> str:
        random = self._random
        if random.random() < 0.15:
            return random.choice((self._mark, *_STRANGE))
        known: dict[str, tuple[str, ...]] = {
            "server": SERVERS,
            "name": _NAMES,
            "names": _NAMES,
            "protocol_version": _VERSIONS,
            "default_dialect": ("", self._sample.default_dialect),
            "definition_digest": ("", *self._digests[-4:]),
            "schema_digest": ("", *self._digests[-4:]),
            "page_token": ("", "", self._mark),
            "service": ("", "sidecheck.v1.ValidationService"),
            "uri": tuple(uri for uri, _ in self._sample.documents) or ("http://example.com/d",),
        }
        return random.choice(known.get(field.name, ("", self._mark)))

    def _bytes(self, field: FieldDescriptor) -> bytes:
        if self._random.random() < 0.05:
            return self._random.randbytes(20) + self._mark.encode()
        owner = field.containing_type.name if field.containing_type else ""
        written: dict[str, Callable[[], bytes]] = {
            "InlineTool": self._tool,
            "InlineSchema": self._schema,
            "Document": self._document,
            "Elicitation": lambda: self._protocol.text("elicitation"),
            "ElicitationResult": lambda: self._protocol.text(_ASKED.get(field.name, "elicitation")),
            "Sampling": lambda: self._protocol.text("sampling"),
            "ToolResult": lambda: self._protocol.text("tool_result"),
            "ProtocolMessage": lambda: self._protocol.text("message"),
            "CheckToolsRequest": lambda: self._protocol.text("listing"),
            "InferToolsRequest": self._sources.text,
            "ProtocolContext": self._protocol.capabilities,
        }
        return written.get(owner, self._payload)()

    def _add_documents(self, documents: Any) -> None:
        for uri, text in self._sample.documents:
            documents.add(uri=uri, json=text)

    def _schema(self) -> bytes:
        if self._random.random() < 0.3:
            return self._sample.schema
        return changed_text(self._random, self._sample.schema, self._mark)

    def _payload(self) -> bytes:
        return changed_text(self._random, self._sample.payload, self._mark)

    def _document(self) -> bytes:
        texts = [text for _, text in self._sample.documents]
        return changed_text(self._random, self._random.choice([*texts, b"{}"]), self._mark)

    def _tool(self) -> bytes:
        name = json.dumps(self._random.choice((*_NAMES, self._mark))).encode()
        schema = self._schema()
        output = b', "outputSchema": ' + schema if self._random.random() < 0.4 else b""
        tool = b'{"name": ' + name + b', "inputSchema": ' + schema + output + b"}"
        if self._random.random() < 0.2:
            return changed_text(self._random, tool, self._mark)
        return tool
