"""Portable forms in a service: the steps that they are charged, and what a worker converts."""

from dataclasses import replace
from typing import Any

from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.portability.proof import Outcome
from sidecheck_server.services.comparison import ToolComparer
from sidecheck_server.services.conversion import ConversionCache
from sidecheck_server.services.portability import PortabilityProver, PortableAdapter, PortableTool
from sidecheck_server.services.request_work import current_work, open_request
from sidecheck_server.services.resolution import ResolvedTool, ToolAdapter
from support.converting import inline

VERSION = "2025-11-25"
TOOL: Any = {
    "name": "send",
    "inputSchema": {
        "type": "object",
        "properties": {"key": {"type": "string", "pattern": "^(?!/)"}, "to": {"type": "object"}},
    },
}


async def adapt(limits: Limits, *targets: str, prove: bool = False) -> PortableTool:
    """Return the portable form of `TOOL`, without a worker process."""
    worker, adapter = InProcessWorker(limits), ToolAdapter(limits)
    try:
        prover = PortabilityProver(adapter, ToolComparer(worker.run, limits), limits)
        portable = PortableAdapter(ConversionCache(worker.run, limits), adapter, prover, limits)
        tool = ResolvedTool("", TOOL["name"], inline(TOOL), "", "")
        return await portable.adapt(tool, VERSION, targets, prove=prove)
    finally:
        worker.close()


async def test_a_request_without_steps_has_no_proof() -> None:
    """The form is there, and the reason names the limit."""
    limits = Limits(request_steps=1)
    open_request(limits)
    portable = await adapt(limits, prove=True)

    assert portable.proof is not None
    assert Outcome.UNDECIDED is portable.proof.outcome
    assert "request_steps" in portable.proof.message
    assert current_work().spent > len(portable.tool.json)


async def test_a_worker_converts_for_the_same_targets() -> None:
    """As the event loop does."""
    limits = Limits()
    for targets in ((), ("anthropic",), ("openai-strict",)):
        inside = await adapt(limits, *targets)
        assert inside == await adapt(replace(limits, inline_bytes=0), *targets)
