"""Results of tools, by the rules of the protocol and the output schema of the tool."""

from dataclasses import replace

from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.calls.results import STRUCTURED_CONTENT
from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolResult
from sidecheck_server.services.calls import below
from sidecheck_server.services.protocol import Checker, TakeLong, allow
from sidecheck_server.services.targets import Side, Target
from sidecheck_server.services.validation import Validator

__all__ = ["ResultChecker"]


class ResultChecker:
    """Checks results of tools."""

    def __init__(self, checker: Checker, validator: Validator) -> None:
        self._checker = checker
        self._validator = validator

    async def check(
        self,
        subject: ToolResult,
        target: Target | None,
        context: Context,
        how: ReportLimits,
        take_long: TakeLong = allow,
    ) -> Checked:
        """Return what is wrong with *subject*; no question is left.

        If *target* names the tool, its output schema judges the structured content.
        *take_long* is called before a worker is given something to do, and may refuse.

        Raises:
            Refusal: the target names a bare schema, or is unknown or broken; or the
                check exceeds a limit, or its worker died.
        """
        if target is not None:
            await self._validator.read_ahead(target)
            tool = self._validator.tool(target)
            subject = replace(subject, has_output_schema=bool(tool.output_digest))
        checked = await self._checker.check(CheckRequest(subject, context, how), take_long)
        if checked.part is not None and target is not None:
            standard = await self._validator.find(target, Side.OUTPUT, assert_formats=False)
            judging = EvaluationOptions(
                max_violations=how.most,
                max_length=how.longest,
                hide_values=context.hide_values,
            )
            verdict = await self._validator.judge(standard, checked.part, judging, take_long)
            found = below(STRUCTURED_CONTENT, verdict.violations)
            checked.findings.add_all(found, truncated=verdict.truncated)
        return checked
