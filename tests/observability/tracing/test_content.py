"""Nothing of a request is exported: neither values nor names, schemas or source texts."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
)
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from sidecheck_server.rpc.servicers import SERVICES
from support.traced_server import TracedServer, arguments, traced_server

MARKER = "m4rk3r"

_FILES = (
    *(conversion_service_pb2, inference_service_pb2, info_service_pb2, protocol_service_pb2),
    *(registry_service_pb2, validation_service_pb2),
)
METHODS = [
    method
    for file in _FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]

SCHEMA = {
    "$comment": MARKER,
    "type": "object",
    "properties": {MARKER: {"enum": [MARKER], "pattern": MARKER, "description": MARKER}},
    "required": [MARKER],
    "additionalProperties": False,
}
TOOL = {"name": MARKER, "title": MARKER, "description": MARKER, "inputSchema": SCHEMA}
MESSAGE = {
    "jsonrpc": "2.0",
    "id": MARKER,
    "method": MARKER,
    "params": {"name": MARKER, "arguments": {MARKER: MARKER}, "_meta": {MARKER: MARKER}},
}
TEXTS = [json.dumps(value).encode() for value in (TOOL, SCHEMA, MESSAGE, {MARKER: MARKER}, MARKER)]
METADATA = (("x-marker", MARKER), ("baggage", f"{MARKER}={MARKER}"))

REGISTERED = target_pb2.Target(
    registered_tool=target_pb2.RegisteredTool(server=MARKER, name=MARKER)
)


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TracedServer]:
    """Return a server with a registered tool whose names, texts and values are markers."""
    with traced_server(tmp_path_factory.mktemp(MARKER)) as running:
        tools = [target_pb2.InlineTool(json=json.dumps(TOOL).encode())]
        request = registry_service_pb2.RegisterToolsRequest(server=MARKER, tools=tools)
        RegistryServiceStub(running.channel).RegisterTools(request, metadata=METADATA)
        yield running


def filled(descriptor: Any, text: bytes, depth: int = 4) -> Any:
    """Return a message of *descriptor*: each string is the marker, and each bytes *text*."""
    message = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            if depth and not field.message_type.GetOptions().map_entry:
                value = filled(field.message_type, text, depth - 1)
                target = getattr(message, field.name)
                target.append(value) if field.is_repeated else target.CopyFrom(value)
        elif field.type in {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES}:
            value = MARKER if field.type == FieldDescriptor.TYPE_STRING else text
            if field.is_repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)
    return message


def call(channel: grpc.Channel, method: Any, requests: Iterable[Any]) -> None:
    """Call *method* with *requests*, and ignore errors."""
    callable_: Any = channel.stream_stream(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=GetMessageClass(method.input_type).SerializeToString,
    )
    responses = callable_(iter(requests), metadata=METADATA)
    with suppress(grpc.RpcError):
        for _ in responses:
            # This one would go on.
            if method.name == "WatchTools":
                responses.cancel()


def test_every_method_with_markers_in_every_field(marked: TracedServer) -> None:
    """Most of these calls fail, for different reasons."""
    for method in METHODS:
        for text in TEXTS:
            call(marked.channel, method, [filled(method.input_type, text)])
    for method in METHODS:
        marked.collector.wait_for_call(method.name, len(TEXTS))

    assert {service.full_name for method in METHODS if (service := method.containing_service)} == {
        *SERVICES
    }
    assert MARKER.encode() not in marked.collector.exported


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(arguments(TEXTS[3]), id="valid"),
        pytest.param(arguments(b'{"m4rk3r": "m4rk3r2"}'), id="invalid"),
        pytest.param(arguments(b'{"m4rk3r": '), id="no JSON"),
        pytest.param(arguments(json.dumps({MARKER: MARKER * 40_000}).encode()), id="offloaded"),
        pytest.param(
            target_pb2.Subject(call_params=json.dumps(MESSAGE["params"]).encode()), id="params"
        ),
        pytest.param(target_pb2.Subject(call_result=TEXTS[3]), id="result"),
    ],
)
def test_payloads_of_a_registered_tool(marked: TracedServer, subject: target_pb2.Subject) -> None:
    """They are valid or invalid, alone, in a batch and in a stream."""
    stub = ValidationServiceStub(marked.channel)
    item = validation_service_pb2.ValidateItem(target=REGISTERED, subject=subject)
    request = validation_service_pb2.ValidateRequest(target=REGISTERED, subject=subject)
    streamed = validation_service_pb2.ValidateStreamRequest(
        item=validation_service_pb2.StreamItem(id=MARKER, item=item)
    )
    marked.collector.clear()
    with suppress(grpc.RpcError):
        stub.Validate(request, metadata=METADATA)
    stub.ValidateBatch(validation_service_pb2.ValidateBatchRequest(items=[item]), metadata=METADATA)
    list(stub.ValidateStream(iter([streamed]), metadata=METADATA))
    for name in ("Validate", "ValidateBatch", "ValidateStream"):
        marked.collector.wait_for_call(name)

    assert MARKER.encode() not in marked.collector.exported
