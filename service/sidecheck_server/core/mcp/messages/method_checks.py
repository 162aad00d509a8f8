"""Gates: methods that need a capability which was not declared."""

from functools import lru_cache
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.nearest import nearest
from sidecheck_server.core.explain.values import listed, quoted
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS, METHODS, Method, Need, find_method
from sidecheck_server.core.mcp.rules import capabilities, envelope
from sidecheck_server.core.mcp.rules.input_required import extended
from sidecheck_server.core.mcp.rules.rule import Fault, Path
from sidecheck_server.core.mcp.versions import VERSIONS

__all__ = ["tell_undeclared", "tell_undeclared_alone", "tell_unknown"]


def tell_undeclared(method: Method, message: Message, findings: Findings) -> None:
    """Tell *findings* if *message* needs a capability that is known not to be declared."""
    if method.needs is None and method.needs_as_task is None:
        return
    method_at, params_at = (*message.path, "method"), (*message.path, "params")
    _tell_needs(method, message.value.get("params"), findings, method_at, params_at)


def tell_undeclared_alone(name: str, params: Any, findings: Findings) -> None:
    """Tell *findings* the same of *params* alone, of a request *name* of a server."""
    method = find_method(name, findings.context.version, Sender.SERVER)
    if method is None:
        # It stands in a result since 2026-07-28, and needs the same.
        asked = INPUT_REQUESTS[name]
        method = Method(name, Sender.SERVER, asked.params, asked.result, needs=asked.needs)
    _tell_needs(method, params, findings, (), ())


def _tell_needs(
    method: Method, params: Any, findings: Findings, method_at: Path, params_at: Path
) -> None:
    context = findings.context
    needs = method.needs
    if needs is not None and _lacks(needs, method, context):
        early = capabilities.UNDECLARED_EARLY.holds_in(context.version)
        rule = capabilities.UNDECLARED_EARLY if early else capabilities.UNDECLARED
        findings.tell(rule, method_at, Fault((), _said(method.name, needs)))
    needs = method.needs_as_task
    if needs is None or type(params) is not dict or "task" not in params:
        return
    if _lacks(needs, method, context):
        to_server = needs.who is Sender.SERVER
        rule = capabilities.TASK_TO_SERVER if to_server else capabilities.TASK_TO_CLIENT
        said = _said(f"{method.name} as a task", needs)
        findings.tell(rule, params_at, Fault(("task",), said))


def _lacks(needs: Need, method: Method, context: Context) -> bool:
    server = needs.who is Sender.SERVER
    declared = context.server_capabilities if server else context.client_capabilities
    if declared is None or capabilities.is_declared(declared, needs.path):
        return False
    if context.sender is not None:
        return True
    # If both may send it, it is not known whose capability it needs.
    other = Sender.CLIENT if method.sender is Sender.SERVER else Sender.SERVER
    return find_method(method.name, context.version, other) is None


def _said(what: str, needs: Need) -> str:
    return f"{what} needs the {needs.who}'s capability {needs.path}, which it did not declare"


_AT = ("method",)
# In steps: comparing a name with some forty others takes up to 180 us.
_COMPARING = 8_000
_ASKING = "2026-07-28"


def tell_unknown(message: Message, findings: Findings) -> bool:
    """Tell *findings* why there is no method of that name for the sender of *message*.

    Return whether its params are still to be judged, as far as anything is known of them.
    """
    context = findings.context
    name = message.method
    other = find_method(name, context.version)
    if other is not None:
        said = f"{name} is sent by the {other.sender}, not by the {context.sender}"
        findings.tell(envelope.WRONG_SENDER, message.path, Fault(_AT, said))
        return True
    versions = _versions_of(name) if len(name) < 64 else ()
    if versions:
        said = f"{context.version} has no {name}; {listed(versions, 'and')} have it"
        if context.version >= _ASKING and name in INPUT_REQUESTS:
            said += "; since then, servers ask for it in an InputRequiredResult"
        findings.tell(envelope.NOT_IN_VERSION, message.path, Fault(_AT, said))
        return False
    if not extended(context):
        spend(context.budget, _COMPARING)
        near = "" if context.hide_values else nearest(name, _candidates(message, context))
        said = "not a method of the protocol"
        if not context.hide_values:
            said = f"{quoted(name)} is {said}"
        if near:
            said += f"; did you mean {quoted(near)}?"
        findings.tell(envelope.UNKNOWN, message.path, Fault(_AT, said, near))
    return True


@lru_cache(maxsize=256)
def _versions_of(name: str) -> tuple[str, ...]:
    return tuple(
        version
        for version in VERSIONS
        if any(method.name == name and method.holds_in(version) for method in METHODS)
    )


def _candidates(message: Message, context: Context) -> list[str]:
    asks = message.kind is Kind.REQUEST
    return sorted(
        {
            method.name
            for method in METHODS
            if method.holds_in(context.version)
            and method.is_request is asks
            and (context.sender is None or method.sender is context.sender)
        }
    )
