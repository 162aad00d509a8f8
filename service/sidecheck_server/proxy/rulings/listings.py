"""Tools of one connection's server, learned from its ``tools/list`` results."""

from collections.abc import Collection, Mapping
from copy import copy
from functools import partial

from sidecheck_server.config.exemptions import NO_EXEMPTIONS, Exemptions
from sidecheck_server.config.policies import Policy
from sidecheck_server.core.types import JsonValue
from sidecheck_server.proxy.checks import Checks, NotCheckedError
from sidecheck_server.proxy.messages import (
    Message,
    join_object,
    read_items,
    string_value,
)
from sidecheck_server.proxy.report import Findings
from sidecheck_server.proxy.rulings.definition_checks import (
    DefinitionChecks,
    ListedTool,
    input_schema_of,
    not_listed,
    not_pinned,
)
from sidecheck_server.proxy.rulings.listing_pages import (
    PROTOCOL_VERSION,
    EndlessListError,
    ListingFailed,
    ListPages,
    ListTools,
    SharedFetch,
    client_metadata,
    read_next_cursor,
)
from sidecheck_server.proxy.rulings.pending import Request
from sidecheck_server.proxy.rulings.pins import PinnedTools
from sidecheck_server.proxy.rulings.ruling import Ruling
from sidecheck_server.services.targets import InlineTool

__all__ = ["Listings"]


_MAX_PAGES = 1_000
_MAX_BYTES = 64 << 20
_MAX_UNKNOWN_NAMES = 1_000


class Listings:
    """Tools of one connection, as its ``tools/list`` results define them."""

    def __init__(
        self,
        checks: Checks,
        policy: Policy,
        pins: PinnedTools,
        report: Findings,
        list_tools: ListTools,
        allow: Exemptions = NO_EXEMPTIONS,
    ) -> None:
        self._checks = DefinitionChecks(checks, policy, pins, report, allow)
        self._list_tools = list_tools
        self._tools: dict[str, InlineTool] = {}
        #: Bytes of the tools that were learned since the last complete list.
        self._learned_bytes = 0
        self._dropped: set[str] = set()
        self._pages = ListPages()
        self._is_current = False
        #: Names of called tools that a complete list lacked.
        self._unknown: set[str] = set()
        #: Error of the last fetch, if retries are pointless.
        self._failure: NotCheckedError | None = None
        self._shared_fetch = SharedFetch()

    @property
    def checks_lists(self) -> bool:
        """Whether listed tools are checked, so that they may be reported or dropped."""
        return self._checks.is_active

    def expire(self) -> None:
        """Mark the tools as outdated, because the server has changed them."""
        self._is_current = False
        self._unknown.clear()
        self._pages.clear()
        self._failure = None

    @property
    def uses_pins(self) -> bool:
        """Whether clients may call only the tools of a lock file."""
        return self._checks.uses_pins

    def is_dropped(self, name: str) -> bool:
        """Return whether the tool *name* was removed from the list."""
        return name in self._dropped

    def input_schema(self, call: Message) -> JsonValue:
        """Return the input schema of the tool that *call* names, None if it is unknown."""
        definition = self._tools.get(string_value(call.params.get("name")))
        if definition is None:
            return None
        return input_schema_of(definition.json)

    async def find(self, name: str, params: Mapping[str, bytes]) -> InlineTool | None:
        """Return the definition of *name* for a call with *params*, None if unknown.

        If the tool is unknown or the tools are outdated, fetch the list of the server first.

        Raises:
            NotCheckedError: ``TOOLS_NOT_LISTED``, or the list could not be checked.
        """
        is_known = name in self._tools or name in self._dropped or name in self._unknown
        if not (self._is_current and is_known):
            if self._failure is not None:
                # A copy, because raising an exception adds to its traceback.
                raise copy(self._failure)
            await self._shared_fetch.run(partial(self._fetch, params))
        if name not in self._tools and len(self._unknown) < _MAX_UNKNOWN_NAMES:
            self._unknown.add(name)
        return self._tools.get(name)

    async def rule_result(self, response: Message, request: Request) -> Ruling:
        """Return the ruling on *response*, the page that *request* asks for."""

        async def learn(page: Mapping[str, bytes], tools: list[ListedTool]) -> list[ListedTool]:
            self._failure = None
            next_cursor = read_next_cursor(page, request.version)
            self._learn(tools)
            try:
                names = self._pages.add(request.cursor, tools, next_cursor)
            except EndlessListError as error:
                self._checks.report_endless(str(error))
                return tools
            if names is None:
                return tools
            self._complete(names)
            return [self._checks.apply_pins(tool) for tool in tools]

        return await self._checks.rule_page(response, request.version, learn)

    async def _fetch(self, params: Mapping[str, bytes]) -> None:
        """Fetch all pages of the list, with the client's metadata from *params*.

        Raises:
            NotCheckedError: there is no list, or it could not be checked.
        """
        metadata = client_metadata(params)
        version = string_value(metadata.get(PROTOCOL_VERSION))
        list_params: dict[str, bytes] = {"_meta": join_object(metadata)} if metadata else {}
        entries: list[ListedTool] = []
        size = 0
        cursors: set[str] = set()
        is_complete = False
        for _ in range(_MAX_PAGES):
            try:
                response = await self._list_tools(list_params)
            except ListingFailed as error:
                failure = not_listed("the server did not respond to tools/list in time")
                self._failure = failure if error.blocks_client else None
                raise failure from None
            page = response.result
            definitions = None if page is None else read_items(page.get("tools", b""))
            if page is None or definitions is None:
                raise not_listed("the server did not list its tools")
            size += len(response.text)
            if size > _MAX_BYTES:
                raise not_listed("the list of tools is too large")
            entries += await self._checks.check(response.properties["result"], definitions, version)
            cursor = read_next_cursor(page, version)
            is_complete = cursor is None
            if cursor is None or cursor in cursors:
                break
            cursors.add(cursor)
            list_params["cursor"] = page["nextCursor"]
        if not is_complete and self._checks.uses_pins:
            self._checks.report_endless("its cursors form a cycle, or it has too many pages")
            # Stored, so that later calls do not fetch as many pages again.
            self._failure = not_pinned("the list of tools has no end")
            raise copy(self._failure)
        self._learn(entries)
        self._complete({entry.name for entry in entries})
        try:
            self._checks.check_pinned()
        except NotCheckedError as failure:
            self._failure = failure
            raise copy(failure) from None

    def _learn(self, entries: list[ListedTool]) -> None:
        self._learned_bytes += sum(len(entry.name) + len(entry.definition) for entry in entries)
        if self._learned_bytes > _MAX_BYTES:
            # The next call then fetches the whole list, whose size `_fetch` bounds.
            self._is_current = False
            self._tools.clear()
            self._dropped.clear()
            self._learned_bytes = 0
        for entry in entries:
            self._tools.pop(entry.name, None)
            self._dropped.discard(entry.name)
            if entry.dropped:
                self._dropped.add(entry.name)
            else:
                self._tools[entry.name] = InlineTool(entry.definition)

    def _complete(self, names: Collection[str]) -> None:
        """Process a complete list of *names*: remove other tools, and pin the list.

        Raises:
            LockFileError: the list could not be pinned.
        """
        self._checks.complete(names)
        for name in self._tools.keys() - names:
            del self._tools[name]
        self._dropped.intersection_update(names)
        # Tools that were learned before the set was pinned may differ from it.
        for name, tool in list(self._tools.items()):
            if not self._checks.admits(name, tool.json):
                del self._tools[name]
                self._dropped.add(name)
        self._learned_bytes = 0
        self._is_current = self._checks.is_settled
