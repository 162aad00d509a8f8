"""Trees of the spans of calls, without ids and times."""

import asyncio
import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import grpc
import httpx
import psutil
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry.context import Context
from sidecheck.v1 import protocol_service_pb2, registry_service_pb2, target_pb2
from sidecheck.v1 import validation_service_pb2 as validation
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest
from sidecheck.v1.info_service_pb2_grpc import InfoServiceStub
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from sidecheck_server import __version__
from sidecheck_server.observability.tracing.calls import TracedCall
from sidecheck_server.observability.tracing.spans import CallSpans
from support.collector import Tree, trees
from support.traced_server import Caller, TracedServer, arguments, inline_schema, traced_server
from support.worker_processes import worker_processes

VALIDATE = "sidecheck.v1.ValidationService/Validate"
LARGE = json.dumps({"a": "x" * (200 << 10)}).encode()
"""Larger than what is validated in the event loop."""


def call_tree(
    path: str,
    *children: Tree,
    status: str = "OK",
    system: str = "grpc",
    is_error: bool = False,
    **attributes: Any,
) -> Tree:
    """Return the tree of a call."""
    always = {
        "rpc.system.name": system,
        "rpc.method": path,
        "rpc.response.status_code": status,
        **({"error.type": status} if is_error else {}),
    }
    own = {f"sidecheck.{name}": value for name, value in attributes.items()}
    return Tree(path, "server", {**always, **own}, list(children), is_error=is_error)


def work_tree(name: str, *children: Tree, **attributes: Any) -> Tree:
    """Return the tree of work."""
    own = {f"sidecheck.{key.replace('__', '.')}": value for key, value in attributes.items()}
    return Tree(name, "internal", own, list(children))


def fresh_schema(**others: Any) -> bytes:
    """Return a schema that no cache has."""
    return json.dumps({"$comment": secrets.token_hex(8), "type": "object", **others}).encode()


def compiled(schema: bytes, target: str = "inline_schema") -> Tree:
    """Return the tree of looking up *schema*, which is compiled."""
    facts = {"dialect": "2020-12", "engine": "fast"}
    size = len(schema)
    task = work_tree("offload", task="compile", wait_seconds=..., schema__bytes=size, **facts)
    compilation = work_tree("compile", task, schema__bytes=size, **facts)
    return work_tree("lookup", compilation, target=target, side="input", cache__hit=False, **facts)


def cached(target: str) -> Tree:
    """Return the tree of looking up a compiled schema."""
    return work_tree(
        "lookup", target=target, side="input", cache__hit=True, dialect="2020-12", engine="fast"
    )


def register(traced: TracedServer, schema: Any) -> target_pb2.Target:
    """Register a tool, and return it as a target."""
    name = f"t{secrets.token_hex(8)}"
    tool = target_pb2.InlineTool(json=json.dumps({"name": name, "inputSchema": schema}).encode())
    stub = RegistryServiceStub(traced.channel)
    stub.RegisterTools(registry_service_pb2.RegisterToolsRequest(server="s", tools=[tool]))
    return target_pb2.Target(registered_tool=target_pb2.RegisteredTool(server="s", name=name))


def test_a_schema_of_a_request(traced: TracedServer) -> None:
    """It is compiled for the first call, and cached for the next."""
    schema = fresh_schema(properties={"a": {"type": "integer"}})
    request = validation.ValidateRequest(
        target=inline_schema(schema), subject=arguments(b'{"a": "x"}')
    )
    stub, first, second = ValidationServiceStub(traced.channel), Caller.new(), Caller.new()
    stub.Validate(request, metadata=first.metadata)
    stub.Validate(request, metadata=second.metadata)

    evaluated = work_tree("evaluate", payload__bytes=10, outcome="invalid", violations=1)
    outcome: dict[str, Any] = {"outcome": "invalid", "violations": 1, "codes": ["TYPE"]}
    assert traced.tree_of(first) == call_tree(VALIDATE, compiled(schema), evaluated, **outcome)
    assert traced.tree_of(second) == call_tree(
        VALIDATE, cached("inline_schema"), evaluated, **outcome
    )


def test_a_prepared_target(traced: TracedServer) -> None:
    """After the first call, the span of the call has no children."""
    target = register(traced, {"type": "object", "properties": {"a": {"type": "integer"}}})
    request = validation.ValidateRequest(target=target, subject=arguments(b'{"a": 1}'))
    stub, first, second = ValidationServiceStub(traced.channel), Caller.new(), Caller.new()
    stub.Validate(request, metadata=first.metadata)
    stub.Validate(request, metadata=second.metadata)

    evaluated = work_tree("evaluate", payload__bytes=8, outcome="valid")
    assert traced.tree_of(first) == call_tree(
        VALIDATE, cached("registered_tool"), evaluated, outcome="valid"
    )
    assert traced.tree_of(second) == call_tree(VALIDATE, outcome="valid")


def test_a_large_payload_is_offloaded(traced: TracedServer, caller: Caller) -> None:
    """A worker first decides and then explains."""
    target = register(traced, {"type": "object", "properties": {"a": {"type": "integer"}}})
    request = validation.ValidateRequest(target=target, subject=arguments(LARGE))
    ValidationServiceStub(traced.channel).Validate(request, metadata=caller.metadata)

    task = work_tree(
        "offload",
        task="validate",
        payload__bytes=len(LARGE),
        wait_seconds=...,
        dialect="2020-12",
        engine="fast",
        outcome="invalid",
        violations=1,
    )
    assert traced.tree_of(caller) == call_tree(
        VALIDATE,
        cached("registered_tool"),
        work_tree("evaluate", payload__bytes=len(LARGE), offloaded=True),
        task,
        task,
        outcome="invalid",
        violations=1,
        codes=["TYPE"],
    )


def test_an_error_of_the_caller(traced: TracedServer, caller: Caller) -> None:
    """It is no error of the server's span."""
    tool = target_pb2.RegisteredTool(server="nobody", name="nothing")
    request = validation.ValidateRequest(
        target=target_pb2.Target(registered_tool=tool), subject=arguments(b"{}")
    )
    with pytest.raises(grpc.RpcError):
        ValidationServiceStub(traced.channel).Validate(request, metadata=caller.metadata)

    reason: dict[str, Any] = {"reason": "UNKNOWN_TOOL"}
    assert traced.tree_of(caller) == call_tree(
        VALIDATE,
        work_tree("lookup", target="registered_tool", side="input", **reason),
        status="NOT_FOUND",
        **reason,
    )


def test_calls_that_the_peer_ends(tmp_path: Path) -> None:
    """A cancellation is not an error; an exceeded deadline is."""
    cancelled, late = Caller.new(), Caller.new()
    with traced_server(tmp_path, SIDECHECK_WORKERS="1") as traced:
        workers = worker_processes(traced.server.process.pid)
        with begun_compilation(traced, fresh_schema(), cancelled, workers) as call:
            call.cancel()
            cancelled_tree = traced.tree_of(cancelled)
        with begun_compilation(traced, fresh_schema(), late, workers, timeout=3.0) as call:
            assert grpc.StatusCode.DEADLINE_EXCEEDED == call.exception(timeout=180).code()
            late_tree = traced.tree_of(late)

    assert ("CANCELLED", False) == (status_of(cancelled_tree), cancelled_tree.is_error)
    # On a busy machine the client's clock may be far ahead, when its deadline has passed.
    assert (status_of(late_tree), late_tree.is_error) in [
        ("DEADLINE_EXCEEDED", True),
        ("CANCELLED", False),
    ]


@pytest.mark.parametrize(
    ("left", "status"),
    [
        pytest.param(None, "CANCELLED", id="no deadline"),
        pytest.param(30.0, "CANCELLED", id="time left"),
        pytest.param(-0.1, "DEADLINE_EXCEEDED", id="none left"),
        pytest.param(0.01, "DEADLINE_EXCEEDED", id="due at the peer"),
    ],
)
def test_why_a_call_was_cancelled(left: float | None, status: str) -> None:
    """The remaining time of the deadline tells."""
    span, call = Mock(), Mock()
    call.time_remaining.return_value = left
    with pytest.raises(asyncio.CancelledError), TracedCall(call, CallSpans(span), Context()):
        raise asyncio.CancelledError

    span.set_attribute.assert_any_call("rpc.response.status_code", status)


def test_a_batch(traced: TracedServer, caller: Caller) -> None:
    """It has counts; the spans below it are bounded."""
    items = [
        validation.ValidateItem(
            target=inline_schema(fresh_schema()), subject=arguments(b"[]" if index else b"{}")
        )
        for index in range(50)
    ]
    items.append(validation.ValidateItem(subject=arguments(b"{}")))
    request = validation.ValidateBatchRequest(items=items)
    ValidationServiceStub(traced.channel).ValidateBatch(request, metadata=caller.metadata)

    spans = traced.spans_of(caller)
    [tree] = trees(spans)
    # Each item has four spans.
    dropped: dict[str, Any] = {"spans.dropped": 4 * 50 - 128}
    tree.children = []
    assert tree == call_tree(
        "sidecheck.v1.ValidationService/ValidateBatch",
        items=51,
        invalid=49,
        errors=1,
        reasons=["INVALID_REQUEST"],
        **dropped,
    )
    assert 1 + 128 == len(spans)


def test_a_stream(traced: TracedServer, caller: Caller) -> None:
    """It has one span, however many items it has; one that cannot be read fails alone."""
    schema = fresh_schema()
    target = inline_schema(schema)
    requests = [
        validation.ValidateStreamRequest(defaults=validation.StreamDefaults(target=target)),
        *(
            validation.ValidateStreamRequest(
                item=validation.StreamItem(item=validation.ValidateItem(subject=arguments(text)))
            )
            for text in (b"{}", b"[]")
        ),
        validation.ValidateStreamRequest(),
    ]
    stub = ValidationServiceStub(traced.channel)
    assert 3 == len(list(stub.ValidateStream(iter(requests), metadata=caller.metadata)))

    assert traced.tree_of(caller) == call_tree(
        "sidecheck.v1.ValidationService/ValidateStream",
        compiled(schema),
        work_tree("evaluate", payload__bytes=2, outcome="valid"),
        work_tree("evaluate", payload__bytes=2, outcome="invalid", violations=1),
        items=3,
        invalid=1,
        errors=1,
        reasons=["INVALID_REQUEST"],
    )


def test_a_message(traced: TracedServer, caller: Caller) -> None:
    """Rules are checked in the event loop, without a span of their own."""
    stub = ProtocolServiceStub(traced.channel)
    message = protocol_service_pb2.ProtocolMessage(json=b'{"jsonrpc":"2.0","id":1}')
    request = protocol_service_pb2.CheckMessageRequest(message=message)
    stub.CheckMessage(request)
    response = stub.CheckMessage(request, metadata=caller.metadata)

    codes = sorted({violation.code for violation in response.result.verdict.violations})
    assert traced.tree_of(caller) == call_tree(
        "sidecheck.v1.ProtocolService/CheckMessage",
        outcome="invalid",
        violations=len(response.result.verdict.violations),
        codes=codes,
    )


def test_a_call_over_http(traced: TracedServer, caller: Caller) -> None:
    """It is the same method, brought by something else."""
    schema = fresh_schema()
    response = httpx.post(
        f"{traced.server.admin_url}/v1/validate",
        json={"schema": json.loads(schema), "arguments": {}},
        headers={"traceparent": caller.traceparent},
        timeout=180,
    )

    assert 200 == response.status_code, response.text
    tree = traced.tree_of(caller)
    assert "sidecheck_http" == tree.attributes["rpc.system.name"]
    assert (VALIDATE, "server", ["lookup", "evaluate"]) == (
        tree.name,
        tree.kind,
        [child.name for child in tree.children],
    )


def test_standard_services_are_not_traced(traced: TracedServer, caller: Caller) -> None:
    """Probes would be most of all spans."""
    health: Any = health_pb2_grpc.HealthStub(traced.channel)
    health.Check(health_pb2.HealthCheckRequest(), metadata=Caller.new().metadata)
    info = InfoServiceStub(traced.channel)
    info.GetServerInfo(GetServerInfoRequest(), metadata=caller.metadata)

    spans = traced.spans_of(caller)
    assert ["sidecheck.v1.InfoService/GetServerInfo"] == [span.name for span in spans]
    assert not [span for span in traced.collector.spans() if "Health" in span.name]


def test_the_resource_of_spans(traced: TracedServer, caller: Caller) -> None:
    """It has the service and its version; variables may override them."""
    InfoServiceStub(traced.channel).GetServerInfo(GetServerInfoRequest(), metadata=caller.metadata)
    traced.spans_of(caller)

    resource = traced.collector.resources()[0]
    assert ("sidecheck", __version__) == (resource["service.name"], resource["service.version"])


def test_the_log_names_the_span(traced: TracedServer, caller: Caller) -> None:
    """The events of a trace can be found by its id."""
    request = validation.ValidateRequest(target=inline_schema(b"true"), subject=arguments(b"{}"))
    ValidationServiceStub(traced.channel).Validate(request, metadata=caller.metadata)
    [span] = [span for span in traced.spans_of(caller) if span.name == VALIDATE]

    traced.server.log_text()
    [event] = [e for e in traced.server.events if e.get("trace_id") == caller.trace_id]
    assert ("rpc.completed", span.span_id.hex()) == (event["event"], event["span_id"])


@contextmanager
def begun_compilation(
    traced: TracedServer,
    schema: bytes,
    caller: Caller,
    workers: Sequence[psutil.Process],
    timeout: float | None = None,
) -> Iterator[Any]:
    """Yield a call whose schema *workers* have to compile, which are suspended in the block."""
    for worker in workers:
        worker.suspend()
    request = validation.ValidateRequest(target=inline_schema(schema), subject=arguments(b"{}"))
    stub = ValidationServiceStub(traced.channel)
    try:
        call = stub.Validate.future(request, metadata=caller.metadata, timeout=timeout)
        traced.server.series_when("sidecheck_worker_tasks_active", lambda tasks: tasks[()] >= 1)
        yield call
    finally:
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.resume()


def status_of(tree: Tree) -> Any:
    return tree.attributes["rpc.response.status_code"]
