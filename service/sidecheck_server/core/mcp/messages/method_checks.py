"""Checks that the method of a message is known, allowed and declared."""

from functools import lru_cache
from typing import Any

from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import join_phrase, quote
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.call_errors import METHOD_NOT_FOUND
from sidecheck_server.core.mcp.context import FIRST_STATELESS, VERSIONS, Context, Sender
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS, METHODS, Method, Need, find_method
from sidecheck_server.core.mcp.rules import capabilities, features
from sidecheck_server.core.mcp.rules import messages as message_rules
from sidecheck_server.core.mcp.rules.input_required import allows_extensions
from sidecheck_server.core.mcp.rules.rule import Fault, Path

__all__ = [
    "check_capabilities",
    "check_params_capabilities",
    "report_missing_list",
    "report_unknown_method",
]

_METHOD = ("method",)
_LONGEST_METHOD = 64
# Steps to compare a name with about forty method names, which takes up to 180 us.
_COMPARISON_STEPS = 8_000


def check_capabilities(method: Method, message: Message, findings: Findings) -> None:
    """Report capabilities and extensions that *message* needs and no side declared."""
    if method.extension and capabilities.lacks_extension(findings.context, method.extension):
        text = (
            f"{method.name} is a method of the extension {method.extension},"
            " which neither side declared"
        )
        findings.report(capabilities.EXTENSION_UNDECLARED, message.path, Fault(_METHOD, text))
    if method.needs is None and method.needs_as_task is None:
        return
    method_path, params_path = (*message.path, "method"), (*message.path, "params")
    _check_needs(method, message.value.get("params"), findings, method_path, params_path)


def check_params_capabilities(name: str, params: Any, findings: Findings) -> None:
    """Check the capabilities that the server's request *name* with *params* needs."""
    method = find_method(name, findings.context.version, Sender.SERVER)
    if method is None:
        # Since 2026-07-28 the request is part of a result and needs the same capabilities.
        request = INPUT_REQUESTS[name]
        method = Method(name, Sender.SERVER, request.params, request.result, needs=request.needs)
    _check_needs(method, params, findings, (), ())


def _check_needs(
    method: Method, params: Any, findings: Findings, method_path: Path, params_path: Path
) -> None:
    context = findings.context
    needs = method.needs
    if needs is not None and _lacks(needs, method, context):
        rule = capabilities.UNDECLARED
        if method.name == "notifications/message":
            rule = capabilities.LOGGING_UNDECLARED
        elif capabilities.UNDECLARED_EARLY.holds_in(context.version):
            rule = capabilities.UNDECLARED_EARLY
        elif method.sender is Sender.CLIENT and capabilities.UNDECLARED_BY_CLIENT.holds_in(
            context.version
        ):
            rule = capabilities.UNDECLARED_BY_CLIENT
        findings.report(rule, method_path, Fault((), _describe_undeclared(method.name, needs)))
    needs = method.needs_as_task
    if needs is None or type(params) is not dict or "task" not in params:
        return
    if _lacks(needs, method, context):
        to_server = needs.side is Sender.SERVER
        rule = capabilities.TASK_TO_SERVER if to_server else capabilities.TASK_TO_CLIENT
        message = _describe_undeclared(f"{method.name} as a task", needs)
        findings.report(rule, params_path, Fault(("task",), message))


def _lacks(needs: Need, method: Method, context: Context) -> bool:
    """Return whether the side that needs the capability certainly did not declare it."""
    is_server = needs.side is Sender.SERVER
    declared = context.server_capabilities if is_server else context.client_capabilities
    if declared is None or capabilities.is_declared(declared, needs.path):
        return False
    if context.sender is not None:
        return True
    # If both sides may send the method, the side that needs the capability is unknown.
    return find_method(method.name, context.version, method.sender.peer) is None


def report_missing_list(method: Method, message: Message, findings: Findings) -> None:
    """Report the error "method not found" for a list of a declared feature."""
    capability, rule = features.LIST_MISSING.get(method.name, ("", None))
    context = findings.context
    declared, error = context.server_capabilities, message.value["error"]
    if rule is None or declared is None or not rule.holds_in(context.version):
        return
    is_missing = type(error) is dict and error.get("code") == METHOD_NOT_FOUND
    if is_missing and capabilities.is_declared(declared, capability):
        text = f"{method.name} must be answered: the server declared the capability {capability}"
        findings.report(rule, message.path, Fault(("error", "code"), text))


def _describe_undeclared(request: str, needs: Need) -> str:
    return f"{request} needs the capability {needs.path}, which the {needs.side} did not declare"


def report_unknown_method(message: Message, findings: Findings) -> bool:
    """Report why the sender of *message* must not send this method.

    Returns whether to check its params nevertheless.
    """
    context = findings.context
    name = message.method
    peer_method = find_method(name, context.version)
    if peer_method is not None:
        text = f"{name} is sent by the {peer_method.sender}, not by the {context.sender}"
        findings.report(message_rules.WRONG_SENDER, message.path, Fault(_METHOD, text))
        return True
    versions = _find_versions(name) if len(name) < _LONGEST_METHOD else ()
    if versions:
        verb = "does" if len(versions) == 1 else "do"
        text = f"{context.version} has no {name}; only {join_phrase(versions, 'and')} {verb}"
        if context.version >= FIRST_STATELESS and name in INPUT_REQUESTS:
            text += "; since 2026-07-28 servers request it in an InputRequiredResult"
        findings.report(message_rules.NOT_IN_VERSION, message.path, Fault(_METHOD, text))
        return False
    if not allows_extensions(context):
        if _is_server_request(message, context):
            text = "expected notifications and responses of the server, found a request"
            findings.report(message_rules.SERVER_REQUEST, message.path, Fault((), text))
            return True
        spend(context.budget, _COMPARISON_STEPS)
        nearest = (
            "" if context.hide_values else find_nearest(name, _list_candidates(message, context))
        )
        text = "unknown method" if context.hide_values else f"unknown method {quote(name)}"
        if nearest:
            text += f"; did you mean {quote(nearest)}?"
        findings.report(message_rules.METHOD_UNKNOWN, message.path, Fault(_METHOD, text, nearest))
    return True


def _is_server_request(message: Message, context: Context) -> bool:
    """Return whether *message* is a server's request in a version that has none."""
    return (
        message.kind is Kind.REQUEST
        and context.sender is Sender.SERVER
        and message_rules.SERVER_REQUEST.holds_in(context.version)
        # Another rule reports the id of a notification.
        and not message.method.startswith("notifications/")
    )


@lru_cache(maxsize=256)
def _find_versions(name: str) -> tuple[str, ...]:
    return tuple(
        version
        for version in VERSIONS
        if any(method.name == name and method.holds_in(version) for method in METHODS)
    )


def _list_candidates(message: Message, context: Context) -> list[str]:
    is_request = message.kind is Kind.REQUEST
    return sorted(
        {
            method.name
            for method in METHODS
            if method.holds_in(context.version)
            and method.is_request is is_request
            and (context.sender is None or method.sender is context.sender)
        }
    )
