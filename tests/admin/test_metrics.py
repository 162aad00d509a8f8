"""Metrics of the state of a server, and the address that serves them."""

import asyncio
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client.openmetrics import parser
from sidecheck import BlockingClient, RegisteredTool, Schema, SidecheckError
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.gateways.outcomes import FAILED, Verdict
from sidecheck_server.rpc.metric_table import METRICS
from support.agentgateway import Agentgateway
from support.metrics import MeteredServer, nonzero
from support.worker_processes import kill, worker_processes

MARKER = "mark3r"
TOOL = {
    "name": MARKER,
    "inputSchema": {"type": "object", "properties": {MARKER: {"type": "integer"}}},
}
OTHERS = ("process_", "python_gc_")
"""Prefixes of the metrics of the library's collectors."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MeteredServer]:
    running = MeteredServer(tmp_path, SIDECHECK_GATEWAYS="ext_mcp")
    yield running
    running.close()


def test_a_page_has_the_metrics_of_the_table(server: MeteredServer) -> None:
    """It has all of them from the start, and otherwise only those of the process."""
    families = server.families()
    own = {
        family.name + "_total" * (family.type == "counter"): family
        for family in families
        if not family.name.startswith(OTHERS)
    }
    labels = {
        name: {label for sample in family.samples for label in sample.labels} - {"le"}
        for name, family in own.items()
    }

    assert own.keys() == METRICS.keys()
    for name, family in METRICS.items():
        assert (own[name].type, own[name].documentation) == (family.type, family.meaning)
        # Reasons and codes are not known before they occur.
        if labels[name] or name not in {"sidecheck_errors_total", "sidecheck_violations_total"}:
            assert labels[name] == set(family.labels)
    assert {"process_resident_memory_bytes", "process_open_fds"} <= {f.name for f in families}


def test_openmetrics_is_served_on_request(server: MeteredServer) -> None:
    """The parser of OpenMetrics is stricter about units, suffixes and the end."""
    request = urllib.request.Request(
        f"{server.admin_url}/metrics", headers={"accept": "application/openmetrics-text"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read().decode()

    assert METRICS.keys() <= {
        family.name + "_total" * (family.type == "counter")
        for family in parser.text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    }


def test_probes(server: MeteredServer) -> None:
    """The server is ready until it drains."""
    for path in ("livez", "readyz"):
        with urllib.request.urlopen(f"{server.admin_url}/{path}", timeout=60) as response:
            assert (response.status, response.read()) == (200, b"ok\n")
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(f"{server.admin_url}/{MARKER}", timeout=60)
    with raised.value as error:
        assert error.code == 404


def test_caches_registry_and_compilations(server: MeteredServer) -> None:
    """A registered tool and an inline schema were used before."""
    with BlockingClient(server.address, timeout=300) as client:
        client.register(MARKER, [TOOL])
        for value in (1, 2, "x"):
            client.validate(RegisteredTool(MARKER, MARKER), {MARKER: value})
        for _ in range(2):
            client.validate(Schema({"type": "integer", "title": MARKER}), 1)
    series = server.series

    assert series("sidecheck_registry_tools") == {(): 1}
    assert series("sidecheck_registry_revision") == {(): 1}
    assert series("sidecheck_registry_age_seconds") == {(): 0}
    assert series("sidecheck_registry_writable") == {(): 1}
    misses = series("sidecheck_cache_misses_total")
    assert misses[("registered_schemas",)] == misses[("inline_schemas",)] == 1
    assert series("sidecheck_cache_hits_total")[("inline_schemas",)] == 1
    assert not nonzero(series("sidecheck_cache_evictions_total"))
    used, capacity = series("sidecheck_cache_bytes"), series("sidecheck_cache_capacity_bytes")
    assert 0 < used[("registered_schemas",)] < capacity[("registered_schemas",)] == 128 << 20
    assert series("sidecheck_prepared_target_misses_total")[()] >= 1
    # Two schemas of the test, those of the protocol, and the one that tests the worker at start.
    tasks, seconds = (
        series(f"sidecheck_worker_{name}_total")[("compile",)] for name in ("tasks", "task_seconds")
    )
    assert tasks == 3 + misses[("protocol_schemas",)]
    assert seconds > 0
    assert MARKER not in server.scrape()


def test_workers_that_end_are_counted(server: MeteredServer) -> None:
    """The label is the cause; other workers replace them."""
    count = server.series("sidecheck_workers")[()]
    alive = server.series_when("sidecheck_workers_alive", lambda series: series[()] == count)
    assert server.series("sidecheck_workers_resident_memory_bytes")[()] > 1 << 20
    kill(worker_processes(server.process.pid))
    server.series_when("sidecheck_workers_restarted_total", lambda series: series[()] == count)

    assert nonzero(server.series("sidecheck_workers_ended_total")) == {("crash",): count}
    assert server.series("sidecheck_workers_alive") == alive
    assert not nonzero(server.series("sidecheck_worker_start_failures_total"))


def test_bounds_of_shed_calls_are_settings(server: MeteredServer) -> None:
    """The table explains the other bounds."""
    bounds = {bound for (bound,) in server.series("sidecheck_shed_total")}

    assert bounds - {"deadline", "arriving"} <= set(TransportLimits.__dataclass_fields__)


def test_exchanges_of_gateways_are_counted(server: MeteredServer) -> None:
    """A call that fails has no verdict, and an error with its reason."""
    asyncio.run(_exchange(server.address))
    exchanges = server.series("sidecheck_gateway_exchanges_total")
    verdicts = [verdict.name.lower() for verdict in Verdict]

    assert exchanges.keys() == {("ext_mcp", verdict) for verdict in (*verdicts, FAILED)}
    assert nonzero(exchanges) == {
        # The request of the list and its result.
        ("ext_mcp", "valid"): 2,
        ("ext_mcp", "rejected"): 1,
        ("ext_mcp", "failed"): 1,
    }
    assert nonzero(server.series("sidecheck_errors_total")) == {
        ("CheckRequest", "INVALID_REQUEST"): 1
    }
    assert MARKER not in server.scrape()


async def _exchange(address: str) -> None:
    """List tools and call one, right and wrong, and make a call that names no server."""

    def respond(method: str, _params: Any) -> Any:
        return {"tools": [TOOL]} if method == "tools/list" else {"content": []}

    enforced = dict.fromkeys(("arguments", "results", "messages", "tools"), "enforce")
    async with grpc.aio.insecure_channel(address) as channel:
        gateway = Agentgateway(channel, {MARKER: respond}, enforced)
        await gateway.request("tools/list", None, "2025-11-25")
        params = {"name": MARKER, "arguments": {MARKER: MARKER}}
        assert "error" in await gateway.request("tools/call", params, "2025-11-25")
        unary: Any = channel.unary_unary("/agentgateway.dev.ext_mcp.ExtMcp/CheckRequest")
        with pytest.raises(grpc.aio.AioRpcError):
            await unary(b"\xff")


def test_a_failed_call_has_a_reason(server: MeteredServer) -> None:
    """No other error is counted."""
    with BlockingClient(server.address, timeout=300) as client, pytest.raises(SidecheckError):
        client.validate(RegisteredTool(MARKER, MARKER), {})

    assert nonzero(server.series("sidecheck_errors_total")) == {("Validate", "UNKNOWN_TOOL"): 1}
