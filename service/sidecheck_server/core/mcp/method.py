"""What a method of the protocol is: who sends it, what it carries, and what it needs."""

from dataclasses import dataclass

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.versions import VERSIONS

__all__ = ["InputRequest", "Method", "Need"]


@dataclass(frozen=True, slots=True)
class Need:
    """A capability that must have been declared."""

    #: Who declares it.
    who: Sender
    #: The way to it through the capabilities, with a dot between the names, for example
    #: ``resources.subscribe``. What stands there must be an object or true.
    path: str


@dataclass(frozen=True, slots=True)
class Method:
    """A request or a notification of one sender, in the versions from *since* to *until*."""

    name: str
    sender: Sender
    #: The shape of its params.
    params: str
    #: The shape of its result, or None if it is a notification.
    result: str | None
    #: Whether the params may not be missing.
    params_required: bool = False
    needs: Need | None = None
    #: What is needed to send it as a task (with ``params.task``), or None if it can't be
    #: one. The result of such a request is a ``CreateTaskResult``.
    needs_as_task: Need | None = None
    #: Whether the result may be an ``InputRequiredResult`` instead.
    may_ask: bool = False
    since: str = VERSIONS[0]
    until: str = VERSIONS[-1]

    @property
    def is_request(self) -> bool:
        """Whether it is answered."""
        return self.result is not None

    def holds_in(self, version: str) -> bool:
        """Return whether *version* has it. Versions are dates, and sort as text."""
        return self.since <= version <= self.until


@dataclass(frozen=True, slots=True)
class InputRequest:
    """A request inside an ``InputRequiredResult``, which the client answers in its retry."""

    name: str
    #: The shape of its params.
    params: str
    #: The shape of the answer in ``inputResponses``.
    result: str
    #: Whether the params may not be missing.
    params_required: bool
    #: What the client must have declared.
    needs: Need
