"""What a connection knows of its server's tools, wherever that is kept."""

from collections.abc import Mapping
from typing import Protocol

from sidecheck_server.core.types import JsonValue
from sidecheck_server.proxy.checks import CallTarget
from sidecheck_server.proxy.messages import Message
from sidecheck_server.proxy.pending import Request
from sidecheck_server.proxy.rulings import Ruling

__all__ = ["ToolSource"]


class ToolSource(Protocol):
    """The tools of one server, by what its ``tools/list`` results say."""

    @property
    def filters(self) -> bool:
        """Whether tools may be taken out of a list, or are reported."""
        ...

    @property
    def is_pinned(self) -> bool:
        """Whether only tools of a lock file may be called."""
        ...

    def expire(self) -> None:
        """Note that the server's tools have changed."""
        ...

    def is_dropped(self, name: str) -> bool:
        """Return whether a tool called *name* was taken out of the list."""
        ...

    def input_schema(self, call: Message) -> JsonValue:
        """Return the input schema of the tool that *call* names, None if it is unknown.

        Tools are known once `find` has returned them.
        """
        ...

    async def find(self, name: str, params: Mapping[str, bytes]) -> CallTarget | None:
        """Return what calls of the tool called *name* are validated against, None if unknown.

        *params* are those of the call, as JSON texts.

        Raises:
            NotCheckedError: ``TOOLS_NOT_LISTED``, ``TOOLS_NOT_PINNED``, or the tools cannot be
                read.
        """
        ...

    async def rule_result(self, response: Message, request: Request) -> Ruling:
        """Return what becomes of *response*, the page of tools that *request* asks for."""
        ...
