"""Rules on capabilities and extensions, and on the use of undeclared features.

A side that responds to a request with data has the feature and must have declared its
capability. An empty list or an error does not prove that it has the feature.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.metadata_keys import CLIENT_CAPABILITIES_KEY, read_metadata
from sidecheck_server.core.mcp.rules.metadata import is_key, prefix_of
from sidecheck_server.core.mcp.rules.rule import Check, Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "EXTENSION_UNDECLARED",
    "LOGGING_UNDECLARED",
    "TASK_TO_CLIENT",
    "TASK_TO_SERVER",
    "UNDECLARED",
    "UNDECLARED_BY_CLIENT",
    "UNDECLARED_EARLY",
    "declares_extension",
    "find_client_capabilities",
    "is_declared",
    "lacks_extension",
    "read_client_capabilities",
]

_TASKS = "2025-11-25"
_OPERATION = Clause("basic/lifecycle", "operation")
_NEGOTIATION = Clause("basic/utilities/tasks", "capability-negotiation")
_EXTENSIONS = Clause("basic/versioning", "extension-negotiation")


def is_declared(capabilities: Mapping[str, Any], path: str) -> bool:
    """Return whether *capabilities* declare the capability with the dotted *path*."""
    value: Any = capabilities
    for name in path.split("."):
        if not isinstance(value, dict):
            return False
        value = value.get(name)
    return value is True or isinstance(value, dict)


def read_client_capabilities(params: Any) -> dict[str, Any] | None:
    """Return the client capabilities in the `_meta` of *params*, or None."""
    declared = read_metadata(params).get(CLIENT_CAPABILITIES_KEY)
    return declared if isinstance(declared, dict) else None


def find_client_capabilities(context: Context) -> dict[str, Any] | None:
    """Return the client capabilities in the request of a result, else in the context."""
    declared = read_client_capabilities(context.request)
    return context.client_capabilities if declared is None else declared


def declares_extension(capabilities: Mapping[str, Any], extension: str) -> bool:
    """Return whether *capabilities* declare the extension with that identifier."""
    extensions = capabilities.get("extensions")
    settings = extensions.get(extension) if isinstance(extensions, dict) else None
    return settings is True or isinstance(settings, dict)


def lacks_extension(context: Context, extension: str) -> bool:
    """Return whether both sides certainly do not declare the extension."""
    return all(
        capabilities is not None and not declares_extension(capabilities, extension)
        for capabilities in (context.client_capabilities, context.server_capabilities)
    )


_CAPABILITY_RULES = RuleSet(Group.CAPABILITIES)

UNDECLARED_EARLY = _CAPABILITY_RULES.declare(
    "CAPABILITY_UNDECLARED_EARLY",
    Severity.WARNING,
    _OPERATION,
    "A peer SHOULD NOT use capabilities that were not negotiated. (Since 2025-06-18: MUST NOT.)",
    until="2025-03-26",
)
UNDECLARED = _CAPABILITY_RULES.declare(
    "CAPABILITY_UNDECLARED",
    Severity.ERROR,
    Clause(
        "schema",
        "methodnotfounderror",
        before=((_TASKS, "basic/lifecycle", "operation"),),
    ),
    "A peer MUST NOT use capabilities that were not declared. (Since 2026-07-28 this"
    " applies only to messages of the server.)",
    since="2025-06-18",
)
UNDECLARED_BY_CLIENT = _CAPABILITY_RULES.declare(
    "CAPABILITY_UNDECLARED_BY_CLIENT",
    Severity.WARNING,
    Clause("schema", "methodnotfounderror"),
    "A client SHOULD NOT send requests that need a capability that the server did not declare: the"
    " server does not know their methods.",
    since="2026-07-28",
)
TASK_TO_SERVER = _CAPABILITY_RULES.declare(
    "TASK_CAPABILITY_UNDECLARED",
    Severity.ERROR,
    Clause("basic/utilities/tasks", "tool-level-negotiation"),
    "A tool MUST NOT be called as a task unless the server declared `tasks.requests.tools.call`.",
    since=_TASKS,
    until=_TASKS,
)
TASK_TO_CLIENT = _CAPABILITY_RULES.declare(
    "TASK_CAPABILITY_UNDECLARED_BY_CLIENT",
    Severity.WARNING,
    _NEGOTIATION,
    "Sampling and elicitation SHOULD be requested as tasks only if the client declared it.",
    since=_TASKS,
    until=_TASKS,
)
EXTENSION_UNDECLARED = _CAPABILITY_RULES.declare(
    "EXTENSION_UNDECLARED",
    Severity.ERROR,
    _EXTENSIONS,
    "A method of an extension MUST NOT be used unless the extension is declared.",
    since="2026-07-28",
)


@_CAPABILITY_RULES.rule(
    "EXTENSION_ID",
    Severity.ERROR,
    _EXTENSIONS,
    "The identifier of an extension MUST be a key as in `_meta`, with a prefix.",
    on=("ClientCapabilities", "ServerCapabilities"),
    since="2026-07-28",
)
def _extension_id(value: Any, context: Context) -> Iterator[Fault]:
    extensions = value.get("extensions") if isinstance(value, dict) else None
    if isinstance(extensions, dict):
        for name in extensions:
            spend(context.budget, 30 + len(name))
            if not (prefix_of(name) and is_key(name)):
                label = Values(hidden=context.hide_values).property_named(name, "extension")
                yield Fault(
                    ("extensions", name),
                    f"expected a prefix and a name, such as com.example/name: {label}",
                )


_FIRST = "2024-11-05"

_FEATURE_RULES = RuleSet(Group.UNDECLARED_FEATURES)


def _check_declared(
    side: Sender, capability: str, shows_feature: Callable[[dict[str, Any]], bool]
) -> Check:
    """Return the check that a result comes from a side that declared *capability*.

    *shows_feature* returns whether a result proves that its sender has the feature.
    """

    def check(result: Any, context: Context) -> Iterator[Fault]:
        is_client = side is Sender.CLIENT
        declared = find_client_capabilities(context) if is_client else context.server_capabilities
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
        # A client without the feature may decline, but not accept.
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

LOGGING_UNDECLARED = _FEATURE_RULES.declare(
    "LOGGING_UNDECLARED",
    # The servers of common SDKs log without it, and a client that does not show log messages
    # ignores them.
    Severity.WARNING,
    Clause("server/utilities/logging", "capabilities"),
    "A server that sends log messages MUST declare the capability logging; clients accept them"
    " without it.",
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
