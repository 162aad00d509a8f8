"""Sampling requests."""

from collections.abc import Iterable, Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import declared_by_client
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

_TOOLS = "2025-11-25"
_REQUEST = "CreateMessageRequestParams"
_CAPABILITIES = Clause("client/sampling", "capabilities")
_IN_SAMPLING = Clause("client/sampling", "tools-in-sampling")
_CHOICE = Clause("client/sampling", "tool-choice-modes")

_WITH_CONTEXT = ("thisServer", "allServers")


def _declared(context: Context) -> Any:
    """Return the declared sampling capability of the client, or None."""
    declared = declared_by_client(context)
    sampling = None if declared is None else declared.get("sampling")
    return sampling if isinstance(sampling, dict) else None


def _includes_context(value: Any) -> bool:
    return isinstance(value, dict) and value.get("includeContext") in _WITH_CONTEXT


_REQUEST_RULES = RuleSet(Group.SAMPLING_REQUESTS, on="CreateMessageRequestParams")


@_REQUEST_RULES.rule(
    "SAMPLING_TOOLS_NOT_DECLARED",
    Severity.ERROR,
    _IN_SAMPLING,
    "A server MUST NOT send tools or a tool choice to a client that did not declare "
    "sampling.tools; clients of 2025-11-25 respond with -32602 (Invalid params).",
    since=_TOOLS,
)
def _tools_not_declared(value: Any, context: Context) -> Iterable[Fault]:
    if declared_by_client(context) is None or not isinstance(value, dict):
        return ()
    name = next((name for name in ("tools", "toolChoice") if value.get(name) is not None), "")
    if name and (_declared(context) or {}).get("tools") is None:
        # The SDK's text, word for word.
        return (Fault((name,), "Client does not support sampling tools capability"),)
    return ()


@_REQUEST_RULES.rule(
    "SAMPLING_CONTEXT_NOT_DECLARED",
    Severity.WARNING,
    _CAPABILITIES,
    "A server SHOULD request context only from a client that declared sampling.context.",
    since=_TOOLS,
)
def _context_not_declared(value: Any, context: Context) -> Iterator[Fault]:
    if _includes_context(value) and _lacks_context(context):
        yield Fault(
            ("includeContext",),
            f'"includeContext" should be "none", found "{value["includeContext"]}": the client '
            "did not declare the capability sampling.context",
            "none",
        )


def _lacks_context(context: Context) -> bool:
    # If it declared no sampling at all, that is reported instead.
    declared = _declared(context)
    return declared is not None and declared.get("context") is None


@_REQUEST_RULES.rule(
    "SAMPLING_CONTEXT_DEPRECATED",
    Severity.WARNING,
    _CAPABILITIES,
    '"includeContext" SHOULD be omitted or "none"; the other values are deprecated.',
    since=_TOOLS,
)
def _context_deprecated(value: Any, context: Context) -> Iterator[Fault]:
    # If the client did not declare the context, that is reported instead.
    if _includes_context(value) and not _lacks_context(context):
        yield Fault(
            ("includeContext",),
            f'"includeContext" should be omitted: "{value["includeContext"]}" is deprecated',
            "none",
        )


@_REQUEST_RULES.rule(
    "SAMPLING_DEPRECATED",
    Severity.WARNING,
    Clause("deprecated"),
    "Sampling is deprecated: new implementations SHOULD NOT adopt it, and servers "
    "SHOULD "
    "call a model provider directly.",
    since="2026-07-28",
)
def _deprecated(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "sampling is deprecated since 2026-07-28 (SEP-2577)")


@_REQUEST_RULES.rule(
    "SAMPLING_TOOL_CHOICE_WITHOUT_TOOLS",
    Severity.WARNING,
    _IN_SAMPLING,
    '"toolChoice" SHOULD come with tools to choose from.',
    since=_TOOLS,
)
def _choice_without_tools(value: Any, _context: Context) -> Iterator[Fault]:
    if _lacks_tools(value) and value["toolChoice"].get("mode") != "required":
        yield Fault(("toolChoice",), '"toolChoice" should come with "tools", found none')


@_REQUEST_RULES.rule(
    "SAMPLING_TOOL_REQUIRED_WITHOUT_TOOLS",
    Severity.WARNING,
    _CHOICE,
    "A tool use SHOULD NOT be required without tools: the model could use none.",
    since=_TOOLS,
)
def _required_without_tools(value: Any, _context: Context) -> Iterator[Fault]:
    if _lacks_tools(value) and value["toolChoice"].get("mode") == "required":
        yield Fault(
            ("toolChoice", "mode"),
            'the mode "required" should come with tools, found none',
        )


def _lacks_tools(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("toolChoice"), dict)
        and value.get("tools", []) == []
    )


@_REQUEST_RULES.rule(
    "SAMPLING_TOOL_NAME_REPEATED",
    Severity.WARNING,
    Clause("server/tools", "tool-names"),
    "The tools of a request SHOULD have unique names: a call selects its tool by name.",
    since=_TOOLS,
)
def _tool_name_repeated(value: Any, context: Context) -> Iterator[Fault]:
    tools = value.get("tools") if isinstance(value, dict) else None
    if not isinstance(tools, list):
        return
    spend(context.budget, 20 * len(tools))
    first: dict[str, int] = {}
    for index, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            continue
        earlier = first.setdefault(name, index)
        if earlier != index:
            spend(context.budget, 120)
            found = Values(hidden=context.hide_values).describe(name)
            yield Fault(
                ("tools", index, "name"),
                f"names of tools should be unique, found {found} at the indexes {earlier} and "
                f"{index}",
            )


@_REQUEST_RULES.rule(
    "SAMPLING_MAX_TOKENS",
    Severity.WARNING,
    Clause("client/sampling", "creating-messages"),
    '"maxTokens" SHOULD be positive: a message needs tokens. The specification sets no minimum.',
)
def _max_tokens(value: Any, context: Context) -> Iterator[Fault]:
    limit = value.get("maxTokens") if isinstance(value, dict) else None
    # The schema of the type rejects other values.
    whole = isinstance(limit, float) and limit.is_integer()
    if (isinstance(limit, int) and not isinstance(limit, bool)) or whole:
        assert isinstance(limit, int | float)
        if limit <= 0:
            found = Values(hidden=context.hide_values).describe(limit)
            yield Fault(("maxTokens",), f'"maxTokens" should be positive, found {found}')


@_REQUEST_RULES.rule(
    "SAMPLING_NO_MESSAGES",
    Severity.INFO,
    Clause("https://platform.claude.com/docs/en/api/messages"),
    "A request should have at least one message. The specification does not require "
    "any, but "
    "model providers do.",
)
def _no_messages(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict) and value.get("messages") == []:
        yield Fault(("messages",), "model providers need at least one message, found none")
