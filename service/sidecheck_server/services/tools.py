"""Checks of tool definitions and tool names: a verdict for each."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Exhausted, Limits, limit_exceeded_error
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.deferred import error_outcome
from sidecheck_server.core.mcp.subjects import (
    CheckRequest,
    ProtocolMessage,
    ReportLimits,
    ToolJson,
    ToolList,
)
from sidecheck_server.core.mcp.tool_definitions import error_as_violations
from sidecheck_server.core.mcp.tool_names import CheckedName, CheckedNames, check_names_in_steps
from sidecheck_server.core.mcp.tool_outcomes import (
    CheckedTool,
    ToolsList,
    read_tools_list,
    tool_outcomes,
)
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.services.offload import (
    OffloadRule,
    TimeSlice,
    Work,
    concurrent_groups,
    gather_in_turns,
)
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.request_work import BatchBudget, current_work
from sidecheck_server.services.targets import InlineTool

__all__ = ["CheckedTools", "ToolsChecker", "ToolsToCheck", "check_tool_names"]

_DUPLICATE = "another tool of the list has this name too; clients cannot tell them apart"

_STEPS_PER_NAME = 3_000
"""Maximum steps for a name, without those for its length."""


@dataclass(frozen=True, slots=True)
class ToolsToCheck:
    """Tool definitions to check: as one text that lists them, or as separate texts."""

    #: A text with definitions (`core.mcp.tool_lists`) that a server lists, or b"".
    tools_list: bytes = b""
    #: Documents that the schemas of *tools_list* refer to.
    documents: tuple[Document, ...] = ()
    # Decision 0044: reading is lenient for `tools`, and strict for `tools_list`.
    #: Definitions as their authors hand them over (`ToolJson.canonical`).
    tools: tuple[InlineTool, ...] = ()
    context: Context = field(default_factory=Context)
    #: Limits of the report on each definition.
    limits: ReportLimits = field(default_factory=ReportLimits)


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """The outcomes of tool definitions."""

    #: In the order of the definitions.
    outcomes: tuple[CheckedTool, ...]
    #: The verdict on the text around the definitions.
    tools_list_verdict: Verdict


class ToolsChecker:
    """Checks tool definitions."""

    def __init__(self, checker: ProtocolChecker, limits: Limits) -> None:
        self._checker = checker
        self._limits = limits
        self._offload = OffloadRule(limits)

    async def check(self, request: ToolsToCheck) -> CheckedTools:
        """Return the outcome of each definition, and the verdict on the list around them.

        A definition that exceeds a limit, or whose worker crashed, has a violation with that
        reason; the other definitions are not affected.

        Raises:
            RequestError: INVALID_REQUEST if there is a list as well as tools, or neither;
                LIMIT_EXCEEDED for more than ``batch_items`` definitions, or a list that
                nests too deeply to be split.
        """
        if bool(request.tools_list) == bool(request.tools):
            expected = (
                "only one of tools_list and tools" if request.tools else "tools_list or tools"
            )
            raise RequestError(
                ErrorReason.INVALID_REQUEST, f"{expected} must be set", {"field": "tools_list"}
            )
        if not request.tools_list:
            return CheckedTools(await self._check(request, request.tools, None), Verdict())
        try:
            listing = await self._read(request.tools_list)
        except RequestError as error:
            if error.reason is not ErrorReason.INVALID_TOOL:
                raise
            subject = ToolList(request.tools_list)
            checked = error_outcome(CheckRequest(subject, request.context, request.limits), error)
            return CheckedTools((), checked.findings.verdict())
        tools = [InlineTool(tool.json, request.documents) for tool in listing.tools]
        verdict = await self._check_list(request, listing.container)
        pointers = [tool.pointer for tool in listing.tools]
        return CheckedTools(await self._check(request, tools, pointers), verdict)

    async def _read(self, text: bytes) -> ToolsList:
        return await self._offload.run(
            Work.DECODE, text, lambda: read_tools_list(text, self._limits)
        )

    async def _check_list(
        self, request: ToolsToCheck, subject: ToolList | ProtocolMessage | None
    ) -> Verdict:
        if subject is None:
            return Verdict()
        checked = await self._check_one(CheckRequest(subject, request.context, request.limits))
        return checked.findings.verdict()

    async def _check(
        self,
        request: ToolsToCheck,
        tools: Sequence[InlineTool],
        pointers: Iterable[str] | None,
    ) -> tuple[CheckedTool, ...]:
        count, limit = len(tools), self._limits.batch_items
        if count > limit:
            raise limit_exceeded_error("batch_items", limit, "the tools", count)
        checked: list[CheckReport] = []
        work = current_work()
        for part in concurrent_groups(tool.size for tool in tools):
            group = tools[part]
            requests = (_check_request(request, tool) for tool in group)
            if work.is_spent:
                error = work.not_reached()
                checked += [error_outcome(request, error) for request in requests]
                await asyncio.sleep(0)
            else:
                checked += await gather_in_turns(map(self._check_one, requests))
        budget, time_slice = BatchBudget(self._limits), TimeSlice()
        truncated = []
        for tool in tool_outcomes(checked, pointers or [""] * count, _DUPLICATE):
            truncated.append(replace(tool, verdict=budget.truncate(tool.verdict)))
            await time_slice.yield_if_over()
        return tuple(truncated)

    async def _check_one(self, request: CheckRequest) -> CheckReport:
        try:
            return await self._checker.check(request)
        except RequestError as error:
            return error_outcome(request, error)


def _check_request(request: ToolsToCheck, tool: InlineTool) -> CheckRequest:
    context = replace(request.context, documents=tool.documents)
    subject = ToolJson(tool.json, canonical=not request.tools_list)
    return CheckRequest(subject, context, request.limits)


async def check_tool_names(
    names: Sequence[str], context: Context, report: ReportLimits, limits: Limits
) -> CheckedNames:
    """Return the verdict on each of *names*, and which of them collide.

    Names for which the request has no steps left are invalid, and are compared with no others.

    Raises:
        RequestError: LIMIT_EXCEEDED.
    """
    count = len(names)
    charged = _charge_names(names)
    unreached, names = names[charged:], names[:charged]
    steps = limits.steps + _STEPS_PER_NAME * count
    time_slice = TimeSlice()
    checked = None
    try:
        # The generator yields None after each name, and the result last.
        for result in check_names_in_steps(names, replace(context, budget=[steps]), report):
            checked = result
            await time_slice.yield_if_over()
    except Exhausted:
        raise limit_exceeded_error("steps", steps, "checking the names takes too long") from None
    assert checked is not None
    budget = BatchBudget(limits)
    truncated = []
    for name in checked.names:
        budget.charge_text(sum(map(len, name.sdk_warnings)), "the SDK's warnings about the names")
        # Repeated names share one object.
        truncated.append(replace(name, verdict=budget.truncate(name.verdict)))
        await time_slice.yield_if_over()
    if unreached:
        violations = error_as_violations(current_work().not_reached(), "")
        not_reached = CheckedName(
            Verdict(violations), sdk_valid=False, sdk_warnings=(), sanitized=""
        )
        truncated += [not_reached] * len(unreached)
    return replace(checked, names=tuple(truncated))


def _charge_names(names: Sequence[str]) -> int:
    """Charge *names* while the request has steps, and return the number charged."""
    work = current_work()
    for count, name in enumerate(names):
        if work.is_spent:
            return count
        work.charge(_STEPS_PER_NAME + len(name))
    return len(names)
