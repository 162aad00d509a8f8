"""Gates: methods that need a capability which was not declared."""

from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.message import Message
from sidecheck_server.core.mcp.methods import Method, Need, find_method
from sidecheck_server.core.mcp.rules import capabilities
from sidecheck_server.core.mcp.rules.rule import Fault

__all__ = ["tell_undeclared"]


def tell_undeclared(method: Method, message: Message, findings: Findings) -> None:
    """Tell *findings* if *message* needs a capability that is known not to be declared."""
    context = findings.context
    needs = method.needs
    if needs is not None and _lacks(needs, method, context):
        early = capabilities.UNDECLARED_EARLY.holds_in(context.version)
        rule = capabilities.UNDECLARED_EARLY if early else capabilities.UNDECLARED
        findings.tell(rule, message.path, Fault(("method",), _said(method.name, needs)))
    needs = method.needs_as_task
    if needs is not None:
        params = message.value.get("params")
        if type(params) is dict and "task" in params and _lacks(needs, method, context):
            to_server = needs.who is Sender.SERVER
            rule = capabilities.TASK_TO_SERVER if to_server else capabilities.TASK_TO_CLIENT
            said = _said(f"{method.name} as a task", needs)
            findings.tell(rule, message.path, Fault(("params", "task"), said))


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
