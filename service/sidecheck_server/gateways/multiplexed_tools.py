"""The tools of several servers in one list, as a gateway puts them together."""

from collections.abc import Iterator, Mapping

import msgspec

from sidecheck_server.core.types import JsonValue
from sidecheck_server.gateways.registered_tools import RegisteredTools
from sidecheck_server.proxy.definition_checks import not_listed
from sidecheck_server.proxy.messages import (
    Message,
    join_array,
    join_object,
    read_items,
    read_message,
    read_object,
    result_response,
    string_value,
)
from sidecheck_server.proxy.pending import Request
from sidecheck_server.proxy.rulings import Ruling
from sidecheck_server.services.targets import RegisteredTool

__all__ = ["MultiplexedTools"]

_DELIMITER = "_"


class MultiplexedTools:
    """The tools of *servers*, by their namespaces.

    In a list, the name of a tool begins with that of its server and ``_``. A gateway that adds
    no names of servers does not tell whose a tool is: then it is registered for each of them.
    """

    def __init__(self, servers: Mapping[str, RegisteredTools]) -> None:
        self._servers = servers

    @property
    def filters(self) -> bool:
        """Whether tools may be taken out of a list, or are reported."""
        return any(tools.filters for tools in self._servers.values())

    @property
    def is_pinned(self) -> bool:
        """Whether only tools of a lock file may be called."""
        return any(tools.is_pinned for tools in self._servers.values())

    def expire(self) -> None:
        """Do nothing: the registry is read for each call."""

    def is_dropped(self, _name: str) -> bool:
        """Return False: a call is for one server."""
        return False

    def input_schema(self, _call: Message) -> JsonValue:
        """Return None: a call is for one server."""
        return None

    async def find(self, _name: str, _params: Mapping[str, bytes]) -> RegisteredTool | None:
        """Raise: a call is for one server.

        Raises:
            SidecheckError: ``TOOLS_NOT_LISTED``.
        """
        raise not_listed("the gateway must name one server for a call")

    async def rule_result(self, response: Message, request: Request) -> Ruling:
        """Return what becomes of *response*, a page of the tools of all servers."""
        page = response.result or {}
        definitions = read_items(page.get("tools", b""))
        if definitions is None:
            return Ruling(response.text)
        dropped: set[int] = set()
        for server, own in self._by_server(definitions):
            renamed = list(own.values())
            result = join_object({**page, "tools": join_array(renamed)})
            listed = read_message(result_response(response.properties["id"], result))
            assert isinstance(listed, Message)
            ruling = await self._servers[server].rule_result(listed, request)
            kept = _kept_tools(ruling.forward)
            if kept is None:
                return ruling
            dropped |= {index for index, definition in own.items() if definition not in kept}
        if not dropped:
            return Ruling(response.text)
        kept_tools = [text for index, text in enumerate(definitions) if index not in dropped]
        result = join_object({**page, "tools": join_array(kept_tools)})
        return Ruling(response.with_property("result", result))

    def _by_server(self, definitions: list[bytes]) -> Iterator[tuple[str, dict[int, bytes]]]:
        """Yield the tools of each server by their indexes, under the names that it gave them."""
        names = [string_value((read_object(text) or {}).get("name")) for text in definitions]
        owners = [self._owners(name) for name in names]
        for server in self._servers:
            yield (
                server,
                {
                    index: _rename(definitions[index], names[index].removeprefix(prefix))
                    for index, prefixes in enumerate(owners)
                    if (prefix := prefixes.get(server)) is not None
                },
            )

    def _owners(self, name: str) -> dict[str, str]:
        """Return the servers that may have the tool called *name*, with what it begins with."""
        prefixes = {server: f"{server}{_DELIMITER}" for server in self._servers}
        matching = [server for server, prefix in prefixes.items() if name.startswith(prefix)]
        if not matching:
            return dict.fromkeys(self._servers, "")
        # The gateway reads the name of the server up to the first delimiter.
        owner = min(matching, key=len)
        return {owner: prefixes[owner]}


def _rename(definition: bytes, name: str) -> bytes:
    """Return *definition* under *name*; as it is if it has no other."""
    properties = read_object(definition)
    if properties is None or string_value(properties.get("name")) == name:
        return definition
    return join_object({**properties, "name": msgspec.json.encode(name)})


def _kept_tools(response: bytes | None) -> set[bytes] | None:
    """Return the tools in *response*, a list; None if it is an error."""
    result = read_object((read_object(response or b"") or {}).get("result", b""))
    return None if result is None else set(read_items(result.get("tools", b"")) or [])
