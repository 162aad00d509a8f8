"""Prompts."""

from sidecheck_server.core.mcp.rules.rule import Rule, type_clause
from sidecheck_server.core.types import Severity

__all__ = ["PROMPT_ARGUMENT_MISSING", "RULES"]

PROMPT_ARGUMENT_MISSING = Rule(
    "PROMPT_ARGUMENT_MISSING",
    # "Whether this argument must be provided" (PromptArgument).
    Severity.WARNING,
    type_clause("PromptArgument"),
    "A prompt SHOULD be requested with the arguments that its listing requires.",
    ("JSONRPCMessage",),
    needs_whole_session=True,
)

RULES: tuple[Rule, ...] = (PROMPT_ARGUMENT_MISSING,)
