"""Whole calls and results of tools: judged by the protocol, and by the schemas of the tool."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.calls.members import with_member
from sidecheck_server.core.mcp.calls.params import ARGUMENTS, called_tool
from sidecheck_server.core.mcp.calls.results import STRUCTURED_CONTENT, absent_output
from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import CallParams, CheckRequest, ReportLimits, ToolResult
from sidecheck_server.core.types import Repair, Verdict, Violation
from sidecheck_server.services.protocol import Checker, TakeLong, allow
from sidecheck_server.services.targets import RegisteredTool, Side, Target
from sidecheck_server.services.validation import ResolvedTool, Validator

__all__ = ["CallValidation", "ToolCalls", "WholeVerdict"]


@dataclass(frozen=True, slots=True)
class CallValidation:
    """How a whole call or result is judged."""

    version: str
    how: EvaluationOptions
    assert_formats: bool = False
    #: Is called before a worker is given something to do, and may refuse.
    take_long: TakeLong = allow


@dataclass(frozen=True, slots=True)
class WholeVerdict:
    """The verdict on a whole call or result."""

    verdict: Verdict
    #: The name of the tool, or "" if the call names none.
    tool: str = ""
    #: The digest of its definition, or "".
    definition_digest: str = ""
    #: The digest of the schema that judged a part of it, or "".
    schema_digest: str = ""
    #: Whether the caller should act on the verdict.
    enforced: bool = True
    #: The verdict on the arguments or the structured content alone, whose pointers lead
    #: into them; None if they were not judged.
    part: Verdict | None = None
    #: Whether it breaks the protocol, whatever the schema of the tool says.
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a call or a result that a schema judges."""

    #: The JSON text of the whole.
    whole: bytes
    #: The name of the member.
    member: str
    side: Side


class ToolCalls:
    """Judges whole calls and results of tools."""

    def __init__(self, validator: Validator, checker: Checker, limits: Limits) -> None:
        self._validator = validator
        self._checker = checker
        self._limits = limits

    def absent(self, target: Target, version: str) -> WholeVerdict:
        """Return the verdict on a result without structured content.

        Raises:
            Refusal: no judgement can be made.
        """
        tool = self._validator.tool(target)
        verdict = absent_output(version) if tool.output_digest else Verdict()
        return _found(verdict, tool, "" if verdict.valid else tool.output_digest)

    async def params(self, params: bytes, target: Target, manner: CallValidation) -> WholeVerdict:
        """Return the verdict on *params* of ``tools/call``, and on the arguments in them.

        A registered tool without a name is the one that they call.

        Raises:
            Refusal: no judgement can be made.
        """
        named = self._named(params, target)
        tool = None if named is None else self._validator.tool(named)
        subject = CallParams(params, "" if tool is None else tool.tool)
        checked = await self._check(subject, manner)
        part = _Part(params, ARGUMENTS, Side.INPUT)
        return await self._whole(checked, part, named, tool, manner)

    async def result(self, result: bytes, target: Target, manner: CallValidation) -> WholeVerdict:
        """Return the verdict on a ``CallToolResult``, and on the structured content in it.

        Raises:
            Refusal: no judgement can be made.
        """
        tool = self._validator.tool(target)
        subject = ToolResult(result, has_output_schema=bool(tool.output_digest))
        checked = await self._check(subject, manner)
        part = _Part(result, STRUCTURED_CONTENT, Side.OUTPUT)
        return await self._whole(checked, part, target, tool, manner)

    def _named(self, params: bytes, target: Target) -> Target | None:
        """Return *target* with the name that *params* give, or None if they give none."""
        if not isinstance(target, RegisteredTool) or target.name:
            return target
        name = called_tool(params) if len(params) <= self._limits.payload_bytes else None
        return None if name is None else replace(target, name=name)

    async def _check(self, subject: CallParams | ToolResult, manner: CallValidation) -> Checked:
        how = manner.how
        context = Context(version=manner.version, hide_values=how.hide_values)
        asked = CheckRequest(
            subject, context, ReportLimits(most=how.max_violations, longest=how.max_length)
        )
        return await self._checker.check(asked, manner.take_long)

    async def _whole(
        self,
        checked: Checked,
        part: _Part,
        target: Target | None,
        tool: ResolvedTool | None,
        manner: CallValidation,
    ) -> WholeVerdict:
        """Return the verdict on what was *checked*, with that on the *part* under the tool."""
        findings, payload = checked.findings, checked.part
        malformed, before = findings.has_errors, findings.verdict()
        if payload is None or target is None or tool is None:
            return replace(_found(before, tool), malformed=malformed)
        standard = await self._validator.find(
            target, part.side, assert_formats=manner.assert_formats
        )
        judged = await self._validator.judge(standard, payload, manner.how, manner.take_long)
        findings.add_all(below(part.member, judged.violations), truncated=judged.truncated)
        verdict = findings.verdict()
        if judged.repair is not None:
            verdict = replace(verdict, repair=_repair_below(part, judged.repair, before))
        return WholeVerdict(
            verdict,
            standard.tool,
            standard.definition_digest,
            standard.schema_digest,
            standard.enforced,
            judged,
            malformed,
        )


def _found(verdict: Verdict, tool: ResolvedTool | None, schema_digest: str = "") -> WholeVerdict:
    if tool is None:
        return WholeVerdict(verdict)
    return WholeVerdict(verdict, tool.tool, tool.definition_digest, schema_digest, tool.enforced)


def below(member: str, violations: Iterable[Violation]) -> Iterable[Violation]:
    """Yield *violations* of a member as those of the object that has it."""
    for each in violations:
        yield replace(each, instance_location=f"/{member}{each.instance_location}")


def _repair_below(part: _Part, repair: Repair, before: Verdict) -> Repair:
    """Return the *repair* of *part* as that of the whole.

    *before* is the verdict on the rest, which stays.
    """
    member, verdict = part.member, repair.verdict
    return Repair(
        payload=with_member(part.whole, member, repair.payload),
        verdict=Verdict.listing(
            [*before.violations, *below(member, verdict.violations)],
            truncated=before.truncated or verdict.truncated,
        ),
        changes=tuple(
            replace(change, pointer=f"/{member}{change.pointer}") for change in repair.changes
        ),
    )
