"""A service of several processes: one address, one registry, and none that takes others along."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from sidecheck_server.server.processes.serving_process import BEAT_SECONDS
from support.metrics import MeteredServer, nonzero
from support.running import RunningServer

PROCESSES = 2
CONNECTIONS = 16
"""Enough that each process gets some, but in one of 32,768 runs."""

SECONDS = 180.0

ADD: dict[str, Any] = {
    "name": "add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
}
REJECTED = registry_pb.RegistrationOutcome.ACTION_REJECTED
CREATED = registry_pb.RegistrationOutcome.ACTION_CREATED


@dataclass(frozen=True)
class Caller:
    """Calls over a connection of its own."""

    channel: Any

    async def validate(self, arguments: Any, *, server: str = "", schema: Any = None) -> bool:
        """Return whether *arguments* are valid for the tool of *server*, or for *schema*."""
        target = target_pb2.Target(
            registered_tool=target_pb2.RegisteredTool(server=server, name="add")
        )
        if schema is not None:
            text = json.dumps(schema).encode()
            target = target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=text))
        subject = target_pb2.Subject(arguments=json.dumps(arguments).encode())
        stub: Any = ValidationServiceStub(self.channel)
        request = validation_pb.ValidateRequest(target=target, subject=subject)
        response = await stub.Validate(request, timeout=SECONDS)
        valid: bool = response.verdict.valid
        return valid

    async def register(self, server: str, tool: Any, **options: Any) -> tuple[int, int]:
        """Return the action on *tool*, and the revision of the registry."""
        tools = [target_pb2.InlineTool(json=json.dumps(tool).encode())]
        stub: Any = RegistryServiceStub(self.channel)
        response = await stub.RegisterTools(
            registry_pb.RegisterToolsRequest(server=server, tools=tools, **options),
            timeout=SECONDS,
        )
        return response.outcomes[0].action, response.registry_revision

    async def delete(self, server: str) -> None:
        stub: Any = RegistryServiceStub(self.channel)
        request = registry_pb.DeleteToolsRequest(server=server, all=True)
        await stub.DeleteTools(request, timeout=SECONDS)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[MeteredServer]:
    # Beside other work of the machine, event loops lag.
    patient = {"SIDECHECK_TRANSPORT__LOOP_LAG_MILLISECONDS": "60000"}
    server = MeteredServer(tmp_path, "--processes", str(PROCESSES), **patient)
    try:
        yield server
    finally:
        server.close()


def serve(*flags: str) -> subprocess.CompletedProcess[str]:
    """Run a service that is expected to fail to start."""
    command = [sys.executable, "-m", "sidecheck_server", "serve", *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


@asynccontextmanager
async def callers(server: RunningServer, count: int = CONNECTIONS) -> AsyncIterator[list[Caller]]:
    """Yield callers whose connections are there."""
    async with AsyncExitStack() as stack:
        clients = []
        for _ in range(count):
            options = [("grpc.use_local_subchannel_pool", 1)]
            channel = grpc.aio.insecure_channel(server.address, options=options)
            clients.append(Caller(await stack.enter_async_context(channel)))
            await channel.channel_ready()
        yield clients


def serving_ids(server: RunningServer) -> list[int]:
    """Return the ids of the serving processes."""
    return children(server, b"sidecheck_server.server.serving")


def children(server: RunningServer, part: bytes) -> list[int]:
    """Return the ids of the children of *server* with *part* in their command."""
    # Each thread has children of its own.
    threads = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    ids = [int(id_) for thread in threads for id_ in thread.read_text(encoding="ascii").split()]
    return [id_ for id_ in ids if part in Path(f"/proc/{id_}/cmdline").read_bytes()]


async def test_every_process_serves_and_is_on_the_page_of_metrics(running: MeteredServer) -> None:
    """A label has its number; processes share compiled schemas."""
    schema = {"type": "string"}
    async with callers(running) as connected:
        assert {True} == {await caller.validate("a", schema=schema) for caller in connected}
    handled: Counter[str] = Counter()
    for labels, value in nonzero(running.series("grpc_server_handled_total")).items():
        if "Validate" in labels:
            handled[labels[-1]] += int(value)
    misses = running.series("sidecheck_cache_misses_total")

    assert {"1", "2"} == handled.keys()
    assert CONNECTIONS == handled.total()
    assert {("0",): 2.0} == running.series("sidecheck_processes_alive")
    assert (1.0, 1.0) == (misses["inline_schemas", "1"], misses["inline_schemas", "2"])
    # That of the schema, and one at the start.
    assert 2.0 == misses["artifacts", "0"]


async def test_a_tool_is_known_to_all_once_it_is_registered(running: MeteredServer) -> None:
    """After its deletion by any process, no process knows it."""
    async with callers(running) as connected:
        for number, caller in enumerate(connected, 1):
            assert (CREATED, number) == await caller.register(f"s{number}", ADD)
            for client in connected:
                assert await client.validate({"a": 1}, server=f"s{number}")
                assert not await client.validate({"a": "x"}, server=f"s{number}")
        for number, caller in enumerate(connected, 1):
            await caller.delete(f"s{number}")
            for client in connected:
                with pytest.raises(grpc.aio.AioRpcError, match="no tool 'add' is registered"):
                    await client.validate({"a": 1}, server=f"s{number}")


async def test_of_concurrent_changes_one_is_accepted(running: MeteredServer) -> None:
    """The calls may reach any process."""
    policy = registry_pb.CHANGE_POLICY_REJECT
    async with callers(running) as connected:
        registered = await asyncio.gather(
            *(
                caller.register("s", {**ADD, "description": str(number)}, change_policy=policy)
                for number, caller in enumerate(connected)
            )
        )

    assert Counter({(REJECTED, 1): CONNECTIONS - 1, (CREATED, 1): 1}) == Counter(registered)


@asynccontextmanager
async def calling(connected: list[Caller]) -> AsyncIterator[list[Counter[str]]]:
    """Call over all connections in the block, and yield the codes of each."""
    stop = asyncio.Event()
    codes: list[Counter[str]] = [Counter() for _ in connected]
    begun = [asyncio.Event() for _ in connected]

    async def call(number: int, caller: Caller) -> None:
        while not stop.is_set():
            try:
                await caller.validate({"a": 1}, server="s")
                codes[number]["OK"] += 1
            except grpc.aio.AioRpcError as error:
                codes[number][error.code().name] += 1
            begun[number].set()

    async with asyncio.TaskGroup() as tasks:
        for numbered_client in enumerate(connected):
            tasks.create_task(call(*numbered_client))
        await asyncio.gather(*(event.wait() for event in begun))
        yield codes
        stop.set()


@pytest.mark.parametrize(
    ("number", "event", "expected"),
    [
        (signal.SIGKILL, "process.died", {"exit": "SIGKILL", "alive": 1}),
        (signal.SIGSTOP, "process.stalled", {"cause": "stopped", "alive": 1}),
    ],
)
async def test_a_lost_process_is_replaced_and_the_others_serve(
    running: MeteredServer, number: signal.Signals, event: str, expected: dict[str, Any]
) -> None:
    """Only its own connections are lost; calls of others and the registry are not."""
    lost, survivor = serving_ids(running)
    async with callers(running) as connected:
        await connected[0].register("s", ADD)
        async with calling(connected) as codes:
            os.kill(lost, number)
            ended = await asyncio.to_thread(running.wait_for, event)
            async with callers(running, 1) as [caller]:
                await caller.register("t", ADD)
            restarted = await asyncio.to_thread(running.wait_for, "process.restarted")
            async with callers(running) as others:
                assert {True} == {await client.validate({"a": 1}, server="t") for client in others}

    assert expected == {name: ended[name] for name in expected}
    assert (ended["number"], 2) == (restarted["number"], restarted["alive"])
    assert {"OK", "UNAVAILABLE"} == set().union(*codes)
    # Of a process that lives, no call fails.
    assert any(code_counts.keys() == {"OK"} for code_counts in codes)
    assert survivor in serving_ids(running)
    assert lost not in serving_ids(running)
    assert {("0",): 1.0} == running.series("sidecheck_processes_ended_total")
    assert {("0",): 2.0} == running.series("sidecheck_processes_alive")


async def test_a_starved_process_is_not_replaced(running: MeteredServer) -> None:
    """It runs for a fifth of the time, for longer than a stopped one has."""
    ids = serving_ids(running)
    ends = time.monotonic() + 5 * BEAT_SECONDS
    while time.monotonic() < ends:
        os.kill(ids[0], signal.SIGSTOP)
        await asyncio.sleep(0.2)
        os.kill(ids[0], signal.SIGCONT)
        await asyncio.sleep(0.05)
    async with callers(running) as connected:
        assert {True} == {
            await client.validate("a", schema={"type": "string"}) for client in connected
        }

    assert ids == serving_ids(running)
    assert {("0",): 0.0} == running.series("sidecheck_processes_ended_total")


async def test_processes_go_on_after_the_first_was_stopped_with_them(
    running: MeteredServer,
) -> None:
    """A terminal or a sleeping machine stops all for longer than the heartbeat's limit."""
    ids = serving_ids(running)
    for id_ in (*ids, running.process.pid):
        os.kill(id_, signal.SIGSTOP)
    await asyncio.sleep(5 * BEAT_SECONDS)
    for id_ in (running.process.pid, *ids):
        os.kill(id_, signal.SIGCONT)
    await asyncio.sleep(2 * BEAT_SECONDS)
    async with callers(running) as connected:
        assert {True} == {
            await client.validate("a", schema={"type": "string"}) for client in connected
        }

    assert ids == serving_ids(running)


def test_no_process_outlives_the_first(running: MeteredServer) -> None:
    """It could not compile or register, and would hold the address."""
    ids = serving_ids(running)
    running.process.kill()
    running.process.wait()
    ends = time.monotonic() + SECONDS
    while any(Path(f"/proc/{id_}").exists() for id_ in ids):
        assert time.monotonic() < ends
        time.sleep(0.01)
    host, port = running.address.rsplit(":", 1)

    assert PROCESSES == len(ids)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))


async def test_a_signal_to_all_processes_stops_them_in_order(running: MeteredServer) -> None:
    """Calls that have begun are answered, as supervisors signal all."""
    workers = children(running, b"spawn_main")
    assert workers
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    async with callers(running, 4) as connected:
        calls = [
            asyncio.create_task(caller.validate({}, schema={"title": str(number)}))
            for number, caller in enumerate(connected)
        ]
        has_all = lambda waiting: sum(waiting.values()) == len(calls)  # noqa: E731
        await asyncio.to_thread(running.series_when, "sidecheck_calls_active", has_all)
        for id_ in (*serving_ids(running), running.process.pid):
            os.kill(id_, signal.SIGTERM)
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
        valid = await asyncio.gather(*calls)
        exit_code = await asyncio.to_thread(running.process.wait, SECONDS)

    assert ([True] * 4, 0) == (valid, exit_code)
    stopped = [
        event.get("process", 0)
        for event in map(json.loads, running.log_text().splitlines())
        if event["event"] == "server.stopped"
    ]
    assert [0, 1, 2] == sorted(stopped)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_a_second_service_cannot_share_the_address(running: MeteredServer, host: str) -> None:
    """Unlike with the option of the socket alone, it would get a part of the connections."""
    listen = f"{host}:{running.address.rpartition(':')[2]}"
    second = serve("--listen", listen, "--processes", "2")

    expected = f"Error: cannot listen on {listen}: another process is listening there\n"
    assert (1, expected) == (second.returncode, second.stderr)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(
            ("--unix-socket", "/tmp/s.sock"),
            "processes: several cannot listen on one unix socket; leave out unix_socket, or set "
            "processes to 1",
            id="socket",
        ),
        pytest.param(
            ("--tls-cert", "missing.pem", "--tls-key", "missing.pem"),
            "tls_certificate: missing.pem does not exist",
            id="certificate",
        ),
    ],
)
def test_settings_that_several_processes_cannot_have(flags: tuple[str, ...], message: str) -> None:
    """The error comes before the start."""
    failed = serve("--processes", "2", "--listen", "127.0.0.1:0", *flags)

    assert 2 == failed.returncode
    assert message in failed.stderr


async def test_http_and_grpc_calls_have_the_same_service(running: MeteredServer) -> None:
    """The first process, number 0, answers calls over HTTP."""
    async with callers(running, 1) as [caller]:
        await caller.register("s", ADD)
    target = {"server": "s", "name": "add"}
    body = json.dumps({**target, "arguments": {"a": "x"}}).encode()
    request = urllib.request.Request(
        f"{running.admin_url}/v1/validate", body, {"content-type": "application/json"}
    )
    with await asyncio.to_thread(urllib.request.urlopen, request, timeout=SECONDS) as response:
        verdict = json.load(response)["verdict"]
    counted = nonzero(running.series("sidecheck_verdicts_total"))

    assert not verdict["valid"]
    assert {("Validate", "invalid", "0"): 1.0} == {
        labels: value for labels, value in counted.items() if "Validate" in labels
    }
