"""Checks the arguments of prompts against the prompts that the server listed."""

from typing import Any

from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.rules.features import PROMPT_ARGUMENT_MISSING
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["ListedPrompts"]

_MAX_BYTES = 1 << 20
"""Total weight of the stored prompts."""

_NAME_BYTES = 64
"""Weight of a name beside its characters, each of which may take four bytes."""

_MAX_PROMPTS = 5000
"""Number of prompts of one result that are stored."""

_MAX_ARGUMENTS = 100
"""Number of required arguments of one prompt that are stored."""


class ListedPrompts:
    """Required arguments of the prompts that were listed last, by name."""

    methods: frozenset[str] | None = frozenset(
        {"prompts/list", "notifications/prompts/list_changed", "prompts/get"}
    )

    def __init__(self, memory: SessionMemory) -> None:
        self._required: BoundedStore[tuple[str, ...]] = BoundedStore(_MAX_BYTES, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store listed prompts, and check requests for prompts."""
        match (current.message.method, current.message.kind):
            case ("prompts/list", Kind.RESULT):
                self._store(current.result.get("prompts"))
            case ("notifications/prompts/list_changed", Kind.NOTIFICATION):
                self._required.clear()
            case ("prompts/get", Kind.REQUEST):
                self._check(current.params, report)

    def _store(self, prompts: Any) -> None:
        for prompt in prompts[:_MAX_PROMPTS] if isinstance(prompts, list) else ():
            name = prompt.get("name") if isinstance(prompt, dict) else None
            if isinstance(name, str):
                required = _required_arguments(prompt.get("arguments"))
                weight = sum(_NAME_BYTES + 4 * len(argument) for argument in required)
                self._required.put(key_of(name), required, 1 + weight)

    def _check(self, params: dict[str, Any], report: Reporter) -> None:
        required = self._required.get(key_of(params.get("name")))
        arguments = params.get("arguments", {})
        if not required or not isinstance(arguments, dict):
            return
        missing = [name for name in required if name not in arguments]
        if missing:
            names = ", ".join(repr(name[:64]) for name in missing[:5])
            path = ("params", "arguments") if "arguments" in params else ("params",)
            message = f"missing arguments that prompts/list declares as required: {names}"
            report(PROMPT_ARGUMENT_MISSING, Fault(path, message))


def _required_arguments(arguments: Any) -> tuple[str, ...]:
    """Return the names of the required ones of *arguments*, a prompt's declarations."""
    names = (
        argument.get("name")
        for argument in (arguments[:_MAX_ARGUMENTS] if isinstance(arguments, list) else ())
        if isinstance(argument, dict) and argument.get("required") is True
    )
    return tuple(name for name in names if isinstance(name, str))
