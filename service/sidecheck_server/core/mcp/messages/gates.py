"""Gates: methods that need a capability which was not declared."""

from typing import Any

from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.message import Message
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS, Method, Need, find_method
from sidecheck_server.core.mcp.rules import capabilities
from sidecheck_server.core.mcp.rules.rule import Fault, Path

__all__ = ["tell_undeclared", "tell_undeclared_alone"]


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
