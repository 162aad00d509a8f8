"""Requests of sampling: what the client must have declared, the tools, and the bounds."""

from collections.abc import Iterable, Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import declared_by_client
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule, sparing
from sidecheck_server.core.mcp.rules.sampling_ordinary import is_ordinary_request
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_TOOLS = "2025-11-25"
_REQUEST = "CreateMessageRequestParams"
_CAPABILITIES = Clause("client/sampling", "capabilities")
_IN_SAMPLING = Clause("client/sampling", "tools-in-sampling")
_CHOICE = Clause("client/sampling", "tool-choice-modes")

_WITH_CONTEXT = ("thisServer", "allServers")


def _declared(context: Context) -> Any:
    """Return what the client declared of sampling, or None if nothing."""
    declared = declared_by_client(context)
    sampling = None if declared is None else declared.get("sampling")
    return sampling if isinstance(sampling, dict) else None


def _includes_context(value: Any) -> bool:
    return isinstance(value, dict) and value.get("includeContext") in _WITH_CONTEXT


@rule(
    "SAMPLING_TOOLS_NOT_DECLARED",
    severity=Severity.ERROR,
    clause=_IN_SAMPLING,
    sentence="A server sends tools, or how to choose among them, only to a client that declared "
    "sampling.tools; clients of 2025-11-25 answer with -32602 (Invalid params).",
    on=_REQUEST,
    since=_TOOLS,
)
def _tools_not_declared(value: Any, context: Context) -> Iterable[Fault]:
    if declared_by_client(context) is None or not isinstance(value, dict):
        return ()
    asking = next((name for name in ("tools", "toolChoice") if value.get(name) is not None), "")
    if asking and (_declared(context) or {}).get("tools") is None:
        # The SDK's text, word for word: peers are told by it.
        return (Fault((asking,), "Client does not support sampling tools capability"),)
    return ()


@rule(
    "SAMPLING_CONTEXT_NOT_DECLARED",
    severity=Severity.WARNING,
    clause=_CAPABILITIES,
    sentence="A server asks for the context of servers only of a client that declared "
    "sampling.context.",
    on=_REQUEST,
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
    # If it declared no sampling at all, that is told instead.
    declared = _declared(context)
    return declared is not None and declared.get("context") is None


@rule(
    "SAMPLING_CONTEXT_DEPRECATED",
    severity=Severity.WARNING,
    clause=_CAPABILITIES,
    sentence='"includeContext" is left out, or "none": the other values are deprecated.',
    on=_REQUEST,
    since=_TOOLS,
)
def _context_deprecated(value: Any, context: Context) -> Iterator[Fault]:
    # Where the client does not take it at all, that is told instead.
    if _includes_context(value) and not _lacks_context(context):
        yield Fault(
            ("includeContext",),
            f'"includeContext" should be left out: "{value["includeContext"]}" is deprecated',
            "none",
        )


@rule(
    "SAMPLING_DEPRECATED",
    severity=Severity.WARNING,
    clause=Clause("deprecated"),
    sentence="Sampling is deprecated: new implementations should not adopt it, and servers "
    "should ask the provider of a model themselves.",
    on=_REQUEST,
    since="2026-07-28",
)
def _deprecated(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "sampling is deprecated since 2026-07-28 (SEP-2577)")


@rule(
    "SAMPLING_TOOL_CHOICE_WITHOUT_TOOLS",
    severity=Severity.WARNING,
    clause=_IN_SAMPLING,
    sentence='"toolChoice" comes with tools to choose from.',
    on=_REQUEST,
    since=_TOOLS,
)
def _choice_without_tools(value: Any, _context: Context) -> Iterator[Fault]:
    if _chooses_from_nothing(value) and value["toolChoice"].get("mode") != "required":
        yield Fault(("toolChoice",), '"toolChoice" should come with "tools", found none')


@rule(
    "SAMPLING_TOOL_REQUIRED_WITHOUT_TOOLS",
    severity=Severity.ERROR,
    clause=_CHOICE,
    sentence="A model is required to use a tool only if there are tools: with none, it cannot.",
    on=_REQUEST,
    since=_TOOLS,
)
def _required_without_tools(value: Any, _context: Context) -> Iterator[Fault]:
    if _chooses_from_nothing(value) and value["toolChoice"].get("mode") == "required":
        yield Fault(
            ("toolChoice", "mode"),
            'the mode "required" asks the model to use a tool, and there are no tools',
        )


def _chooses_from_nothing(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("toolChoice"), dict)
        and value.get("tools", []) == []
    )


@rule(
    "SAMPLING_TOOL_NAME_REPEATED",
    severity=Severity.WARNING,
    clause=Clause("server/tools", "tool-names"),
    sentence="The tools of a request have different names: a call names the one it means.",
    on=_REQUEST,
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
        before = first.setdefault(name, index)
        if before != index:
            spend(context.budget, 120)
            found = Values(hidden=context.hide_values).found(name)
            yield Fault(
                ("tools", index, "name"),
                f"the names of tools should differ, found {found} as tool {before} and {index}",
            )


@rule(
    "SAMPLING_MAX_TOKENS",
    severity=Severity.ERROR,
    clause=Clause("client/sampling", "creating-messages"),
    sentence='"maxTokens" is positive: clients must respect it, and of no tokens no message is '
    "made.",
    on=_REQUEST,
)
def _max_tokens(value: Any, context: Context) -> Iterator[Fault]:
    most = value.get("maxTokens") if isinstance(value, dict) else None
    # Other numbers, and what is none, the shape refuses.
    whole = isinstance(most, float) and most.is_integer()
    if (isinstance(most, int) and not isinstance(most, bool)) or whole:
        assert isinstance(most, int | float)
        if most <= 0:
            found = Values(hidden=context.hide_values).found(most)
            yield Fault(("maxTokens",), f'"maxTokens" must be positive, found {found}')


@rule(
    "SAMPLING_NO_MESSAGES",
    severity=Severity.INFO,
    clause=Clause("https://platform.claude.com/docs/en/api/messages"),
    sentence="A request has at least one message: the specification asks for none, but "
    "providers of models do.",
    on=_REQUEST,
)
def _no_messages(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict) and value.get("messages") == []:
        yield Fault(("messages",), "providers of models need at least one message, found none")


RULES: tuple[Rule, ...] = (
    _tools_not_declared,
    *sparing(
        is_ordinary_request,
        (
            _context_not_declared,
            _context_deprecated,
            _deprecated,
            _choice_without_tools,
            _required_without_tools,
            _tool_name_repeated,
            _max_tokens,
            _no_messages,
        ),
    ),
)
