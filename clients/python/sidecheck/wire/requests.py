"""From values to the messages of requests."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from sidecheck.items import (
    ABSENT,
    Arguments,
    CallParams,
    CallResult,
    Item,
    Payload,
    StructuredContent,
    Subject,
)
from sidecheck.options import Options
from sidecheck.targets import (
    DefinitionDigest,
    Document,
    RegisteredTool,
    Schema,
    SchemaDigest,
    SchemaJson,
    Target,
    ToolDefinition,
    ToolJson,
)
from sidecheck.tools import ChangePolicy
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import options_pb2 as options_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb

__all__ = [
    "batch_item",
    "batch_request",
    "definition_text",
    "deletion_request",
    "get_request",
    "info_request",
    "inline_tool",
    "list_request",
    "listed_bytes",
    "payload_text",
    "registration_request",
    "stream_defaults",
    "stream_item",
    "validate_request",
]


def plain(value: object) -> dict[str, Any]:
    """Return the ``dict`` that stands for a mapping of another class."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no form in JSON; give JSON text as bytes")


#: Numbers that JSON has not (RFC 8259, section 6) are an error, not an invention.
ENCODE: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain
).encode


def payload_text(payload: Payload) -> bytes:
    """Return the JSON text of *payload*: bytes untouched, any other value encoded.

    Raises:
        TypeError: The payload holds what JSON cannot express.
        ValueError: It holds NaN, an infinity, a lone surrogate or itself.
    """
    return payload if isinstance(payload, bytes) else ENCODE(payload).encode()


def definition_text(definition: SchemaJson) -> bytes:
    """Return the JSON text of a definition: bytes and ``str`` are text already.

    Raises:
        TypeError: As `payload_text`.
        ValueError: As `payload_text`.
    """
    return definition.encode() if isinstance(definition, str) else payload_text(definition)


def documents(given: Iterable[Document]) -> list[target_pb.Document]:
    """Translate the documents that came along with a schema."""
    return [target_pb.Document(uri=one.uri, json=definition_text(one.json)) for one in given]


def inline_tool(given: ToolDefinition | ToolJson) -> target_pb.InlineTool:
    """Translate a tool definition; bare JSON is one without documents."""
    tool = given if isinstance(given, ToolDefinition) else ToolDefinition(json=given)
    return target_pb.InlineTool(
        json=definition_text(tool.json), documents=documents(tool.documents)
    )


def target(value: Target | None) -> target_pb.Target | None:
    """Translate a target; none stays none."""
    match value:
        case None:
            return None
        case RegisteredTool(server, name, digest):
            return target_pb.Target(
                registered_tool=target_pb.RegisteredTool(
                    server=server, name=name, definition_digest=digest
                )
            )
        case DefinitionDigest(digest):
            return target_pb.Target(definition_digest=digest)
        case SchemaDigest(digest):
            return target_pb.Target(schema_digest=digest)
        case ToolDefinition():
            return target_pb.Target(inline_tool=inline_tool(value))
        case Schema():
            return target_pb.Target(
                inline_schema=target_pb.InlineSchema(
                    json=definition_text(value.json),
                    documents=documents(value.documents),
                    default_dialect=value.default_dialect,
                )
            )
    raise TypeError(f"a {type(value).__name__} is no target; give a ToolDefinition, for example")


def subject(value: Subject) -> target_pb.Subject:
    """Translate a payload and the part that it plays."""
    match value:
        case Arguments(payload):
            return target_pb.Subject(arguments=payload_text(payload))
        case StructuredContent(content):
            if content is ABSENT:
                return target_pb.Subject(absent_structured_content=target_pb.AbsentContent())
            return target_pb.Subject(structured_content=payload_text(content))
        case CallParams(payload):
            return target_pb.Subject(call_params=payload_text(payload))
        case CallResult(payload):
            return target_pb.Subject(call_result=payload_text(payload))


def options(value: Options | None) -> options_pb.ValidationOptions | None:
    """Translate options; none stays none, and means the server's defaults."""
    if value is None:
        return None
    return options_pb.ValidationOptions(
        protocol_version=value.protocol_version,
        detail=f"DETAIL_{value.detail.upper()}",
        max_violations=value.max_violations,
        unknown_arguments=f"UNKNOWN_ARGUMENTS_{value.unknown_arguments.upper()}",
        coercion=f"COERCION_{value.coercion.upper()}",
        apply_defaults=value.apply_defaults,
        assert_formats=value.assert_formats,
        on_unknown_tool=f"ON_UNKNOWN_TOOL_{value.on_unknown_tool.upper()}",
        hide_values=value.hide_values,
    )


def validate_request(item: Item) -> validation_pb.ValidateRequest:
    """Return the request to judge one payload."""
    return validation_pb.ValidateRequest(
        target=target(item.target), subject=subject(item.subject), options=options(item.options)
    )


def batch_item(item: Item) -> validation_pb.ValidateItem:
    """Translate one item of a batch."""
    return validation_pb.ValidateItem(
        target=target(item.target), subject=subject(item.subject), options=options(item.options)
    )


def batch_request(
    items: Sequence[validation_pb.ValidateItem],
    shared_target: Target | None,
    shared_options: Options | None,
) -> validation_pb.ValidateBatchRequest:
    """Return the request to judge many payloads."""
    return validation_pb.ValidateBatchRequest(
        target=target(shared_target), options=options(shared_options), items=items
    )


def stream_defaults(
    shared_target: Target | None, shared_options: Options | None
) -> validation_pb.ValidateStreamRequest:
    """Return the first message of a stream."""
    return validation_pb.ValidateStreamRequest(
        defaults=validation_pb.StreamDefaults(
            target=target(shared_target), options=options(shared_options)
        )
    )


def stream_item(id_: str, item: Item | None) -> validation_pb.ValidateStreamRequest:
    """Return the message for one item of a stream, with nothing but its id if there is none."""
    return validation_pb.ValidateStreamRequest(
        item=validation_pb.StreamItem(id=id_, item=None if item is None else batch_item(item))
    )


def registration_request(
    server: str,
    tools: Sequence[target_pb.InlineTool],
    *,
    replace: bool,
    change_policy: ChangePolicy,
    validate_only: bool,
    protocol_version: str = "",
) -> registry_pb.RegisterToolsRequest:
    """Return the request to register *tools* under *server*."""
    return registry_pb.RegisterToolsRequest(
        server=server,
        tools=tools,
        mode="REGISTRATION_MODE_REPLACE" if replace else "REGISTRATION_MODE_UPSERT",
        change_policy=f"ON_CHANGE_{change_policy.upper()}",
        validate_only=validate_only,
        protocol_version=protocol_version,
    )


def get_request(server: str, name: str) -> registry_pb.GetToolRequest:
    """Return the request for one tool."""
    return registry_pb.GetToolRequest(server=server, name=name)


def list_request(server: str, page_token: str) -> registry_pb.ListToolsRequest:
    """Return the request for the page of tools that *page_token* stands for."""
    return registry_pb.ListToolsRequest(server=server, page_token=page_token)


def deletion_request(server: str, names: Iterable[str] | None) -> registry_pb.DeleteToolsRequest:
    """Return the request to remove the tools called *names*; none means all of them."""
    return registry_pb.DeleteToolsRequest(server=server, names=names, all=names is None)


def info_request() -> info_pb.GetServerInfoRequest:
    """Return the request for the facts of the server."""
    return info_pb.GetServerInfoRequest()


def listed_bytes(message: Message) -> int:
    """Return the size that *message* adds to one whose repeated field it joins.

    Beside the message there is its tag, one byte for the field numbers in use, and
    its length, seven bits to a byte (Protocol Buffers, "Encoding").
    """
    size = message.ByteSize()
    return 1 + max(1, (size.bit_length() + 6) // 7) + size
