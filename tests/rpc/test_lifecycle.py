"""Start and shutdown of a server process."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from sidecheck.v1 import info_service_pb2, target_pb2, validation_service_pb2
from sidecheck.v1.info_service_pb2_grpc import InfoServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer

SERVING = health_pb2.HealthCheckResponse.SERVING


def serve(*flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a server that is expected to fail to start."""
    return subprocess.run(
        [sys.executable, "-m", "sidecheck_server", "serve", *flags],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
        check=False,
    )


def request(number: int) -> validation_service_pb2.ValidateRequest:
    """Return a request with a schema that is distinct for each *number*."""
    schema = json.dumps({"properties": {f"p{n}": {"minimum": number} for n in range(50)}})
    return validation_service_pb2.ValidateRequest(
        target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=schema.encode())),
        subject=target_pb2.Subject(arguments=b"{}"),
    )


def test_health_and_reflection_are_served(server: RunningServer) -> None:
    """The server and each service have a health status."""
    with grpc.insecure_channel(server.address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        services = ProtoReflectionDescriptorDatabase(channel).get_services()
        ours = [name for name in services if name.startswith("sidecheck.")]
        results = [
            stub.Check(health_pb2.HealthCheckRequest(service=name)).status for name in ["", *ours]
        ]

    assert 6 == len(ours)
    assert [SERVING] * 7 == results


def test_server_info_has_the_limits(server: RunningServer) -> None:
    """Clients need the limits to split their batches."""
    with grpc.insecure_channel(server.address) as channel:
        info = InfoServiceStub(channel).GetServerInfo(info_service_pb2.GetServerInfoRequest())

    limits = info.limits
    assert (10_000, 1 << 20, 256 << 10) == (
        limits.batch_items,
        limits.payload_bytes,
        limits.source_bytes,
    )
    assert "2025-11-25" == info.default_protocol_version
    assert "https://json-schema.org/draft/2020-12/schema" == info.dialects[0]
    assert ["fast", "complete"] == [engine.name for engine in info.engines]


def test_a_port_in_use_is_rejected(server: RunningServer) -> None:
    """Sharing the port would silently take some of the other server's connections."""
    process = serve("--listen", server.address)

    assert 1 == process.returncode
    assert (
        f"Error: cannot listen on {server.address}: another process is listening there"
        in process.stderr
    )
    assert "Traceback" not in process.stderr


def test_a_live_socket_is_rejected(server: RunningServer) -> None:
    """The other server keeps its socket and stays reachable."""
    process = serve("--listen", "", "--unix-socket", str(server.socket))

    assert 1 == process.returncode
    assert "another process is listening there" in process.stderr
    with grpc.insecure_channel(server.unix_address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        assert SERVING == stub.Check(health_pb2.HealthCheckRequest()).status


def test_a_dead_socket_is_replaced(tmp_path: Path) -> None:
    """A killed server leaves its socket behind."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "sidecheck.sock"))
    running = RunningServer(tmp_path)
    try:
        mode = stat.S_IMODE(running.socket.stat().st_mode)
        with grpc.insecure_channel(running.unix_address) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            assert SERVING == stub.Check(health_pb2.HealthCheckRequest()).status
    finally:
        running.close()

    assert 0o660 == mode
    assert not running.socket.exists()


@pytest.mark.parametrize(
    ("flags", "environment", "message"),
    [
        pytest.param(["--workers", "0"], {}, "workers", id="flag"),
        pytest.param([], {"SIDECHECK_LOG_LEVEL": "loud"}, "log_level", id="environment"),
        pytest.param([], {"SIDECHECK_LIMITS__STEPS": "0"}, "steps must be at least 1", id="limit"),
        pytest.param(["--config", "nowhere.toml"], {}, "nowhere.toml", id="file"),
        pytest.param(["--listen", "here"], {}, "host:port", id="address"),
        pytest.param(["--registry", "no/such/folder/db"], {}, "no/such/folder", id="registry"),
    ],
)
def test_an_invalid_setting_is_named(
    flags: list[str], environment: dict[str, str], message: str
) -> None:
    """The message has no traceback."""
    process = serve("--listen", "127.0.0.1:0", *flags, **environment)

    assert process.returncode in (1, 2)
    assert message in process.stderr
    assert "Traceback" not in process.stderr


def test_no_accepted_call_is_lost_on_sigterm(tmp_path: Path) -> None:
    """Every call returns a response or UNAVAILABLE, so that clients retry elsewhere."""
    running = RunningServer(tmp_path)
    begun = threading.Barrier(9)
    responses = threading.Semaphore(0)

    def calls(lane: int) -> list[str]:
        results = []
        with grpc.insecure_channel(running.address) as channel:
            stub: Any = ValidationServiceStub(channel)
            stub.Validate(request(lane * 1000), timeout=300)
            begun.wait()
            for number in range(1, 200):
                try:
                    stub.Validate(request(lane * 1000 + number), timeout=300)
                    results.append("OK")
                    responses.release()
                except grpc.RpcError as error:
                    results.append(
                        error.code().name if isinstance(error, grpc.Call) else repr(error)
                    )
                    break
        return results

    with ThreadPoolExecutor(8) as pool:
        lanes = [pool.submit(calls, lane) for lane in range(8)]
        begun.wait()
        for _ in range(40):
            assert responses.acquire(timeout=300)
        code = running.terminate()
        results = [lane.result() for lane in lanes]
    running.close()

    assert 0 == code
    assert {"OK", "UNAVAILABLE"} == {status for lane in results for status in lane}


def test_callers_that_go_on_see_no_cancelled_call_on_sigterm(tmp_path: Path) -> None:
    """Each makes the next call as soon as it can, over connections that all share."""
    running = RunningServer(tmp_path)
    begun = threading.Barrier(33)
    has_ended = threading.Event()
    options = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.insecure_channel(running.address, options=options) for _ in range(4)]

    def calls(channel: grpc.Channel) -> Counter[str]:
        results: Counter[str] = Counter()
        stub: Any = ValidationServiceStub(channel)
        stub.Validate(request(0), timeout=300)
        begun.wait()
        while not has_ended.is_set():
            try:
                stub.Validate(request(0), timeout=300)
                results["OK"] += 1
            except grpc.RpcError as error:
                results[error.code().name if isinstance(error, grpc.Call) else repr(error)] += 1
                has_ended.wait(0.01)
        return results

    with ThreadPoolExecutor(32) as pool:
        lanes = [pool.submit(calls, channel) for channel in 8 * channels]
        begun.wait()
        code = running.terminate()
        has_ended.set()
        results = sum((lane.result() for lane in lanes), Counter[str]())
    for channel in channels:
        channel.close()
    running.close()

    assert (0, {"OK", "UNAVAILABLE"}) == (code, set(results))


def test_health_is_not_serving_while_draining(tmp_path: Path) -> None:
    """Calls are still served while the server drains."""
    running = RunningServer(tmp_path, "--drain-seconds", "4")
    with grpc.insecure_channel(running.address) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)
        validation: Any = ValidationServiceStub(channel)
        running.process.send_signal(signal.SIGTERM)
        running.wait_for("server.draining")
        time.sleep(0.1)
        status = health.Check(health_pb2.HealthCheckRequest()).status
        valid = validation.Validate(request(1)).verdict.valid
    code = running.process.wait(timeout=300)
    running.close()

    assert (health_pb2.HealthCheckResponse.NOT_SERVING, True, 0) == (status, valid, code)


def test_registered_tools_persist(tmp_path: Path) -> None:
    """Tools persist if the registry is a file."""
    from sidecheck import BlockingClient, RegisteredTool, ToolDefinition

    tool = ToolDefinition(json={"name": "a", "inputSchema": {"type": "object"}})
    for _ in range(2):
        running = RunningServer(tmp_path, "--registry", str(tmp_path / "tools.db"))
        with BlockingClient(running.address, timeout=120) as client:
            outcome = client.register("s", [tool]).outcomes[0]
            assert client.validate(RegisteredTool("s", "a"), {}).valid
        running.close()

    assert "unchanged" == outcome.action


def test_the_log_has_no_payload_message_or_location(server: RunningServer) -> None:
    """Outcomes, counts and digests are logged."""
    schema = b'{"properties": {"sesame": {"type": "integer"}}, "additionalProperties": false}'
    invalid = validation_service_pb2.ValidateRequest(
        target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=schema)),
        subject=target_pb2.Subject(arguments=b'{"sesame": "hunter2", "mellon": 1}'),
    )
    unknown = validation_service_pb2.ValidateRequest(
        target=target_pb2.Target(
            registered_tool=target_pb2.RegisteredTool(server="hunter2", name="sesame")
        ),
        subject=target_pb2.Subject(arguments=b'{"mellon": 1}'),
    )
    with grpc.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        assert not stub.Validate(invalid).verdict.valid
        with pytest.raises(grpc.RpcError):
            stub.Validate(unknown)
    log = server.log_text()

    assert ["rpc.completed", "rpc.rejected"] == [
        event["event"] for event in server.events if event["event"].startswith("rpc.")
    ]
    assert [] == [word for word in ("hunter2", "sesame", "mellon") if word in log]
