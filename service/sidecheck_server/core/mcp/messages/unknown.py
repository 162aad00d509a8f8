"""Methods that are not known, or not in this version, or not from this sender."""

from functools import lru_cache

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import join_phrase, quote
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.message import Kind, Message
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS, METHODS, find_method
from sidecheck_server.core.mcp.rules import methods
from sidecheck_server.core.mcp.rules.input_required import extended
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.versions import VERSIONS

__all__ = ["tell_unknown"]

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
        findings.tell(methods.WRONG_SENDER, message.path, Fault(_AT, said))
        return True
    versions = _versions_of(name) if len(name) < 64 else ()
    if versions:
        said = f"{context.version} has no {name}; {join_phrase(versions, 'and')} have it"
        if context.version >= _ASKING and name in INPUT_REQUESTS:
            said += "; since then, servers ask for it in an InputRequiredResult"
        findings.tell(methods.NOT_IN_VERSION, message.path, Fault(_AT, said))
        return False
    if not extended(context):
        spend(context.budget, _COMPARING)
        near = "" if context.hide_values else find_nearest(name, _candidates(message, context))
        said = "not a method of the protocol"
        if not context.hide_values:
            said = f"{quote(name)} is {said}"
        if near:
            said += f"; did you mean {quote(near)}?"
        findings.tell(methods.UNKNOWN, message.path, Fault(_AT, said, near))
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
