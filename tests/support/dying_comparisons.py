"""Comparisons that end the process they run in, or would never end, by the name of the tool."""

import os
import signal

from sidecheck_server.core.compat.changes import ToolComparison
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition
from sidecheck_server.workers.tasks import compare_task

__all__ = ["dying_compare_task"]


def dying_compare_task(
    old: ToolDefinition, new: ToolDefinition, undecided: str, limits: Limits
) -> ToolComparison | RequestError:
    """Compare two definitions, unless the proof is to end as the name of the tool says."""
    if not undecided:
        if new.name == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif new.name == "hangs":
            sum(range(10**15))
        elif new.name == "fills memory":
            bytes(limits.worker_bytes)
    return compare_task(old, new, undecided, limits)
