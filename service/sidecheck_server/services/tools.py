"""Checks of several tool definitions, each by itself."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import (
    CheckRequest,
    ProtocolMessage,
    ReportLimits,
    ToolJson,
    ToolList,
)
from sidecheck_server.core.mcp.tools.listing import Listing, read_listing
from sidecheck_server.core.mcp.tools.outcomes import CheckedTool, outcomes, refused
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.services.protocol import AT_ONCE, Checker
from sidecheck_server.services.targets import InlineTool

__all__ = ["CheckedTools", "ToolsChecker", "ToolsToCheck"]

_DUPLICATE = "another tool of the list has this name too; a client cannot tell which is meant"


@dataclass(frozen=True, slots=True)
class ToolsToCheck:
    """Definitions, and how to check them."""

    #: A text with definitions (`core.mcp.tools.listing`), or b"".
    listing: bytes = b""
    #: Documents that the schemas of *listing* refer to.
    documents: tuple[Document, ...] = ()
    #: Definitions by themselves.
    tools: tuple[InlineTool, ...] = ()
    context: Context = field(default_factory=Context)
    #: How much is told of each.
    how: ReportLimits = field(default_factory=ReportLimits)


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """What became of them."""

    #: One for each definition, in order.
    outcomes: tuple[CheckedTool, ...]
    #: What is wrong with the text that lists them, outside of the definitions.
    listing: Verdict


class ToolsChecker:
    """Checks tool definitions."""

    def __init__(self, checker: Checker, limits: Limits) -> None:
        self._checker = checker
        self._limits = limits

    async def check(self, asked: ToolsToCheck) -> CheckedTools:
        """Return what is wrong with each tool, and with the listing around them.

        What cannot be checked for a limit, or because a worker died, has a violation that
        says so, and costs the others nothing.

        Raises:
            Refusal: INVALID_REQUEST if there is a listing as well as tools, or neither;
                LIMIT_EXCEEDED for more than ``batch_items`` of them, or for a listing that
                nests too deep to be taken apart.
        """
        if bool(asked.listing) == bool(asked.tools):
            both = "only one of them" if asked.tools else "a listing or tools"
            raise RequestError(
                ErrorReason.INVALID_REQUEST, f"{both} must be given", {"field": "listing"}
            )
        if not asked.listing:
            return CheckedTools(await self._check(asked, asked.tools, None), Verdict())
        try:
            listing = await self._read(asked.listing)
        except RequestError as refusal:
            if refusal.reason is not ErrorReason.INVALID_TOOL:
                raise
            outside = refused(
                CheckRequest(ToolList(asked.listing), asked.context, asked.how), refusal
            )
            return CheckedTools((), outside.findings.verdict())
        tools = [InlineTool(tool.json, asked.documents) for tool in listing.tools]
        around = await self._around(asked, listing.answer)
        pointers = [tool.pointer for tool in listing.tools]
        return CheckedTools(await self._check(asked, tools, pointers), around)

    async def _read(self, text: bytes) -> Listing:
        if len(text) <= self._limits.inline_bytes:
            return read_listing(text, self._limits)
        # Megabytes take longer than a moment; other calls have their turn in between.
        return await asyncio.to_thread(read_listing, text, self._limits)

    async def _around(
        self, asked: ToolsToCheck, answer: ToolList | ProtocolMessage | None
    ) -> Verdict:
        if answer is None:
            return Verdict()
        checked = await self._one(CheckRequest(answer, asked.context, asked.how))
        return checked.findings.verdict()

    async def _check(
        self, asked: ToolsToCheck, tools: Sequence[InlineTool], pointers: Iterable[str] | None
    ) -> tuple[CheckedTool, ...]:
        count, most = len(tools), self._limits.batch_items
        if count > most:
            raise exceeded("batch_items", most, "the tools", count)
        checked: list[Checked] = []
        for start in range(0, count, AT_ONCE):
            several = tools[start : start + AT_ONCE]
            checked += await asyncio.gather(*(self._one(_asked(asked, tool)) for tool in several))
        return outcomes(checked, pointers or [""] * count, _DUPLICATE)

    async def _one(self, asked: CheckRequest) -> Checked:
        # Checking holds the loop; other calls have their turn in between.
        await asyncio.sleep(0)
        try:
            return await self._checker.check(asked)
        except RequestError as refusal:
            return refused(asked, refusal)


def _asked(asked: ToolsToCheck, tool: InlineTool) -> CheckRequest:
    context = replace(asked.context, documents=tool.documents)
    return CheckRequest(ToolJson(tool.json), context, asked.how)
