"""Prompts."""

from sidecheck_server.core.mcp.rules.rule import Group, RuleSet, type_clause
from sidecheck_server.core.types import Severity

__all__ = ["PROMPT_ARGUMENT_MISSING"]

_PROMPT_RULES = RuleSet(Group.PROMPTS)

PROMPT_ARGUMENT_MISSING = _PROMPT_RULES.declare(
    "PROMPT_ARGUMENT_MISSING",
    # "Whether this argument must be provided" (PromptArgument).
    Severity.WARNING,
    type_clause("PromptArgument"),
    "A prompt SHOULD be requested with the arguments that its listing requires.",
    needs_whole_session=True,
)
