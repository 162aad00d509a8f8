"""Features in use that were not declared.

A side that answers a request has the feature, and must have declared its capability. An empty
list and an error do not show that it has the feature.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.rules.capabilities import declared_by_client, is_declared
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["LOGGING", "RULES"]

_FIRST = "2024-11-05"


def _undeclared(
    code: str,
    side: Sender,
    capability: str,
    page: str,
    subjects: tuple[str, ...],
    shows_feature: Callable[[dict[str, Any]], bool],
    *,
    since: str = _FIRST,
) -> Rule:
    """Return the rule that results of *subjects* come only from sides with *capability*.

    *shows_feature* tells whether a result proves that its sender has the feature.
    """

    def check(result: Any, context: Context) -> Iterator[Fault]:
        of_client = side is Sender.CLIENT
        declared = declared_by_client(context) if of_client else context.server_capabilities
        if declared is None or is_declared(declared, capability):
            return
        if isinstance(result, dict) and shows_feature(result):
            yield Fault((), f"the {side} did not declare the capability {capability}")

    return rule(
        code,
        severity=Severity.ERROR,
        clause=Clause(page, "capabilities"),
        requirement=f"A {side} that supports the feature MUST declare the capability {capability}.",
        on=subjects,
        since=since,
    )(check)


def _is_completed(result: dict[str, Any]) -> bool:
    completion = result.get("completion")
    return isinstance(completion, dict) and bool(completion.get("values"))


_FEATURES = (
    _undeclared(
        "TOOLS_UNDECLARED",
        Sender.SERVER,
        "tools",
        "server/tools",
        ("ListToolsResult", "CallToolResult"),
        # A server without tools may report a call as failed.
        lambda result: (
            bool(result.get("tools"))
            or (bool(result.get("content")) and result.get("isError") is not True)
        ),
    ),
    _undeclared(
        "PROMPTS_UNDECLARED",
        Sender.SERVER,
        "prompts",
        "server/prompts",
        ("ListPromptsResult", "GetPromptResult"),
        lambda result: bool(result.get("prompts") or result.get("messages")),
    ),
    _undeclared(
        "RESOURCES_UNDECLARED",
        Sender.SERVER,
        "resources",
        "server/resources",
        ("ListResourcesResult", "ListResourceTemplatesResult", "ReadResourceResult"),
        lambda result: any(
            result.get(name) for name in ("resources", "resourceTemplates", "contents")
        ),
    ),
    _undeclared(
        "COMPLETIONS_UNDECLARED",
        Sender.SERVER,
        "completions",
        "server/utilities/completion",
        ("CompleteResult",),
        _is_completed,
        since="2025-03-26",
    ),
    _undeclared(
        "ROOTS_UNDECLARED",
        Sender.CLIENT,
        "roots",
        "client/roots",
        ("ListRootsResult",),
        lambda result: bool(result.get("roots")),
    ),
    _undeclared(
        "SAMPLING_UNDECLARED",
        Sender.CLIENT,
        "sampling",
        "client/sampling",
        ("CreateMessageResult",),
        lambda result: bool(result.get("content")),
    ),
    _undeclared(
        "ELICITATION_UNDECLARED",
        Sender.CLIENT,
        "elicitation",
        "client/elicitation",
        ("ElicitResult",),
        # A client without a user interface may decline by itself.
        lambda result: result.get("action") == "accept",
        since="2025-06-18",
    ),
)

LOGGING = Rule(
    "LOGGING_UNDECLARED",
    Severity.ERROR,
    Clause("server/utilities/logging", "capabilities"),
    "A server that sends log messages MUST declare the capability logging. (Since 2025-06-18"
    " the use of any capability demands it.)",
    ("JSONRPCMessage",),
    until="2025-03-26",
)


@rule(
    "EMBEDDED_RESOURCES_UNDECLARED",
    severity=Severity.WARNING,
    clause=Clause("server/tools", "embedded-resources"),
    requirement="A server whose tools return embedded resources SHOULD have the capability"
    " resources.",
    on="CallToolResult",
    since="2025-06-18",
)
def _embedded_resources(result: Any, context: Context) -> Iterator[Fault]:
    declared = context.server_capabilities
    if declared is None or is_declared(declared, "resources"):
        return
    blocks = result.get("content") if isinstance(result, dict) else None
    if isinstance(blocks, list):
        spend(context.budget, 4 * len(blocks))
        for index, block in enumerate(blocks):
            if isinstance(block, dict) and block.get("type") == "resource":
                message = "the server did not declare the capability resources"
                yield Fault(("content", index), message)
                return


RULES: tuple[Rule, ...] = (
    *_FEATURES,
    LOGGING,
    _embedded_resources,
)
