"""What a session remembers of its messages, within bounds."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.findings import CheckSpec, Findings
from sidecheck_server.core.mcp.messages import Message
from sidecheck_server.core.mcp.rules.rule import DeferredCheck, Fault, Path, Rule
from sidecheck_server.core.mcp.rules.sessions import NEED_EVERY_MESSAGE

__all__ = ["BoundedStore", "Key", "Request", "Seen", "SessionRule", "Tell", "key_of", "other"]

_Value = TypeVar("_Value")

#: A name that a peer chose, of bounded size: an id, a token, a cursor, a URI.
Key: TypeAlias = tuple[str, object]
_LONGEST_NAME = 64
_LARGEST = 1 << 63


def key_of(name: Any) -> Key:
    """Return what *name* is remembered by: 1 and 1.0 are the same name, "1" is another."""
    if isinstance(name, str):
        if len(name) <= _LONGEST_NAME:
            return ("text", name)
        # Digests, so that no name takes more memory than another.
        return ("long text", blake2b(name.encode("utf-8", "surrogatepass")).digest())
    if isinstance(name, int | float) and not isinstance(name, bool):
        return ("number", name if abs(name) < _LARGEST else hash(name))
    return ("none", type(name).__name__)


def other(sender: Sender) -> Sender:
    """Return the other side."""
    return Sender.SERVER if sender is Sender.CLIENT else Sender.CLIENT


class Tell:
    """Is told what is found of the message at hand.

    With *gaps*, some message of the session was not seen.
    """

    __slots__ = ("_findings", "_gaps", "_path", "_version")

    def __init__(self, findings: Findings, path: Path, version: str, *, gaps: bool) -> None:
        self._findings = findings
        self._path = path
        self._version = version
        self._gaps = gaps

    def __call__(self, rule: Rule, fault: Fault) -> None:
        """Take in that *fault* breaks *rule*, if the version has it and that is certain."""
        if rule.holds_in(self._version) and not (self._gaps and rule in NEED_EVERY_MESSAGE):
            self._findings.tell(rule, self._path, fault)

    def ask(self, question: DeferredCheck) -> None:
        """Take in *question*, which whoever checks answers."""
        self._findings.questions.append(CheckSpec(self._path, question))


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was sent, as far as its response needs it."""

    method: str
    #: The version whose rules its response is checked by.
    version: str
    #: What the client had declared when it was sent.
    client_capabilities: dict[str, Any] | None
    #: The whole of it, or b"" if its response does not need it.
    text: bytes
    token: Key | None
    #: Whether it asked for a task, which outlives its response.
    as_task: bool
    #: What it holds beside itself, in bytes.
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """A message at hand."""

    message: Message
    sender: Sender
    version: str
    #: The request that it answers, if it is a response and that is known.
    answered: Request | None

    @property
    def params(self) -> dict[str, Any]:
        """The params, or {} if they are none."""
        return self._member("params")

    @property
    def result(self) -> dict[str, Any]:
        """The result, or {} if it is none."""
        return self._member("result")

    @property
    def key(self) -> Key:
        """What its id is remembered by."""
        return key_of(self.message.id)

    def _member(self, name: str) -> dict[str, Any]:
        value = self.message.value
        found = value.get(name) if isinstance(value, dict) else None
        return found if isinstance(found, dict) else {}


class SessionRule(Protocol):
    """Watches a session for what breaks rules of one kind."""

    def see(self, seen: Seen, tell: Tell) -> None:
        """Look at the message at hand, and remember what later ones are held against."""


class BoundedStore(Generic[_Value]):
    """The newest of what was remembered under keys.

    Together they weigh no more than *most*; the oldest are forgotten.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._values: dict[Key, tuple[_Value, int]] = {}
        #: Whether any was forgotten: then what is not here may have been.
        self.forgot = False

    def put(self, key: Key, value: _Value, weight: int = 1) -> None:
        """Remember *value* under *key*."""
        self.pop(key)
        self._values[key] = (value, weight)
        self._weight += weight
        while self._weight > self._most:
            self.pop(next(iter(self._values)))
            self.forgot = True

    def get(self, key: Key) -> _Value | None:
        """Return what is remembered under *key*, if anything."""
        found = self._values.get(key)
        return None if found is None else found[0]

    def pop(self, key: Key) -> _Value | None:
        """Forget what is remembered under *key*, and return it."""
        found = self._values.pop(key, None)
        if found is None:
            return None
        self._weight -= found[1]
        return found[0]

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[_Value]:
        return (value for value, _ in self._values.values())
