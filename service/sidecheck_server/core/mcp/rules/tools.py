"""One tool: what it says of itself."""

from collections.abc import Iterable, Iterator
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_DESCRIBE = Clause("https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools")
_DESCRIBED = Clause(
    "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html"
)
_HINTS = Clause("schema", "toolannotations", before=(("2025-03-26", "server/tools", "tool"),))
_ANNOTATED = "2025-03-26"


@rule(
    "TOOL_DESCRIPTION_MISSING",
    severity=Severity.INFO,
    clause=_DESCRIBE,
    sentence="A tool has a description: models choose tools by it.",
    on="Tool",
)
def _described(tool: Any, _context: Context) -> Iterable[Fault]:
    if isinstance(tool, dict) and "description" not in tool:
        return (Fault((), "the tool has no description, by which models choose tools"),)
    return ()


@rule(
    "TOOL_DESCRIPTION_EMPTY",
    severity=Severity.INFO,
    clause=_DESCRIBED,
    sentence="The description of a tool says something; some providers refuse an empty one.",
    on="Tool",
)
def _not_empty(tool: Any, _context: Context) -> Iterable[Fault]:
    described = tool.get("description") if isinstance(tool, dict) else None
    if not isinstance(described, str) or described.strip():
        return ()
    said = "the description is empty, though models choose tools by it; some providers refuse it"
    return (Fault(("description",), said),)


@rule(
    "TOOL_HINTS_CONTRADICT",
    severity=Severity.WARNING,
    clause=_HINTS,
    sentence="A tool is not said to be read-only and destructive.",
    on="ToolAnnotations",
    since=_ANNOTATED,
)
def _agreeing(hints: Any, _context: Context) -> Iterator[Fault]:
    if _is_read_only(hints) and hints.get("destructiveHint") is True:
        yield Fault(
            ("destructiveHint",),
            "destructiveHint says that the tool may destroy, readOnlyHint that it changes nothing",
        )


@rule(
    "TOOL_HINT_WITHOUT_MEANING",
    severity=Severity.INFO,
    clause=_HINTS,
    sentence=(
        "destructiveHint and idempotentHint are given only of tools that are not read-only: "
        "of others they mean nothing."
    ),
    on="ToolAnnotations",
    since=_ANNOTATED,
)
def _meaningful(hints: Any, _context: Context) -> Iterator[Fault]:
    if not _is_read_only(hints):
        return
    # A destructive one contradicts, which has a rule of its own.
    if hints.get("destructiveHint") is False:
        yield Fault(("destructiveHint",), _MEANINGLESS.format("destructiveHint"))
    if isinstance(hints.get("idempotentHint"), bool):
        yield Fault(("idempotentHint",), _MEANINGLESS.format("idempotentHint"))


_MEANINGLESS = "{} means something only if readOnlyHint is false; here it is true"


def _is_read_only(hints: Any) -> bool:
    return isinstance(hints, dict) and hints.get("readOnlyHint") is True


RULES: tuple[Rule, ...] = (_described, _not_empty, _agreeing, _meaningful)
