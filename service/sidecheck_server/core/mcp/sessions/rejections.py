"""Rules on requests whose faults oblige the receiver to respond with an error."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.limits import Exhausted
from sidecheck_server.core.mcp.context import FIRST_STATELESS, Context
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.metadata_keys import LOG_LEVEL_KEY, read_metadata
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.rules.features import LEVELS
from sidecheck_server.core.mcp.rules.rule import Fault, Rule
from sidecheck_server.core.mcp.rules.sessions import (
    COMPLETION_ACCEPTED,
    ELICITATION_MODE_ACCEPTED,
    LOG_LEVEL_ACCEPTED,
    SAMPLING_HISTORY_ACCEPTED,
)
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Reporter,
    SessionMemory,
    SessionMessage,
)

__all__ = ["Rejections"]

_MAX_REQUESTS = 10_000
_STEPS = 100_000
"""Steps to look for the faults of one request; those beyond are not found."""

#: By method, the rules that its params must keep, each with the rule that a request that
#: breaks it is rejected.
_FAULTS: Mapping[str, tuple[tuple[Rule, Rule], ...]] = MappingProxyType(
    {
        "elicitation/create": (
            (CATALOGUE["ELICITATION_MODE_NOT_DECLARED"], ELICITATION_MODE_ACCEPTED),
        ),
        "sampling/createMessage": (
            (CATALOGUE["SAMPLING_TOOL_USE_UNANSWERED"], SAMPLING_HISTORY_ACCEPTED),
            (CATALOGUE["SAMPLING_TOOL_RESULT_MIXED"], SAMPLING_HISTORY_ACCEPTED),
        ),
    }
)


class Rejections:
    """Open requests that must be rejected, with the rules that demand it."""

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        self._demands: BoundedStore[tuple[Rule, str]] = BoundedStore(_MAX_REQUESTS, memory)
        #: The modes of elicitation of the client's capabilities; None if these are unknown.
        self._client: dict[str, Any] | None = None

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store which requests must be rejected, and report their results."""
        match current.message.kind:
            case Kind.REQUEST:
                if current.message.method == "initialize":
                    self._client = _capabilities_of(current.params.get("capabilities"))
                key = (current.sender, current.key)
                demand = self._demand_of(current)
                if demand is None:
                    self._demands.pop(key)
                else:
                    self._demands.put(key, demand)
            case Kind.RESULT | Kind.ERROR:
                demand = self._demands.pop((current.sender.peer, current.key))
                if demand is not None and current.message.kind is Kind.RESULT:
                    rule, fault = demand
                    message = f"expected an error, found a result: the request has {fault}"
                    report(rule, Fault(("result",), message))

    def _demand_of(self, current: SessionMessage) -> tuple[Rule, str] | None:
        """Return the rule by which a request must be rejected and its fault, or None."""
        params, method = current.params, current.message.method
        if current.version >= FIRST_STATELESS:
            level = read_metadata(params).get(LOG_LEVEL_KEY)
        else:
            level = params.get("level") if method == "logging/setLevel" else None
        if isinstance(level, str) and level not in LEVELS:
            return LOG_LEVEL_ACCEPTED, "an unknown log level"
        if method == "completion/complete":
            missing = next((name for name in ("ref", "argument") if name not in params), "")
            return (COMPLETION_ACCEPTED, f'no "{missing}"') if missing else None
        return self._demand_of_rules(current, method)

    def _demand_of_rules(self, current: SessionMessage, method: str) -> tuple[Rule, str] | None:
        faults = _FAULTS.get(method)
        if faults is None:
            return None
        context = Context(
            current.version, client_capabilities=self._client, hide_values=True, budget=[_STEPS]
        )
        for rule, rejection in faults:
            if rule.holds_in(current.version) and rule.check is not None:
                try:
                    if any(True for _ in rule.check(current.params, context)):
                        return rejection, f"the fault {rule.code}"
                except Exhausted:
                    return None
        return None


def _capabilities_of(declared: Any) -> dict[str, Any] | None:
    """Return the modes of elicitation in *declared*, without their contents."""
    if not isinstance(declared, dict):
        return None
    elicitation = declared.get("elicitation")
    if not isinstance(elicitation, dict):
        return {}
    return {"elicitation": {mode: {} for mode in ("form", "url") if mode in elicitation}}
