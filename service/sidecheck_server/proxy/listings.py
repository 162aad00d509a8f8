"""The tools that a server lists: learned for the validation of calls, and filtered."""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from hashlib import sha256

import msgspec
from sidecheck import Client, ProtocolContext, SidecheckError, ToolDefinition

from sidecheck_server.core.types import JsonValue
from sidecheck_server.proxy.listing_pages import ListedTool, ListPages, SharedFetch
from sidecheck_server.proxy.listing_requests import (
    PROTOCOL_VERSION,
    ListingFailed,
    ListTools,
    client_metadata,
)
from sidecheck_server.proxy.messages import (
    Message,
    join_array,
    join_object,
    read_list,
    read_object,
    string_value,
)
from sidecheck_server.proxy.pending import Request
from sidecheck_server.proxy.pins import PinnedTools
from sidecheck_server.proxy.policies import Policy
from sidecheck_server.proxy.report import Action, Finding, Report, finding_of, finding_of_error
from sidecheck_server.proxy.rulings import Ruling, passes_unvalidated, reject, unvalidated_reason

__all__ = ["Listings"]


_METHOD = "tools/list"
_MOST_PAGES = 1_000
_MOST_BYTES = 64 << 20
_MOST_UNKNOWN = 1_000
_MOST_REPORTED = 10_000


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
        self._pages = ListPages()
        self._current = False
        #: Names that a complete list lacked when they were called.
        self._unknown: set[str] = set()
        #: Digests of definitions whose violations have been reported.
        self._reported: set[bytes] = set()
        #: Why the server is not asked again for its list.
        self._failure: SidecheckError | None = None
        self._fetching = SharedFetch()

    @property
    def filters(self) -> bool:
        """Whether tools may be taken out of a list, or are reported."""
        return self._pins.active or self._policy is not Policy.OFF

    def expire(self) -> None:
        """Note that the server's tools have changed."""
        self._current = False
        self._unknown.clear()
        self._pages.clear()
        self._failure = None

    @property
    def is_pinned(self) -> bool:
        """Whether only tools of a lock file may be called."""
        return self._pins.active

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
        try:
            value: JsonValue = msgspec.json.decode(schema)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return value

    async def find(self, name: str, params: Mapping[str, bytes]) -> ToolDefinition | None:
        """Return the definition of the tool called *name*, which a call with *params* names.

        If it is unknown, or the tools have changed, the server is asked for its list.

        Raises:
            SidecheckError: ``TOOLS_NOT_LISTED``, or the list could not be checked.
        """
        is_known = name in self._tools or name in self._dropped or name in self._unknown
        if not (self._current and is_known):
            if self._failure is not None:
                # A copy, because raising an exception adds to its traceback.
                raise copy(self._failure)
            await self._fetching.run(partial(self._fetch, params))
        if name not in self._tools and len(self._unknown) < _MOST_UNKNOWN:
            self._unknown.add(name)
        return self._tools.get(name)

    async def rule_result(self, response: Message, request: Request) -> Ruling:
        """Return what becomes of *response*, the page that *request* asks for."""
        listed = response.properties["result"]
        try:
            kept = await self._receive(request, listed)
        except SidecheckError as error:
            passes = passes_unvalidated(self._client, error, self._policy)
            self._report.add(finding_of_error(error, "server", _METHOD, passes=passes))
            if passes:
                return Ruling(response.text)
            return reject(response, unvalidated_reason(error))
        return Ruling(response.text if kept is listed else response.with_property("result", kept))

    async def _receive(self, request: Request, result: bytes) -> bytes:
        """Learn the tools of *result*, the client's page, and return what the client gets.

        Raises:
            SidecheckError: the list could not be checked.
        """
        page = read_object(result) or {}
        definitions = read_list(page.get("tools", b""))
        if definitions is None:
            return result
        entries = await self._check_page(result, definitions, request.version)
        self._failure = None
        whole = self._pages.add(request.cursor, entries, string_value(page.get("nextCursor")))
        if whole is not None:
            self._complete(whole)
            entries = [self._apply_pins(entry) for entry in entries]
        self._learn(entries)
        if not any(entry.dropped for entry in entries):
            return result
        kept = [entry.definition for entry in entries if not entry.dropped]
        return join_object({**page, "tools": join_array(kept)})

    async def _fetch(self, params: Mapping[str, bytes]) -> None:
        """Ask the server for all pages of its list, as the client of *params* would.

        Raises:
            SidecheckError: there is no list, or it could not be checked.
        """
        own = client_metadata(params)
        version = string_value(own.get(PROTOCOL_VERSION))
        asked: dict[str, bytes] = {"_meta": join_object(own)} if own else {}
        pages: list[ListedTool] = []
        size = 0
        seen: set[bytes] = set()
        for _ in range(_MOST_PAGES):
            try:
                response = await self._list_tools(asked)
            except ListingFailed as failed:
                failure = _not_listed("the server did not respond to tools/list in time")
                self._failure = failure if failed.holds_up else None
                raise failure from None
            page = response.result
            definitions = None if page is None else read_list(page.get("tools", b""))
            if page is None or definitions is None:
                raise _not_listed("the server did not list its tools")
            size += len(response.text)
            if size > _MOST_BYTES:
                raise _not_listed("the list of tools is too large")
            pages += await self._check_page(response.properties["result"], definitions, version)
            cursor = page.get("nextCursor", b"")
            if not string_value(cursor) or cursor in seen:
                break
            seen.add(cursor)
            asked["cursor"] = cursor
        self._complete(pages)
        self._learn([self._apply_pins(entry) for entry in pages])

    async def _check_page(
        self, result: bytes, definitions: list[bytes], version: str
    ) -> list[ListedTool]:
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
            entries.append(ListedTool(name, definition, dropped))
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
            if not passes_unvalidated(self._client, error, self._policy):
                raise
            self._report.add(finding_of_error(error, "server", _METHOD, passes=True))
            return set()
        invalid = set()
        for index, tool in enumerate(checked.outcomes):
            action = Action.PASSED
            if not tool.verdict.valid:
                invalid.add(index)
                action = Action.DROPPED if self._policy is Policy.ENFORCE else action
            digest = sha256(definitions[index]).digest()
            if digest in self._reported:
                continue
            if len(self._reported) < _MOST_REPORTED:
                self._reported.add(digest)
            for violation in tool.verdict.violations:
                inside = f"/result/tools/{index}"
                self._report.add(
                    finding_of(violation, "server", _METHOD, tool.name, action, inside)
                )
        return invalid

    def _apply_pins(self, entry: ListedTool) -> ListedTool:
        """Return *entry*, dropped if it is not as it was pinned meanwhile, by another proxy."""
        is_dropped = entry.dropped or not self._pins.admits(entry.name, entry.definition)
        return replace(entry, dropped=is_dropped)

    def _learn(self, entries: list[ListedTool]) -> None:
        for entry in entries:
            self._tools.pop(entry.name, None)
            self._dropped.discard(entry.name)
            if entry.dropped:
                self._dropped.add(entry.name)
            else:
                self._tools[entry.name] = ToolDefinition(entry.definition)

    def _complete(self, entries: list[ListedTool]) -> None:
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
