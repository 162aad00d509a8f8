"""Bounded memory of a session, and the interface of its rules."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from sidecheck_server.core.limits import Budget, Exhausted, spend
from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.findings import Findings, PendingCheck
from sidecheck_server.core.mcp.messages.envelopes import Message
from sidecheck_server.core.mcp.rules.rule import DeferredCheck, Fault, Path, Rule
from sidecheck_server.core.payload import decode, encode_json, encode_sorted

__all__ = [
    "BoundedStore",
    "Key",
    "MemoryPool",
    "Reporter",
    "Request",
    "SessionMemory",
    "SessionMessage",
    "SessionRule",
    "digest_of",
    "encode_compact",
    "key_of",
]

_Value = TypeVar("_Value")

#: Key of bounded size for a name that a peer chose: an id, a token, a cursor, a URI.
Key: TypeAlias = tuple[str, object]
_MAX_KEY_CHARACTERS = 64
_MAX_KEY_NUMBER = 1 << 63


def key_of(name: Any) -> Key:
    """Return the key for *name*; 1 and 1.0 have the same key, 1 and "1" do not."""
    if isinstance(name, str):
        if len(name) <= _MAX_KEY_CHARACTERS:
            return ("text", name)
        # A digest bounds the memory of a long name.
        return ("long text", blake2b(name.encode("utf-8", "surrogatepass")).digest())
    if isinstance(name, int | float) and not isinstance(name, bool):
        return ("number", name if abs(name) < _MAX_KEY_NUMBER else hash(name))
    return ("none", type(name).__name__)


def encode_compact(value: Any) -> bytes:
    """Return *value* as JSON without spare capacity.

    The buffer that msgspec returns is up to half as long again as its text.
    """
    return bytes(memoryview(encode_json(value)))


_RULE_STEPS = 200_000
"""Steps, for each message, of the rules that compare it with earlier requests.

The event loop spends the same number on one payload.
"""

_STEPS_PER_BYTE = 1
"""Steps of decoding stored JSON."""

_MAX_DEPTH = 256
"""Nesting of stored JSON: at most the nesting of the messages that contained it."""


def digest_of(value: Any) -> bytes:
    """Return a digest of the JSON *value*, independent of the order of properties."""
    return blake2b(encode_sorted(value), digest_size=16).digest()


class Reporter:
    """Reports violations of session rules by the current message.

    *gaps* tells whether the session lacks messages.
    """

    __slots__ = ("_budget", "_findings", "_gaps", "_path", "_version")

    def __init__(self, findings: Findings, path: Path, version: str, *, gaps: bool) -> None:
        self._findings = findings
        self._path = path
        self._version = version
        self._gaps = gaps
        self._budget: Budget = [_RULE_STEPS]

    def __call__(self, rule: Rule, fault: Fault) -> None:
        """Report *fault* if *rule* applies and no missed message may explain the fault."""
        # Decision 0029: report no fault that a missed message may explain.
        if rule.holds_in(self._version) and not (self._gaps and rule.needs_whole_session):
            self._findings.report(rule, self._path, fault)

    def defer(self, check: DeferredCheck) -> None:
        """Add a deferred check, which the caller of the session resolves."""
        self._findings.pending.append(PendingCheck(self._path, check))

    def check_answer(self, rules: Iterable[Rule], value: Any, path: Path, request: bytes) -> None:
        """Report the findings of *rules* in *value*, the response at *path* to a request.

        *request* is the JSON text of the request's params. In a session with gaps nothing is
        reported, since the value may belong to another request. The steps are bounded for each
        message; the check stops at the bound.
        """
        if self._gaps:
            return
        with suppress(Exhausted):
            spend(self._budget, _STEPS_PER_BYTE * len(request))
            params = decode(request, max_depth=_MAX_DEPTH)
            context = replace(self._findings.context, request=params, budget=self._budget)
            for rule in rules:
                if rule.check is not None and rule.holds_in(self._version):
                    for finding in rule.check(value, context):
                        self._findings.report(rule, (*self._path, *path), finding)


@dataclass(slots=True)
class Request:
    """Properties of a request that the check of its response reads.

    Not frozen, since a frozen dataclass takes far longer to create.
    """

    method: str
    #: Version whose rules apply to the response.
    version: str
    #: Capabilities that the client had declared when the request was sent.
    client_capabilities: dict[str, Any] | None
    #: JSON of the request's parts that the check reads, or b"".
    text: bytes
    #: Key of its progress token, or None.
    token: Key | None
    #: Whether it asks for a task (2025-11-25), which outlives the response.
    as_task: bool
    #: Name of the tool that it calls, shortened to 128 characters, or "".
    tool: str = ""
    #: Number of other open requests with the same id.
    duplicates: int = 0
    #: Size of its variable parts, in bytes.
    weight: int = 0


class SessionMessage:
    """A message of the session, with its sender and, for a response, its request.

    The attributes are computed once, since more than ten rules observe each message.
    """

    __slots__ = (
        "has_long_integers",
        "key",
        "message",
        "params",
        "rejected",
        "request",
        "result",
        "sender",
        "version",
    )

    def __init__(
        self,
        message: Message,
        sender: Sender,
        version: str,
        request: Request | None,
        *,
        has_long_integers: bool,
        rejected: Key | None = None,
    ) -> None:
        self.message = message
        #: Whether it has integers that take long to encode as JSON; then no rule encodes it.
        self.has_long_integers = has_long_integers
        self.sender = sender
        self.version = version
        #: For a response: its request, or None if unknown.
        self.request = request
        #: Key of the client's request that the transport rejected with this error, or None.
        self.rejected = rejected
        #: Key of its id.
        self.key = key_of(message.id)
        #: The params, or {} if it has none.
        self.params = _get_object(message.value, "params")
        #: The result, or {} if it has none.
        self.result = _get_object(message.value, "result")


def _get_object(value: Any, name: str) -> dict[str, Any]:
    item = value.get(name) if isinstance(value, dict) else None
    return item if isinstance(item, dict) else {}


class SessionRule(Protocol):
    """Checks messages of a session against earlier ones."""

    #: Methods whose requests, responses and notifications it observes; None for all methods.
    methods: frozenset[str] | None

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Check the current message, and store what the check of later messages needs."""


_ENTRY_BYTES = 250
"""Overhead of a store's entry, in bytes: its key, small values, its slot in the dictionary."""


# Decision 0029: all sessions of a server share a bounded memory.
class MemoryPool:
    """Memory budget of *limit* bytes, shared by at most *sessions* sessions.

    Any session may use the first half. Once the pool holds more than that half, a session may
    grow only up to an equal share of the other half. Idle sessions keep what they use.
    """

    def __init__(self, limit: int, sessions: int) -> None:
        self.bytes = 0
        self._shared_half = limit // 2
        self._share = self._shared_half // sessions

    def is_full_for(self, size: int) -> bool:
        """Return whether a session that uses *size* bytes must not grow."""
        return self.bytes > self._shared_half and size > self._share


class SessionMemory:
    """Memory use of one session, counted in *pool* too if the session shares one."""

    def __init__(self, pool: MemoryPool | None = None) -> None:
        self._pool = pool
        self._bytes = 0

    def add(self, weight: int) -> None:
        """Count an entry of *weight* bytes."""
        self._bytes += _ENTRY_BYTES + weight
        if self._pool is not None:
            self._pool.bytes += _ENTRY_BYTES + weight

    def remove(self, weight: int) -> None:
        """Subtract an entry of *weight* bytes."""
        self._bytes -= _ENTRY_BYTES + weight
        if self._pool is not None:
            self._pool.bytes -= _ENTRY_BYTES + weight

    @property
    def is_full(self) -> bool:
        """Whether this session must not grow."""
        return self._pool is not None and self._pool.is_full_for(self._bytes)

    def close(self) -> None:
        """Return everything to the pool."""
        if self._pool is not None:
            self._pool.bytes -= self._bytes
            self._pool = None


class BoundedStore(Generic[_Value]):
    """Store of values by key that evicts the oldest values when it is full.

    The sum of the weights is at most *capacity*. The weights also count as bytes of *memory*;
    small values have the weight 1.
    """

    def __init__(self, capacity: int, memory: SessionMemory) -> None:
        self._capacity = capacity
        self._memory = memory
        self._weight = 0
        self._values: dict[Key, tuple[_Value, int]] = {}
        #: Whether a value was evicted; if so, a missing key may have had a value.
        self.has_evicted = False

    def put(self, key: Key, value: _Value, weight: int = 1) -> None:
        """Store *value* under *key*."""
        if key in self._values:
            self.pop(key)
        self._values[key] = (value, weight)
        self._weight += weight
        self._memory.add(weight)
        while self._values and (self._weight > self._capacity or self._memory.is_full):
            self.pop(next(iter(self._values)))
            self.has_evicted = True

    def get(self, key: Key) -> _Value | None:
        """Return the value under *key*, or None."""
        entry = self._values.get(key)
        return None if entry is None else entry[0]

    def pop(self, key: Key) -> _Value | None:
        """Remove and return the value under *key*, or return None."""
        entry = self._values.pop(key, None)
        if entry is None:
            return None
        self._weight -= entry[1]
        self._memory.remove(entry[1])
        return entry[0]

    def clear(self) -> None:
        """Remove all values. Removed values do not count as evicted."""
        for key in list(self._values):
            self.pop(key)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[_Value]:
        return (value for value, _ in self._values.values())
