"""The tools that a server lists: learned for the validation of calls, and filtered."""

from collections.abc import Mapping
from copy import copy
from functools import partial

from sidecheck import Client, SidecheckError, ToolDefinition

from sidecheck_server.core.types import JsonValue
from sidecheck_server.policies import Policy
from sidecheck_server.proxy.definition_checks import (
    DefinitionChecks,
    ListedTool,
    input_schema_of,
    not_listed,
)
from sidecheck_server.proxy.listing_pages import ListPages, SharedFetch
from sidecheck_server.proxy.listing_requests import (
    PROTOCOL_VERSION,
    ListingFailed,
    ListTools,
    client_metadata,
)
from sidecheck_server.proxy.messages import (
    Message,
    join_object,
    read_items,
    string_value,
)
from sidecheck_server.proxy.pending import Request
from sidecheck_server.proxy.pins import PinnedTools
from sidecheck_server.proxy.report import Findings
from sidecheck_server.proxy.rulings import Ruling

__all__ = ["Listings"]


_MOST_PAGES = 1_000
_MOST_BYTES = 64 << 20
_MOST_UNKNOWN = 1_000


class Listings:
    """The tools of one connection, by what its ``tools/list`` results say."""

    def __init__(
        self,
        client: Client,
        policy: Policy,
        pins: PinnedTools,
        report: Findings,
        list_tools: ListTools,
    ) -> None:
        self._checks = DefinitionChecks(client, policy, pins, report)
        self._list_tools = list_tools
        self._tools: dict[str, ToolDefinition] = {}
        self._dropped: set[str] = set()
        self._pages = ListPages()
        self._current = False
        #: Names that a complete list lacked when they were called.
        self._unknown: set[str] = set()
        #: Why the server is not asked again for its list.
        self._failure: SidecheckError | None = None
        self._fetching = SharedFetch()

    @property
    def filters(self) -> bool:
        """Whether tools may be taken out of a list, or are reported."""
        return self._checks.active

    def expire(self) -> None:
        """Note that the server's tools have changed."""
        self._current = False
        self._unknown.clear()
        self._pages.clear()
        self._failure = None

    @property
    def is_pinned(self) -> bool:
        """Whether only tools of a lock file may be called."""
        return self._checks.is_pinned

    def is_dropped(self, name: str) -> bool:
        """Return whether a tool called *name* was taken out of the list."""
        return name in self._dropped

    def input_schema(self, call: Message) -> JsonValue:
        """Return the input schema of the tool that *call* names, None if it is unknown."""
        definition = self._tools.get(string_value(call.params.get("name")))
        if definition is None:
            return None
        assert isinstance(definition.json, bytes)
        return input_schema_of(definition.json)

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

        async def learn(page: Mapping[str, bytes], tools: list[ListedTool]) -> list[ListedTool]:
            self._failure = None
            following = string_value(page.get("nextCursor"))
            listed = self._pages.add(request.cursor, tools, following)
            if listed is not None:
                self._complete(listed)
                tools = [self._checks.apply_pins(tool) for tool in tools]
            self._learn(tools)
            return tools

        return await self._checks.rule_page(response, request.version, learn)

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
                failure = not_listed("the server did not respond to tools/list in time")
                self._failure = failure if failed.holds_up else None
                raise failure from None
            page = response.result
            definitions = None if page is None else read_items(page.get("tools", b""))
            if page is None or definitions is None:
                raise not_listed("the server did not list its tools")
            size += len(response.text)
            if size > _MOST_BYTES:
                raise not_listed("the list of tools is too large")
            pages += await self._checks.check(response.properties["result"], definitions, version)
            cursor = page.get("nextCursor", b"")
            if not string_value(cursor) or cursor in seen:
                break
            seen.add(cursor)
            asked["cursor"] = cursor
        self._complete(pages)
        self._learn([self._checks.apply_pins(entry) for entry in pages])

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
        self._checks.complete(entries)
