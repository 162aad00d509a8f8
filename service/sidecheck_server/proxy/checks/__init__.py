"""Port of the checks that the proxy and the gateways use."""

# Decision 0060: adapters implement this port by the services in this process or by a server.

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from sidecheck_server.core.types import Verdict
from sidecheck_server.proxy.messages import Direction, Message
from sidecheck_server.services.targets import InlineTool, RegisteredTool

if TYPE_CHECKING:
    # The relay uses this port before the services are imported.
    from sidecheck_server.core.repair.types import Repairs
    from sidecheck_server.services.checks import SubjectReport
    from sidecheck_server.services.prepared_targets import ValidationOutcome

__all__ = [
    "CallTarget",
    "Checks",
    "MessageSession",
    "NotCheckedError",
    "RegistryChecks",
    "SessionClosedError",
    "ToolVerdicts",
]

#: Target to validate a call and its result against.
CallTarget: TypeAlias = InlineTool | RegisteredTool


class NotCheckedError(Exception):
    """No verdict was possible; *reason* is an error reason of the API or of the proxy.

    With *is_unavailable*, no server responded, so that a later attempt may succeed.
    """

    def __init__(self, reason: str, message: str = "", is_unavailable: bool = False) -> None:  # noqa: FBT001, FBT002  (copy() restores an exception from its positional arguments)
        super().__init__(reason, message, is_unavailable)
        self.reason = reason
        self.message = message
        self.is_unavailable = is_unavailable


class SessionClosedError(NotCheckedError):
    """The session ended before the outcome; another session can check the message."""


@dataclass(frozen=True, slots=True)
class ToolVerdicts:
    """Verdicts on a tool list."""

    #: Verdicts on the definitions, in order.
    tools: tuple[Verdict, ...]
    #: Verdict on the enclosing list.
    container: Verdict


class MessageSession(Protocol):
    """Checks of the messages of one connection, in order."""

    async def check(self, message: bytes, sender: Direction, http_status: int) -> "SubjectReport":
        """Return the report on the next *message*.

        *http_status* is the status of the HTTP response to the message, or 0.

        Raises:
            NotCheckedError: the check was not possible; `SessionClosedError` if the session has
                ended.
        """
        ...

    async def close(self) -> None:
        """End the session."""
        ...


class Checks(Protocol):
    """Checks of messages, calls and tools. Each raises `NotCheckedError` on failure."""

    @property
    def passes_unavailable(self) -> bool:
        """Whether messages pass while no server is available."""
        ...

    async def open_session(self, protocol_version: str, *, from_beginning: bool) -> MessageSession:
        """Return a session under *protocol_version*, "" for the negotiated one."""
        ...

    async def validate_call(
        self,
        target: CallTarget,
        call: Message,
        protocol_version: str,
        repairs: "Repairs | None",
        *,
        follows_protocol: bool,
        assert_formats: bool = False,
    ) -> "ValidationOutcome":
        """Return the outcome for the params of *call*, with locations relative to them.

        With *follows_protocol*, the check of the session found no fault in the params. With
        *assert_formats*, ``format`` of the schema is an assertion.
        """
        ...

    async def validate_result(
        self,
        target: CallTarget,
        response: Message,
        protocol_version: str,
        *,
        follows_protocol: bool,
        assert_formats: bool = False,
    ) -> "ValidationOutcome":
        """Return the outcome for the result of *response*, with locations relative to it.

        With *follows_protocol*, the check of the session found no fault in the result. With
        *assert_formats*, ``format`` of the schema is an assertion.
        """
        ...

    async def check_tools(self, tools_list: bytes, protocol_version: str) -> ToolVerdicts:
        """Return the verdicts on *tools_list*, JSON text of a ``tools/list`` result."""
        ...


class RegistryChecks(Checks, Protocol):
    """Checks, and access to the registry, in which gateways keep tools."""

    async def registered_tool(self, server: str, name: str) -> bytes:
        """Return the definition of a registered tool; fail with UNKNOWN_TOOL if there is none."""
        ...

    async def register(
        self, server: str, definitions: Sequence[bytes], protocol_version: str
    ) -> list[bool]:
        """Register *definitions*; return whether each was accepted."""
        ...

    async def delete(self, server: str, names: Sequence[str]) -> None:
        """Delete the registered tools *names*."""
        ...
