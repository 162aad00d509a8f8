"""Rules on requests and responses: ids, cancellation, handshake, rejection."""

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.limits import Exhausted
from sidecheck_server.core.mcp.call_errors import METHOD_NOT_FOUND
from sidecheck_server.core.mcp.context import (
    FIRST_STATELESS,
    LAST_HANDSHAKE,
    VERSIONS,
    Context,
    Sender,
)
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.metadata_keys import LOG_LEVEL_KEY, read_metadata
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.rules.features import LEVELS
from sidecheck_server.core.mcp.rules.messages import CLIENT_RESPONSE
from sidecheck_server.core.mcp.rules.negotiation import (
    PROTOCOL_VERSION_UNKNOWN,
    PROTOCOL_VERSION_WITHOUT_HANDSHAKE,
)
from sidecheck_server.core.mcp.rules.rule import Fault, Rule
from sidecheck_server.core.mcp.rules.sessions import (
    CANCELLED_BY_SERVER,
    CANCELLED_INITIALIZE,
    CANCELLED_UNKNOWN,
    COMPLETION_ACCEPTED,
    ELICITATION_MODE_ACCEPTED,
    INITIALIZE_NOT_FIRST,
    INITIALIZED_EARLY,
    INITIALIZED_MISSING,
    LOG_LEVEL_ACCEPTED,
    PING_UNKNOWN,
    REQUEST_ID_IN_USE,
    REQUEST_ID_REUSED,
    REQUEST_TOO_EARLY,
    RESPONSE_WITHOUT_REQUEST,
    SAMPLING_HISTORY_ACCEPTED,
)
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    Request,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["Exchange", "Lifecycle", "Rejections"]

_MAX_IDS = 100_000
_MAX_OPEN_BYTES = 8 << 20
"""Total weight of the open requests of each side."""

_REQUEST_BYTES = 512
"""Weight of a request without its variable parts."""

_METHOD = ("method",)
_LOG_MESSAGE = "notifications/message"
"""The only notification that the server may send before the handshake."""

_PROBE = "server/discover"


class Exchange:
    """Open requests of both sides, and the ids of all requests."""

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        self._open: dict[Sender, BoundedStore[Request]] = {
            sender: BoundedStore(_MAX_OPEN_BYTES, memory) for sender in Sender
        }
        #: Requests that the transport rejected; an error response may still follow.
        self._rejected: dict[Sender, BoundedStore[Request]] = {
            sender: BoundedStore(_MAX_OPEN_BYTES, memory) for sender in Sender
        }
        self._used: dict[Sender, BoundedStore[bool]] = {
            sender: BoundedStore(_MAX_IDS, memory) for sender in Sender
        }
        #: Number of open requests with an unreadable id or kind.
        self._unreadable: dict[Sender, int] = dict.fromkeys(Sender, 0)
        #: Key of the initialize request, or None before it.
        self._initialize_key: Key | None = None
        #: Key of the client's last request, or None before it.
        self._last_key: Key | None = None

    def find_open(self, sender: Sender, key: Key) -> Request | None:
        """Return the request of *sender* under *key* without a response, or None."""
        return self._open[sender].get(key) or self._rejected[sender].get(key)

    def reject(self, sender: Sender, key: Key, request: Request) -> None:
        """Store a request that the transport rejected; its sender may reuse the id."""
        self._rejected[sender].put(key, request, _REQUEST_BYTES + request.weight)

    def reject_last(self) -> Key | None:
        """Reject the client's last request and return its key.

        Returns None if the request has a response already.
        """
        key, self._last_key = self._last_key, None
        request = None if key is None else self._open[Sender.CLIENT].pop(key)
        if key is None or request is None:
            return None
        self._used[Sender.CLIENT].pop(key)
        self.reject(Sender.CLIENT, key, request)
        return key

    def open(self, sender: Sender, key: Key, request: Request) -> None:
        """Store a request that was sent."""
        self._rejected[sender].pop(key)
        open_request = self._open[sender].get(key)
        if open_request is not None:
            # A response with this id may belong to either request.
            method = request.method if request.method == open_request.method else ""
            request = replace(
                request, method=method, text=b"", duplicates=open_request.duplicates + 1
            )
        self._open[sender].put(key, request, _REQUEST_BYTES + request.weight)
        self._used[sender].put(key, value=True)
        if sender is Sender.CLIENT:
            self._last_key = key
        if request.method == "initialize" and sender is Sender.CLIENT:
            self._initialize_key = key

    def close(self, sender: Sender, key: Key) -> Request | None:
        """Remove and return the request of *sender* under *key*, or return None."""
        request = self._open[sender].pop(key)
        if request is not None and request.duplicates:
            duplicate = replace(request, duplicates=request.duplicates - 1)
            self._open[sender].put(key, duplicate, _REQUEST_BYTES + duplicate.weight)
        return request or self._rejected[sender].pop(key)

    def count_unreadable(self, sender: Sender) -> None:
        """Count a message of *sender* that may be a request with an unreadable id."""
        self._unreadable[sender] += 1

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Check the id of the current message against earlier ones."""
        match current.message.kind:
            case Kind.REQUEST:
                self._check_request(current, report)
            case Kind.RESULT | Kind.ERROR:
                self._check_response(current, report)
            case Kind.NOTIFICATION if current.message.method == "notifications/cancelled":
                self._check_cancelled(current, report)

    def _check_request(self, current: SessionMessage, report: Reporter) -> None:
        if current.key in self._open[current.sender]:
            report(REQUEST_ID_IN_USE, Fault(("id",), "a request with this id has no response yet"))
        if current.key in self._used[current.sender]:
            report(REQUEST_ID_REUSED, Fault(("id",), "an earlier request has this id"))

    def _check_response(self, current: SessionMessage, report: Reporter) -> None:
        requester = current.sender.peer
        if current.message.id is None and self._unreadable[requester]:
            self._unreadable[requester] -= 1
        if (
            current.request is not None
            or current.message.id is None
            or self._open[requester].has_evicted
            or (current.sender is Sender.CLIENT and CLIENT_RESPONSE.holds_in(current.version))
        ):
            return
        if self._unreadable[requester] and current.key not in self._used[requester]:
            self._unreadable[requester] -= 1
            return
        message = (
            f"the request of the {requester} with this id already has a response"
            if current.key in self._used[requester]
            else f"no request of the {requester} has this id"
        )
        report(RESPONSE_WITHOUT_REQUEST, Fault(("id",), message))

    def _check_cancelled(self, current: SessionMessage, report: Reporter) -> None:
        if "requestId" not in current.params:
            return
        path = ("params", "requestId")
        key = key_of(current.params["requestId"])
        if current.sender is Sender.SERVER and REQUEST_ID_IN_USE.holds_in(current.version):
            request = self._open[Sender.CLIENT].get(key)
            if request is None or request.method != "subscriptions/listen":
                message = "no open subscriptions/listen request has this id"
                report(CANCELLED_BY_SERVER, Fault(path, message))
            else:
                self._open[Sender.CLIENT].pop(key)
        elif current.sender is Sender.CLIENT and key == self._initialize_key:
            report(CANCELLED_INITIALIZE, Fault(path, "initialize must not be cancelled"))
        elif key not in self._used[current.sender] and not self._used[current.sender].has_evicted:
            message = f"no request of the {current.sender} has this id"
            report(CANCELLED_UNKNOWN, Fault(path, message))


class _Stage(Enum):
    NEW = auto()
    REQUESTED = auto()
    ANSWERED = auto()
    READY = auto()


class Lifecycle:
    """Stage of the handshake of versions up to 2025-11-25.

    A missing step is reported once and counts as done afterwards.
    """

    methods: frozenset[str] | None = None

    def __init__(self) -> None:
        self._stage = _Stage.NEW
        #: Whether the client sent initialize, and the server did not reject it.
        self._has_initialize = False
        #: Whether the client has sent a message, or the lack of one is already reported.
        self._client_began = False
        #: Whether the server responded to initialize with a result.
        self._has_handshake = False
        #: Key of the server/discover request, a probe for a server without a handshake.
        self._probe_key: Key | None = None

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Check that the current message may be sent at this stage."""
        method = current.message.method
        if method == _PROBE and current.message.kind is Kind.REQUEST:
            self._probe_key = current.key
        if not INITIALIZE_NOT_FIRST.holds_in(current.version) or self._ends_probe(current):
            return
        match current.message.kind:
            case Kind.ERROR if method == "ping" and self._has_handshake:
                _check_ping(current, report)
            case Kind.RESULT if method == "initialize":
                if self._stage is not _Stage.READY:
                    self._stage = _Stage.ANSWERED
                self._has_handshake = True
                _check_version(current, report)
            case Kind.ERROR if method == "initialize":
                self._stage = _Stage.NEW
                self._has_initialize = False
            case Kind.ERROR if current.rejected is not None and self._stage is _Stage.REQUESTED:
                self._stage = _Stage.NEW
                self._has_initialize = False
            case Kind.REQUEST | Kind.NOTIFICATION if method != "ping":
                if current.sender is Sender.CLIENT:
                    self._check_client(current, method, report)
                else:
                    self._check_server(current, report)

    def _ends_probe(self, current: SessionMessage) -> bool:
        """Return whether the client cancels its probe, which a server may ignore."""
        return (
            self._probe_key is not None
            and current.message.method == "notifications/cancelled"
            and key_of(current.params.get("requestId")) == self._probe_key
        )

    def _check_client(self, current: SessionMessage, method: str, report: Reporter) -> None:
        self._client_began = True
        stage = self._stage
        if method == "initialize":
            if self._has_initialize:
                report(INITIALIZE_NOT_FIRST, Fault(_METHOD, "initialize was already sent"))
            self._has_initialize = True
            self._stage = _Stage.REQUESTED
        elif method == "notifications/initialized":
            if stage in {_Stage.NEW, _Stage.REQUESTED}:
                report(INITIALIZED_EARLY, Fault(_METHOD, "initialize has no response yet"))
            self._stage = _Stage.READY
        elif stage is _Stage.NEW:
            report(INITIALIZE_NOT_FIRST, Fault(_METHOD, "initialize was not sent before"))
            self._stage = _Stage.READY
        elif current.message.kind is Kind.REQUEST:
            if stage is _Stage.REQUESTED:
                report(REQUEST_TOO_EARLY, Fault(_METHOD, "initialize has no response yet"))
            elif stage is _Stage.ANSWERED:
                message = "notifications/initialized was not sent before"
                report(INITIALIZED_MISSING, Fault(_METHOD, message))
                self._stage = _Stage.READY

    def _check_server(self, current: SessionMessage, report: Reporter) -> None:
        if current.message.kind is Kind.REQUEST and self._stage is not _Stage.READY:
            message = "the client has not sent notifications/initialized yet"
            report(REQUEST_TOO_EARLY, Fault(_METHOD, message))
        elif not self._client_began and current.message.method != _LOG_MESSAGE:
            report(INITIALIZE_NOT_FIRST, Fault(_METHOD, "initialize was not sent before"))
            self._client_began = True


def _check_version(current: SessionMessage, report: Reporter) -> None:
    """Check that the result of initialize names a version with a handshake."""
    version = current.result.get("protocolVersion")
    if not isinstance(version, str):
        return
    if version not in VERSIONS:
        supported_versions = ", ".join(VERSIONS)
        message = f"unknown version of the protocol; expected one of {supported_versions}"
        fault = Fault(("result", "protocolVersion"), message, current.version)
        report(PROTOCOL_VERSION_UNKNOWN, fault)
    elif version > LAST_HANDSHAKE:
        message = f"{version} has no handshake; expected {LAST_HANDSHAKE} or an earlier version"
        fault = Fault(("result", "protocolVersion"), message, LAST_HANDSHAKE)
        report(PROTOCOL_VERSION_WITHOUT_HANDSHAKE, fault)


def _check_ping(current: SessionMessage, report: Reporter) -> None:
    """Check that the error response to a ping is not "method not found"."""
    error = current.message.value.get("error")
    if isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND:
        report(PING_UNKNOWN, Fault(("error", "code"), "expected an empty result of ping"))


_MAX_REQUESTS = 10_000
_STEPS = 100_000
"""Largest number of steps to check one request for faults."""

#: By method: rules on the params, each with the rule that requires an error if it is broken.
_REJECTION_RULES: Mapping[str, tuple[tuple[Rule, Rule], ...]] = MappingProxyType(
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
    """Open requests that must be rejected, with the rules that require this."""

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        #: Rule and fault of each request.
        self._reasons: BoundedStore[tuple[Rule, str]] = BoundedStore(_MAX_REQUESTS, memory)
        #: Capabilities of the client, reduced to elicitation modes; None if unknown.
        self._client_capabilities: dict[str, Any] | None = None

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store the requests that must be rejected, and report results of them."""
        match current.message.kind:
            case Kind.REQUEST:
                if current.message.method == "initialize":
                    self._client_capabilities = _select_elicitation(
                        current.params.get("capabilities")
                    )
                key = (current.sender, current.key)
                reason = self._find_reason(current)
                if reason is None:
                    self._reasons.pop(key)
                else:
                    self._reasons.put(key, reason)
            case Kind.RESULT | Kind.ERROR:
                reason = self._reasons.pop((current.sender.peer, current.key))
                if reason is not None and current.message.kind is Kind.RESULT:
                    rule, fault = reason
                    message = f"expected an error, found a result: the request has {fault}"
                    report(rule, Fault(("result",), message))

    def _find_reason(self, current: SessionMessage) -> tuple[Rule, str] | None:
        """Return the rule that requires an error response, and the fault, or None."""
        params, method = current.params, current.message.method
        if current.version >= FIRST_STATELESS:
            level = read_metadata(params).get(LOG_LEVEL_KEY)
        else:
            level = params.get("level") if method == "logging/setLevel" else None
        if isinstance(level, str) and level not in LEVELS:
            return LOG_LEVEL_ACCEPTED, "an unknown log level"
        if method == "completion/complete":
            missing_name = next((name for name in ("ref", "argument") if name not in params), "")
            return (COMPLETION_ACCEPTED, f'no "{missing_name}"') if missing_name else None
        return self._apply_rejection_rules(current, method)

    def _apply_rejection_rules(
        self, current: SessionMessage, method: str
    ) -> tuple[Rule, str] | None:
        rules = _REJECTION_RULES.get(method)
        if rules is None:
            return None
        context = Context(
            current.version,
            client_capabilities=self._client_capabilities,
            hide_values=True,
            budget=[_STEPS],
        )
        for rule, rejection in rules:
            if rule.holds_in(current.version) and rule.check is not None:
                try:
                    if any(True for _ in rule.check(current.params, context)):
                        return rejection, f"the fault {rule.code}"
                except Exhausted:
                    return None
        return None


def _select_elicitation(declared: Any) -> dict[str, Any] | None:
    """Return the elicitation modes in the capabilities *declared*, without settings."""
    if not isinstance(declared, dict):
        return None
    elicitation = declared.get("elicitation")
    if not isinstance(elicitation, dict):
        return {}
    return {"elicitation": {mode: {} for mode in ("form", "url") if mode in elicitation}}
