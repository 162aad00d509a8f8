"""Definitions of tools that are checked without being registered."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.checking import refused
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import Asked, How, ToolJson
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.state.protocol import Checker
from sidecheck_server.state.targets import InlineTool

__all__ = ["check_tools"]

_AT_ONCE = 64
"""How many definitions of a request are checked at the same time, as when they are registered."""


async def check_tools(
    checker: Checker, tools: Sequence[InlineTool], context: Context, how: How
) -> list[Checked]:
    """Return what is wrong with each of *tools*, in order.

    One that is beyond a limit costs the others nothing: that is what is wrong with it.

    Raises:
        Refusal: WORKER_LOST if a worker died.
    """

    async def check(tool: InlineTool) -> Checked:
        asked = Asked(ToolJson(tool.json), replace(context, documents=tool.documents), how)
        # Each holds the loop for a moment; other calls have their turn in between.
        await asyncio.sleep(0)
        try:
            return await checker.check(asked)
        except Refusal as refusal:
            if refusal.reason is Reason.WORKER_LOST:
                raise
            return refused(asked, refusal)

    checked: list[Checked] = []
    for start in range(0, len(tools), _AT_ONCE):
        checked += await asyncio.gather(*map(check, tools[start : start + _AT_ONCE]))
    return checked
