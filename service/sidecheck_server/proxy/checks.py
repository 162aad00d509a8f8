"""Checks that the proxy and the gateways ask for, of services in the process or of a server."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from sidecheck_server.core.repair.types import Repairs
from sidecheck_server.core.types import Verdict
from sidecheck_server.proxy.messages import Direction, Message
from sidecheck_server.services.checks import SubjectReport
from sidecheck_server.services.prepared_targets import ValidationOutcome
from sidecheck_server.services.targets import InlineTool, RegisteredTool

__all__ = [
    "CallTarget",
    "Checks",
    "MessageSession",
    "NotCheckedError",
    "RegistryChecks",
    "SessionClosedError",
    "ToolVerdicts",
]

#: What a call and its result are validated against.
CallTarget: TypeAlias = InlineTool | RegisteredTool


class NotCheckedError(Exception):
    """There is no verdict; *reason* is an error reason of the API, or one of the proxy.

    *is_unavailable* says that no server answered, so that a later attempt may succeed.
    """

    def __init__(self, reason: str, message: str = "", is_unavailable: bool = False) -> None:  # noqa: FBT001, FBT002  (restored from its arguments when it is copied)
        super().__init__(reason, message, is_unavailable)
        self.reason = reason
        self.message = message
        self.is_unavailable = is_unavailable


class SessionClosedError(NotCheckedError):
    """A session ended before its outcome; another one may begin with the same message."""


@dataclass(frozen=True, slots=True)
class ToolVerdicts:
    """The verdicts on the definitions of a list, in order, and on the list around them."""

    tools: tuple[Verdict, ...]
    container: Verdict


class MessageSession(Protocol):
    """The messages of one connection, each checked after those before it."""

    async def check(self, message: bytes, sender: Direction, http_status: int) -> SubjectReport:
        """Return the report on the next *message*.

        *http_status* is that of the response of HTTP to it, or 0.

        Raises:
            NotCheckedError: there is no report; `SessionClosedError` if the session has ended.
        """
        ...

    async def close(self) -> None:
        """End the session."""
        ...


class Checks(Protocol):
    """The checks. Each raises `NotCheckedError` if it has no outcome."""

    @property
    def passes_unavailable(self) -> bool:
        """Whether a message passes that no server could check."""
        ...

    async def open_session(self, protocol_version: str, *, from_beginning: bool) -> MessageSession:
        """Return a session under *protocol_version*, "" for the one that its peers agree on."""
        ...

    async def validate_call(
        self,
        target: CallTarget,
        call: Message,
        protocol_version: str,
        repairs: Repairs | None,
        *,
        follows_protocol: bool,
    ) -> ValidationOutcome:
        """Return the outcome of the params of *call*, with locations in them.

        *follows_protocol* says that its session found no fault in them.
        """
        ...

    async def validate_result(
        self,
        target: CallTarget,
        response: Message,
        protocol_version: str,
        *,
        follows_protocol: bool,
    ) -> ValidationOutcome:
        """Return the outcome of the result of *response*, with locations in it.

        *follows_protocol* says that its session found no fault in it.
        """
        ...

    async def check_tools(self, tools_list: bytes, protocol_version: str) -> ToolVerdicts:
        """Return the verdicts on *tools_list*, the JSON text of a result of ``tools/list``."""
        ...


class RegistryChecks(Checks, Protocol):
    """The checks, and the registry that gateways keep tools in."""

    async def registered_tool(self, server: str, name: str) -> bytes:
        """Return the definition of a registered tool; the reason is UNKNOWN_TOOL without one."""
        ...

    async def register(
        self, server: str, definitions: Sequence[bytes], protocol_version: str
    ) -> list[bool]:
        """Register *definitions*; return which of them were not rejected."""
        ...

    async def delete(self, server: str, names: Sequence[str]) -> None:
        """Delete the registered tools called *names*."""
        ...
