"""How a server begins and ends, as a process."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
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
    """Run a server that is expected to refuse to start."""
    return subprocess.run(
        [sys.executable, "-m", "sidecheck_server", "serve", *flags],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
        check=False,
    )


def request(number: int) -> validation_service_pb2.ValidateRequest:
    """A request whose schema nobody compiled before."""
    schema = json.dumps({"properties": {f"p{n}": {"minimum": number} for n in range(50)}})
    return validation_service_pb2.ValidateRequest(
        target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=schema.encode())),
        subject=target_pb2.Subject(arguments=b"{}"),
    )


def test_health_and_reflection_are_served(server: RunningServer) -> None:
    """For the whole server and for each service."""
    with grpc.insecure_channel(server.address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        services = ProtoReflectionDescriptorDatabase(channel).get_services()
        ours = [name for name in services if name.startswith("sidecheck.")]
        got = [
            stub.Check(health_pb2.HealthCheckRequest(service=name)).status for name in ["", *ours]
        ]

    assert 6 == len(ours)
    assert [SERVING] * 7 == got


def test_the_limits_are_told(server: RunningServer) -> None:
    """So that clients can split their batches."""
    with grpc.insecure_channel(server.address) as channel:
        info = InfoServiceStub(channel).GetServerInfo(info_service_pb2.GetServerInfoRequest())

    limits = info.limits
    assert (10_000, 1 << 20, 64 << 10) == (
        limits.batch_items,
        limits.payload_bytes,
        limits.source_bytes,
    )
    assert "2025-11-25" == info.default_protocol_version
    assert "https://json-schema.org/draft/2020-12/schema" == info.dialects[0]
    assert ["fast", "complete"] == [engine.name for engine in info.engines]


def test_a_port_in_use_is_refused(server: RunningServer) -> None:
    """Sharing it would take a part of the other server's connections in silence."""
    done = serve("--listen", server.address)

    assert 1 == done.returncode
    assert f"Error: cannot listen on {server.address}: another process does" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_live_socket_is_refused(server: RunningServer) -> None:
    """It is not replaced, and goes on answering."""
    done = serve("--listen", "", "--unix-socket", str(server.socket))

    assert 1 == done.returncode
    assert "another process does" in done.stderr
    with grpc.insecure_channel(server.unix_address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        assert SERVING == stub.Check(health_pb2.HealthCheckRequest()).status


def test_a_dead_socket_is_replaced(tmp_path: Path) -> None:
    """It is left from a server that was killed."""
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
    ("flags", "environment", "said"),
    [
        pytest.param(["--workers", "0"], {}, "workers", id="flag"),
        pytest.param([], {"SIDECHECK_LOG_LEVEL": "loud"}, "log_level", id="environment"),
        pytest.param([], {"SIDECHECK_LIMITS__STEPS": "0"}, "steps must be at least 1", id="limit"),
        pytest.param(["--config", "nowhere.toml"], {}, "nowhere.toml", id="file"),
        pytest.param(["--listen", "here"], {}, "host:port", id="address"),
        pytest.param(["--registry", "no/such/folder/db"], {}, "no/such/folder", id="registry"),
    ],
)
def test_a_wrong_setting_is_named(flags: list[str], environment: dict[str, str], said: str) -> None:
    """Without a traceback."""
    done = serve("--listen", "127.0.0.1:0", *flags, **environment)

    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_no_accepted_call_is_lost_on_sigterm(tmp_path: Path) -> None:
    """Every call is answered, or told by UNAVAILABLE to try elsewhere; none is cut off."""
    running = RunningServer(tmp_path)
    begun = threading.Barrier(9)
    answered = threading.Semaphore(0)

    def calls(lane: int) -> list[str]:
        got = []
        with grpc.insecure_channel(running.address) as channel:
            stub: Any = ValidationServiceStub(channel)
            stub.Validate(request(lane * 1000), timeout=300)
            begun.wait()
            for number in range(1, 200):
                try:
                    stub.Validate(request(lane * 1000 + number), timeout=300)
                    got.append("OK")
                    answered.release()
                except grpc.RpcError as error:
                    got.append(error.code().name if isinstance(error, grpc.Call) else repr(error))
                    break
        return got

    with ThreadPoolExecutor(8) as pool:
        lanes = [pool.submit(calls, lane) for lane in range(8)]
        begun.wait()
        for _ in range(40):
            assert answered.acquire(timeout=300)
        code = running.terminate()
        got = [lane.result() for lane in lanes]
    running.close()

    assert 0 == code
    assert {"OK", "UNAVAILABLE"} == {answer for lane in got for answer in lane}


def test_a_stopping_server_says_so_by_health_first(tmp_path: Path) -> None:
    """While it drains, it still answers."""
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


def test_registered_tools_outlive_the_server(tmp_path: Path) -> None:
    """If the registry is kept in a file."""
    from sidecheck import BlockingClient, RegisteredTool, ToolDefinition

    tool = ToolDefinition(json={"name": "a", "inputSchema": {"type": "object"}})
    for _ in range(2):
        running = RunningServer(tmp_path, "--registry", str(tmp_path / "tools.db"))
        with BlockingClient(running.address, timeout=120) as client:
            outcome = client.register("s", [tool]).outcomes[0]
            assert client.validate(RegisteredTool("s", "a"), {}).valid
        running.close()

    assert "unchanged" == outcome.action


def test_the_log_holds_no_payload_message_or_pointer(server: RunningServer) -> None:
    """Only outcomes, counts and digests, at every level."""
    schema = b'{"properties": {"sesame": {"type": "integer"}}, "additionalProperties": false}'
    ask = validation_service_pb2.ValidateRequest(
        target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=schema)),
        subject=target_pb2.Subject(arguments=b'{"sesame": "hunter2", "mellon": 1}'),
    )
    bad = validation_service_pb2.ValidateRequest(
        target=target_pb2.Target(
            registered_tool=target_pb2.RegisteredTool(server="hunter2", name="sesame")
        ),
        subject=target_pb2.Subject(arguments=b'{"mellon": 1}'),
    )
    with grpc.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        assert not stub.Validate(ask).verdict.valid
        with pytest.raises(grpc.RpcError):
            stub.Validate(bad)
    log = server.log_text()

    assert ["rpc.answered", "rpc.refused"] == [
        event["event"] for event in server.events if event["event"].startswith("rpc.")
    ]
    assert [] == [word for word in ("hunter2", "sesame", "mellon") if word in log]
