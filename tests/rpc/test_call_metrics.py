"""Metrics of calls: whole families, after a script of calls to a real server."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import grpc
import pytest
from sidecheck.v1 import conversion_service_pb2 as conversion_v1
from sidecheck.v1 import inference_service_pb2 as inference_v1
from sidecheck.v1 import protocol_service_pb2 as protocol_v1
from sidecheck.v1 import registry_service_pb2 as registry_v1
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as v1
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceStub
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.method_calls import _ObservedCall
from sidecheck_server.rpc.method_table import Kind, Method
from support.calling import inline_target, params, registered_target
from support.metrics import MeteredServer, Series, nonzero
from support.worker_processes import worker_processes

MARKER = "mark3r"
"""In everything that is sent, and in no metric."""

TOOL: Any = {
    "name": f"add-{MARKER}",
    "description": MARKER,
    "inputSchema": {
        "type": "object",
        "title": MARKER,
        "properties": {MARKER: {"type": "integer"}},
        "required": [MARKER],
    },
}
TARGET = registered_target(TOOL["name"], server=MARKER)
UNKNOWN = registered_target(f"{MARKER}-unknown", server=MARKER)
VALID, INVALID = ({MARKER: value} for value in (1, MARKER))
HANDLED = "grpc_server_handled_total"
CALL = ("Validate", "sidecheck.v1.ValidationService", "unary")
BATCH = ("ValidateBatch", "sidecheck.v1.ValidationService", "unary")
STREAM = ("ValidateStream", "sidecheck.v1.ValidationService", "bidi_stream")


def subject(arguments: Any) -> Any:
    return params(TOOL["name"], arguments)


def item(arguments: Any, **more: Any) -> v1.ValidateItem:
    return v1.ValidateItem(subject=subject(arguments), **more)


def stream_of(*items: v1.ValidateItem) -> Iterator[v1.ValidateStreamRequest]:
    yield v1.ValidateStreamRequest(defaults=v1.StreamDefaults(target=TARGET))
    for sent in items:
        yield v1.ValidateStreamRequest(item=v1.StreamItem(id=MARKER, item=sent))


class Script:
    """Calls in their order; each ends before the next one begins."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self._stub: Any = ValidationServiceStub(channel)
        self._metadata = ((MARKER, MARKER),)

    def run(self) -> None:
        """Make the calls that end by themselves."""
        tools = [target_pb2.InlineTool(json=json.dumps(TOOL).encode())]
        registry: Any = RegistryServiceStub(self._channel)
        registry.RegisterTools(registry_v1.RegisterToolsRequest(server=MARKER, tools=tools))
        for arguments in (VALID, VALID, INVALID):
            self.validate(TARGET, arguments)
        self.validate(UNKNOWN, VALID)
        self.validate(inline_target({"name": MARKER, "inputSchema": {"type": MARKER}}), VALID)
        items = [item(VALID), item(INVALID), item(INVALID), item(VALID, target=UNKNOWN)]
        self._stub.ValidateBatch(v1.ValidateBatchRequest(target=TARGET, items=items))
        requests = stream_of(item(VALID), item(INVALID), item(VALID, target=UNKNOWN))
        assert 3 == len(list(self._stub.ValidateStream(requests)))

    def validate(self, target: Any, arguments: Any) -> None:
        """Make one call, which may fail."""
        request = v1.ValidateRequest(target=target, subject=subject(arguments))
        with suppress(grpc.RpcError):
            self._stub.Validate(request, metadata=self._metadata)

    def shed(self) -> None:
        """Open one stream more than there may be."""
        released = Event()

        def requests() -> Iterator[v1.ValidateStreamRequest]:
            yield from stream_of(item(VALID))
            released.wait()

        first = self._stub.ValidateStream(requests())
        next(first)
        with pytest.raises(grpc.RpcError) as raised:
            next(self._stub.ValidateStream(stream_of(item(VALID))))
        released.set()
        assert [] == list(first)
        assert grpc.StatusCode.RESOURCE_EXHAUSTED == raised.value.code()

    def leave(self, server: MeteredServer) -> None:
        """Leave calls that wait for a worker: by cancelling, and by a deadline."""
        workers = worker_processes(server.process.pid)
        for worker in workers:
            worker.suspend()
        try:
            cancelled = self._begin_compilation("cancelled", None)
            server.series_when("sidecheck_worker_tasks_active", lambda tasks: tasks[()] == 1)
            cancelled.cancel()
            server.series_when(HANDLED, lambda ended: ended.get(("Canceled", *CALL)) == 1)
            late = self._begin_compilation("late", 2.0)
            assert grpc.StatusCode.DEADLINE_EXCEEDED == late.exception().code()
        finally:
            for worker in workers:
                worker.resume()

    def _begin_compilation(self, title: str, timeout: float | None) -> Any:
        """Begin a call that has a worker compile a schema."""
        target = inline_target({"name": MARKER, "inputSchema": {"type": "object", "title": title}})
        request = v1.ValidateRequest(target=target, subject=subject(VALID))
        return self._stub.Validate.future(request, timeout=timeout)

    def call_unknown_methods(self) -> None:
        """Call what no server has."""
        for path in (f"/sidecheck.v1.ValidationService/{MARKER}", f"/{MARKER}.Service/Method"):
            unknown: Any = self._channel.unary_unary(path)
            with pytest.raises(grpc.RpcError) as raised:
                unknown(MARKER.encode())
            assert grpc.StatusCode.UNIMPLEMENTED == raised.value.code()

    def call_others(self) -> None:
        """Call services whose answers have codes of other kinds, or of several verdicts."""
        protocol: Any = ProtocolServiceStub(self._channel)
        names = [f"{MARKER} 1", f"{MARKER} 2", MARKER]
        protocol.CheckToolNames(protocol_v1.CheckToolNamesRequest(names=names))
        conversion: Any = ConversionServiceStub(self._channel)
        with suppress(grpc.RpcError):
            conversion.ConvertTools(conversion_v1.ConvertToolsRequest(tools=[]))
        inference: Any = InferenceServiceStub(self._channel)
        source = f"def {MARKER}(x: {MARKER}): ..."
        inference.InferTools(inference_v1.InferToolsRequest(source=source.encode()))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MeteredServer]:
    """Return a server that has carried out the script."""
    folder: Path = tmp_path_factory.mktemp("call_metrics")
    running = MeteredServer(folder, SIDECHECK_TRANSPORT__STREAMS="1")
    try:
        with grpc.insecure_channel(running.address) as channel:
            script = Script(channel)
            script.run()
            script.shed()
            script.leave(running)
            script.call_unknown_methods()
            script.call_others()
            running.series_when(HANDLED, _has_ended(running))
        yield running
    finally:
        running.close()


def _has_ended(server: MeteredServer) -> Any:
    def has_ended(handled: Series) -> bool:
        return sum(handled.values()) == sum(server.series("grpc_server_started_total").values())

    return has_ended


def of_validation(server: MeteredServer, name: str) -> Series:
    """Return the samples of the validation service that are not 0."""
    service = "sidecheck.v1.ValidationService"
    return {
        labels: value for labels, value in nonzero(server.series(name)).items() if service in labels
    }


def test_calls_are_counted_by_code(server: MeteredServer) -> None:
    """The peer or the server may end a call."""
    handled = dict(of_validation(server, HANDLED))
    # On a busy machine the client's clock may be far ahead, when its deadline has passed.
    late = handled.pop(("DeadlineExceeded", *CALL), 0)

    assert handled == {
        ("OK", *CALL): 3,
        ("NotFound", *CALL): 1,
        ("InvalidArgument", *CALL): 1,
        ("Canceled", *CALL): 2 - late,
        ("OK", *BATCH): 1,
        ("OK", *STREAM): 2,
        ("ResourceExhausted", *STREAM): 1,
    }


def test_calls_and_messages_are_counted(server: MeteredServer) -> None:
    """A stream has as many messages as it got and sent."""
    started = of_validation(server, "grpc_server_started_total")
    received = of_validation(server, "grpc_server_msg_received_total")
    sent = of_validation(server, "grpc_server_msg_sent_total")
    counted = of_validation(server, "grpc_server_handling_seconds_count")

    assert started == {CALL: 7, BATCH: 1, STREAM: 3}
    assert counted == started
    assert received == {CALL: 7, BATCH: 1, STREAM: 4 + 2}
    assert sent == {CALL: 3, BATCH: 1, STREAM: 3 + 1}


def test_verdicts_are_counted_by_outcome(server: MeteredServer) -> None:
    """Items count too; methods without verdicts have no series."""
    verdicts = server.series("sidecheck_verdicts_total")

    assert nonzero(verdicts) == {
        ("Validate", "valid"): 2,
        ("Validate", "invalid"): 1,
        ("ValidateBatch", "valid"): 1,
        ("ValidateBatch", "invalid"): 2,
        ("ValidateBatch", "error"): 1,
        ("ValidateStream", "valid"): 2,
        ("ValidateStream", "invalid"): 1,
        ("ValidateStream", "error"): 1,
        ("CheckToolNames", "valid"): 3,
    }
    assert {"Check", "RegisterTools", "ServerReflectionInfo"}.isdisjoint(
        method for method, _ in verdicts
    )


def test_errors_are_counted_by_reason(server: MeteredServer) -> None:
    """Errors of calls, and of items of batches and streams, are counted."""
    errors = nonzero(server.series("sidecheck_errors_total"))

    assert {key: value for key, value in errors.items() if key[0].startswith("Validate")} == {
        ("Validate", "UNKNOWN_TOOL"): 1,
        ("Validate", "INVALID_SCHEMA"): 1,
        ("ValidateBatch", "UNKNOWN_TOOL"): 1,
        ("ValidateStream", "UNKNOWN_TOOL"): 1,
        ("ValidateStream", "OVERLOADED"): 1,
    }
    assert {("streams",): 1} == nonzero(server.series("sidecheck_shed_total"))


def test_violations_are_counted_by_code(server: MeteredServer) -> None:
    """A code counts once per verdict; diagnostics are not violations."""
    violations = dict(nonzero(server.series("sidecheck_violations_total")))

    assert violations.pop(("TYPE",)) == 4
    # Those of two names, which are valid all the same.
    assert ("TOOL_NAME_CHARACTERS",) in violations
    assert set(violations.values()) == {2}
    assert all(code.startswith("TOOL_NAME_") for (code,) in violations)


def test_an_unknown_method_makes_no_series(server: MeteredServer) -> None:
    """A caller cannot make the server hold more."""
    methods = {labels[:2] for labels in server.series("grpc_server_started_total")}

    assert not [labels for labels in methods if "UNIMPLEMENTED" in labels]
    assert "UNIMPLEMENTED" not in server.scrape()


def test_no_label_has_a_value_of_a_request(server: MeteredServer) -> None:
    """Names, payloads, metadata and paths are tested."""
    text = server.scrape()

    assert MARKER not in text
    assert "_created" not in text


class FixedContext:
    """A call of gRPC with a time that is left."""

    def __init__(self, left: float | None) -> None:
        self._left = left

    def peer(self) -> str:
        return "unix:"

    def time_remaining(self) -> float | None:
        return self._left


@pytest.mark.parametrize(
    ("error", "left", "code"),
    [
        pytest.param(asyncio.CancelledError, None, "Canceled", id="no deadline"),
        pytest.param(asyncio.CancelledError, 30.0, "Canceled", id="time left"),
        pytest.param(asyncio.CancelledError, -0.1, "DeadlineExceeded", id="none left"),
        pytest.param(asyncio.CancelledError, 0.01, "DeadlineExceeded", id="due at the peer"),
        pytest.param(GeneratorExit, None, "Canceled", id="generator closed"),
        pytest.param(KeyError, None, "Unknown", id="unexpected"),
    ],
)
def test_the_code_of_a_call_that_an_exception_ended(
    error: type[BaseException], left: float | None, code: str
) -> None:
    """The code is the one that the peer receives."""
    metrics = CallMetrics()
    method = Method("s", "M", Kind.UNARY, v1.ValidateRequest, v1.ValidateResponse, print)
    context: Any = FixedContext(left)
    with pytest.raises(error), _ObservedCall(context, method, metrics.of(method)):
        raise error

    labels = {"grpc_type": "unary", "grpc_service": "s", "grpc_method": "M", "grpc_code": code}
    assert 1 == metrics.registry.get_sample_value("grpc_server_handled_total", labels)
