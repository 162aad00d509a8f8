"""Capabilities and extensions."""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.metadata_keys import CLIENT_CAPABILITIES_KEY, read_metadata
from sidecheck_server.core.mcp.rules.metadata import is_key, prefix_of
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "EXTENSION_UNDECLARED",
    "TASK_TO_CLIENT",
    "TASK_TO_SERVER",
    "UNDECLARED",
    "UNDECLARED_BY_CLIENT",
    "UNDECLARED_EARLY",
    "declared_by_client",
    "declared_in",
    "declares_extension",
    "is_declared",
    "lacks_extension",
]

_TASKS = "2025-11-25"
_OPERATION = Clause("basic/lifecycle", "operation")
_NEGOTIATION = Clause("basic/utilities/tasks", "capability-negotiation")
_EXTENSIONS = Clause("basic/versioning", "extension-negotiation")


def is_declared(capabilities: Mapping[str, Any], path: str) -> bool:
    """Return whether *capabilities* declare the capability *path*, names joined by dots."""
    value: Any = capabilities
    for name in path.split("."):
        if not isinstance(value, dict):
            return False
        value = value.get(name)
    return value is True or isinstance(value, dict)


def declared_in(params: Any) -> dict[str, Any] | None:
    """Return the capabilities that a request with *params* declares in its `_meta`, or None."""
    declared = read_metadata(params).get(CLIENT_CAPABILITIES_KEY)
    return declared if isinstance(declared, dict) else None


def declared_by_client(context: Context) -> dict[str, Any] | None:
    """Return what the client declared in the request of a result, or else before."""
    declared = declared_in(context.request)
    return context.client_capabilities if declared is None else declared


def declares_extension(capabilities: Mapping[str, Any], extension: str) -> bool:
    """Return whether *capabilities* declare the extension with the identifier *extension*."""
    extensions = capabilities.get("extensions")
    settings = extensions.get(extension) if isinstance(extensions, dict) else None
    return settings is True or isinstance(settings, dict)


def lacks_extension(context: Context, extension: str) -> bool:
    """Return whether both sides are known not to declare the extension."""
    both = (context.client_capabilities, context.server_capabilities)
    return all(
        capabilities is not None and not declares_extension(capabilities, extension)
        for capabilities in both
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
    "A peer MUST NOT use capabilities that were not declared. (Since 2026-07-28 of messages of the"
    " server.)",
    since="2025-06-18",
)
UNDECLARED_BY_CLIENT = _CAPABILITY_RULES.declare(
    "CAPABILITY_UNDECLARED_BY_CLIENT",
    Severity.WARNING,
    Clause("schema", "methodnotfounderror"),
    "A client SHOULD NOT send requests that need what the server did not declare: the server does"
    " not know their methods.",
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
                shown = Values(hidden=context.hide_values).property_named(name, "extension")
                yield Fault(
                    ("extensions", name),
                    f"expected a prefix and a name, such as com.example/name: {shown}",
                )
