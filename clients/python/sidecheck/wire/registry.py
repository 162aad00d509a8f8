"""Messages of RegistryService and InfoService."""

from collections.abc import Iterable, Sequence

from sidecheck.errors import InvalidResponse
from sidecheck.registry import Tool
from sidecheck.targets import Document
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.values.comparison import (
    SchemaReading,
)
from sidecheck.values.registration_options import ChangePolicy, CompatibilityPolicy
from sidecheck.values.registry import Deletion, Registration
from sidecheck.wire.comparison import READINGS
from sidecheck.wire.decoders import registry as decoders
from sidecheck.wire.encoders.registration_options import CHANGE_POLICY, COMPATIBILITY_POLICY
from sidecheck.wire.errors import require_count, require_field, require_json
from sidecheck.wire.values import copy_fields, find_label

__all__ = [
    "decode_deletion",
    "decode_page",
    "decode_registered_tool",
    "decode_registration",
    "decode_tool",
    "encode_deletion",
    "encode_get",
    "encode_info",
    "encode_list",
    "encode_registration",
]


def encode_registration(  # noqa: PLR0913  (the fields of the request)
    server: str,
    tools: Sequence[target_pb.InlineTool],
    *,
    replace: bool,
    change_policy: ChangePolicy,
    validate_only: bool,
    protocol_version: str = "",
    compatibility: CompatibilityPolicy = "ignore",
    reading: SchemaReading = "assume-closed",
) -> registry_pb.RegisterToolsRequest:
    """Return the request to register *tools* for *server*.

    Raises:
        ValueError: A policy or the reading is unknown.
    """
    return registry_pb.RegisterToolsRequest(
        server=server,
        tools=tools,
        mode="REGISTRATION_MODE_REPLACE" if replace else "REGISTRATION_MODE_UPSERT",
        change_policy=find_label("change_policy", change_policy, CHANGE_POLICY),
        validate_only=validate_only,
        protocol_version=protocol_version,
        compatibility=find_label("compatibility", compatibility, COMPATIBILITY_POLICY),
        reading=find_label("reading", reading, READINGS),
    )


def encode_get(server: str, name: str, version: str) -> registry_pb.GetToolRequest:
    """Return the request for one tool, adapted to *version* unless that is ""."""
    return registry_pb.GetToolRequest(server=server, name=name, adapt_to_version=version)


def encode_list(server: str, version: str, page_token: str) -> registry_pb.ListToolsRequest:
    """Return the request for a page of tools, adapted to *version* unless that is ""."""
    return registry_pb.ListToolsRequest(
        server=server, page_token=page_token, adapt_to_version=version
    )


def encode_deletion(server: str, names: Iterable[str] | None) -> registry_pb.DeleteToolsRequest:
    """Return the request to delete the tools called *names*, or all tools for None."""
    return registry_pb.DeleteToolsRequest(server=server, names=names, all=names is None)


def encode_info() -> info_pb.GetServerInfoRequest:
    """Return the request for the server's version, limits and capabilities."""
    return info_pb.GetServerInfoRequest()


def decode_registration(response: registry_pb.RegisterToolsResponse, count: int) -> Registration:
    """Return the result of a registration of *count* tools."""
    require_count(response, "outcomes", count)
    return decoders.decode_registration(response)


def decode_tool(response: registry_pb.GetToolResponse) -> Tool:
    """Return the tool of a response."""
    return decode_registered_tool(require_field(response, "tool"))


def decode_page(response: registry_pb.ListToolsResponse) -> tuple[list[Tool], str]:
    """Return the tools of a page and the token of the next page, "" after the last."""
    return [decode_registered_tool(tool) for tool in response.tools], response.next_page_token


def decode_registered_tool(message: registry_pb.Tool) -> Tool:
    """Return the registered tool in *message*."""
    documents = tuple(Document(document.uri, document.json) for document in message.documents)
    return copy_fields(message, Tool, json=require_json(message, "json"), documents=documents)


def decode_deletion(response: registry_pb.DeleteToolsResponse, *, named: bool) -> Deletion:
    """Return the result of a deletion; *named* means that the request named tools."""
    if named and not (response.deleted or response.unknown):
        raise InvalidResponse("DeleteToolsResponse has no names for those of the request")
    return decoders.decode_deletion(response)
