"""Features in use that were not declared.

A side that answers a request has the feature, and must have declared its capability. An empty
list and an error do not show that it has the feature.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.rules.capabilities import declared_by_client, is_declared
from sidecheck_server.core.mcp.rules.rule import Check, Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = ["LOGGING"]

_FIRST = "2024-11-05"


_FEATURE_RULES = RuleSet(Group.UNDECLARED_FEATURES)


def _check_declared(
    side: Sender, capability: str, shows_feature: Callable[[dict[str, Any]], bool]
) -> Check:
    """Return the check that results come only from sides with *capability*.

    *shows_feature* tells whether a result proves that its sender has the feature.
    """

    def check(result: Any, context: Context) -> Iterator[Fault]:
        of_client = side is Sender.CLIENT
        declared = declared_by_client(context) if of_client else context.server_capabilities
        if declared is None or is_declared(declared, capability):
            return
        if isinstance(result, dict) and shows_feature(result):
            yield Fault((), f"the {side} did not declare the capability {capability}")

    return check


def _is_completed(result: dict[str, Any]) -> bool:
    completion = result.get("completion")
    return isinstance(completion, dict) and bool(completion.get("values"))


for _code, _side, _capability, _page, _results, _shows_feature, _since in (
    (
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
        _FIRST,
    ),
    (
        "PROMPTS_UNDECLARED",
        Sender.SERVER,
        "prompts",
        "server/prompts",
        ("ListPromptsResult", "GetPromptResult"),
        lambda result: bool(result.get("prompts") or result.get("messages")),
        _FIRST,
    ),
    (
        "RESOURCES_UNDECLARED",
        Sender.SERVER,
        "resources",
        "server/resources",
        ("ListResourcesResult", "ListResourceTemplatesResult", "ReadResourceResult"),
        lambda result: any(
            result.get(name) for name in ("resources", "resourceTemplates", "contents")
        ),
        _FIRST,
    ),
    (
        "COMPLETIONS_UNDECLARED",
        Sender.SERVER,
        "completions",
        "server/utilities/completion",
        ("CompleteResult",),
        _is_completed,
        "2025-03-26",
    ),
    (
        "ROOTS_UNDECLARED",
        Sender.CLIENT,
        "roots",
        "client/roots",
        ("ListRootsResult",),
        lambda result: bool(result.get("roots")),
        _FIRST,
    ),
    (
        "SAMPLING_UNDECLARED",
        Sender.CLIENT,
        "sampling",
        "client/sampling",
        ("CreateMessageResult",),
        lambda result: bool(result.get("content")),
        _FIRST,
    ),
    (
        "ELICITATION_UNDECLARED",
        Sender.CLIENT,
        "elicitation",
        "client/elicitation",
        ("ElicitResult",),
        # A client without a user interface may decline by itself.
        lambda result: result.get("action") == "accept",
        "2025-06-18",
    ),
):
    _FEATURE_RULES.declare(
        _code,
        Severity.ERROR,
        Clause(_page, "capabilities"),
        f"A {_side} that supports the feature MUST declare the capability {_capability}.",
        on=_results,
        since=_since,
        check=_check_declared(_side, _capability, _shows_feature),
    )

LOGGING = _FEATURE_RULES.declare(
    "LOGGING_UNDECLARED",
    Severity.ERROR,
    Clause("server/utilities/logging", "capabilities"),
    "A server that sends log messages MUST declare the capability logging. (Since 2025-06-18"
    " the use of any capability demands it.)",
    until="2025-03-26",
)


@_FEATURE_RULES.rule(
    "EMBEDDED_RESOURCES_UNDECLARED",
    Severity.WARNING,
    Clause("server/tools", "embedded-resources"),
    "A server whose tools return embedded resources SHOULD have the capability resources.",
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
