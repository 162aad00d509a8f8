"""The tools that a server lists: learned for the validation of calls, and filtered."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import msgspec
from sidecheck import Client, ProtocolContext, SidecheckError, ToolDefinition

from sidecheck_server.core.types import JsonValue
from sidecheck_server.proxy.messages import (
    Message,
    join_object,
    read_list,
    read_object,
    string_value,
)
from sidecheck_server.proxy.pins import PinnedTools
from sidecheck_server.proxy.policies import Policy
from sidecheck_server.proxy.report import Action, Finding, Report, finding_of

__all__ = ["ListTools", "ListingFailed", "Listings"]

#: Sends a ``tools/list`` request with these params, as JSON texts, and returns its response.
#: Raises `ListingFailed` if there is none.
ListTools: TypeAlias = Callable[[Mapping[str, bytes]], Awaitable[Message]]

_METHOD = "tools/list"
_MOST_PAGES = 1_000
_MOST_UNKNOWN = 1_000

_REQUEST_METADATA = (
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
)
"""Metadata that describes the client in each request (2026-07-28, basic, "_meta")."""


class ListingFailed(Exception):
    """The server does not respond to ``tools/list``."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One tool of a list."""

    name: str
    definition: bytes
    dropped: bool = False


class Listings:
    """The tools of one connection, by what its ``tools/list`` results say."""

    def __init__(
        self,
        client: Client,
        policy: Policy,
        pins: PinnedTools,
        report: Report,
        list_tools: ListTools,
    ) -> None:
        self._client = client
        self._policy = policy
        self._pins = pins
        self._report = report
        self._list_tools = list_tools
        self._tools: dict[str, ToolDefinition] = {}
        self._dropped: set[str] = set()
        #: Tools of the pages so far of a list that the client fetches.
        self._pages: list[_Entry] = []
        self._current = False
        #: Names that a complete list lacked when they were called.
        self._unknown: set[str] = set()
        #: Definitions whose violations have been reported.
        self._reported: set[bytes] = set()

    @property
    def filters(self) -> bool:
        """Whether tools may be taken out of a list, or are reported."""
        return self._pins.active or self._policy is not Policy.OFF

    def expire(self) -> None:
        """Note that the server's tools have changed."""
        self._current = False
        self._unknown.clear()

    def is_dropped(self, name: str) -> bool:
        """Return whether a tool called *name* was taken out of the list."""
        return name in self._dropped

    def input_schema(self, call: Message) -> JsonValue:
        """Return the input schema of the tool that *call* names, None if it is unknown."""
        definition = self._tools.get(string_value(call.params.get("name")))
        if definition is None:
            return None
        assert isinstance(definition.json, bytes)
        schema = (read_object(definition.json) or {}).get("inputSchema", b"null")
        value: JsonValue = msgspec.json.decode(schema)
        return value

    async def find(self, name: str, params: Mapping[str, bytes]) -> ToolDefinition | None:
        """Return the definition of the tool called *name*, which a call with *params* names.

        If it is unknown, or the tools have changed, the server is asked for its list.

        Raises:
            SidecheckError: ``TOOLS_NOT_LISTED``, or the list could not be checked.
        """
        is_known = name in self._tools or name in self._dropped or name in self._unknown
        if not (self._current and is_known):
            await self._fetch(params)
        if name not in self._tools and len(self._unknown) < _MOST_UNKNOWN:
            self._unknown.add(name)
        return self._tools.get(name)

    async def receive(self, request: Message, result: bytes, version: str) -> bytes:
        """Learn the tools of *result*, the client's page, and return what the client gets."""
        page = read_object(result) or {}
        definitions = read_list(page.get("tools", b""))
        if definitions is None:
            return result
        entries = await self._judge(result, definitions, version)
        if "cursor" not in request.params:
            self._pages = []
        self._pages += entries
        self._learn(entries)
        if not string_value(page.get("nextCursor")):
            self._complete(self._pages)
            self._pages = []
        if not any(entry.dropped for entry in entries):
            return result
        kept = b",".join(entry.definition for entry in entries if not entry.dropped)
        return join_object({**page, "tools": b"[" + kept + b"]"})

    async def _fetch(self, params: Mapping[str, bytes]) -> None:
        """Ask the server for all pages of its list, as the client of *params* would.

        Raises:
            SidecheckError: there is no list, or it could not be checked.
        """
        metadata = read_object(params.get("_meta", b"")) or {}
        own = {name: metadata[name] for name in _REQUEST_METADATA if name in metadata}
        version = string_value(own.get(_REQUEST_METADATA[0]))
        asked: dict[str, bytes] = {"_meta": join_object(own)} if own else {}
        pages: list[_Entry] = []
        seen: set[bytes] = set()
        for _ in range(_MOST_PAGES):
            try:
                response = await self._list_tools(asked)
            except ListingFailed:
                raise _not_listed("the server did not respond to tools/list in time") from None
            page = response.result
            definitions = None if page is None else read_list(page.get("tools", b""))
            if page is None or definitions is None:
                raise _not_listed("the server did not list its tools")
            pages += await self._judge(response.properties["result"], definitions, version)
            cursor = page.get("nextCursor", b"")
            if not string_value(cursor) or cursor in seen:
                break
            seen.add(cursor)
            asked["cursor"] = cursor
        self._learn(pages)
        self._complete(pages)

    async def _judge(self, result: bytes, definitions: list[bytes], version: str) -> list[_Entry]:
        """Return the tools of a page, and report those that are not as they should be."""
        invalid = await self._invalid(result, definitions, version)
        entries = []
        for index, definition in enumerate(definitions):
            name = string_value((read_object(definition) or {}).get("name"))
            dropped = index in invalid and self._policy is Policy.ENFORCE
            if not self._pins.admits(name, definition):
                difference = self._pins.difference(name, definition)
                self._report.add(
                    Finding(
                        sender="server",
                        method=_METHOD,
                        tool=name,
                        code=difference.code,
                        location=f"/result/tools/{index}",
                        action=Action.DROPPED,
                        note=difference.text,
                    )
                )
                dropped = True
            entries.append(_Entry(name, definition, dropped))
        return entries

    async def _invalid(self, result: bytes, definitions: list[bytes], version: str) -> set[int]:
        """Return the indexes of the definitions that are invalid.

        Raises:
            SidecheckError: they could not be checked, and invalid ones must not pass.
        """
        if self._policy is Policy.OFF:
            return set()
        context = ProtocolContext(protocol_version=version)
        try:
            checked = await self._client.protocol.check_tools(result, context=context)
        except SidecheckError as error:
            if self._policy is Policy.ENFORCE and self._client.on_unavailable != "allow":
                raise
            self._report.add(
                Finding(sender="server", method=_METHOD, code=error.reason, note=error.message)
            )
            return set()
        invalid = set()
        for index, tool in enumerate(checked.outcomes):
            action = Action.PASSED
            if not tool.verdict.valid:
                invalid.add(index)
                action = Action.DROPPED if self._policy is Policy.ENFORCE else action
            if definitions[index] in self._reported:
                continue
            self._reported.add(definitions[index])
            for violation in tool.verdict.violations:
                inside = f"/result/tools/{index}"
                self._report.add(
                    finding_of(violation, "server", _METHOD, tool.name, action, inside)
                )
        return invalid

    def _learn(self, entries: list[_Entry]) -> None:
        for entry in entries:
            self._tools.pop(entry.name, None)
            self._dropped.discard(entry.name)
            if entry.dropped:
                self._dropped.add(entry.name)
            else:
                self._tools[entry.name] = ToolDefinition(entry.definition)

    def _complete(self, entries: list[_Entry]) -> None:
        """Note that *entries* are all tools of the server."""
        self._current = True
        names = {entry.name for entry in entries}
        for name in self._tools.keys() - names:
            del self._tools[name]
        self._dropped &= names
        for difference in self._pins.complete({e.name: e.definition for e in entries}):
            self._report.add(
                Finding(
                    sender="server",
                    method=_METHOD,
                    tool=difference.name,
                    code=difference.code,
                    note=difference.text,
                )
            )


def _not_listed(message: str) -> SidecheckError:
    return SidecheckError("TOOLS_NOT_LISTED", message)
