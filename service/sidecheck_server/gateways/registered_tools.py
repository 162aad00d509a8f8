"""The tools of a server behind a gateway: learned from what it lists, kept in the registry."""

from collections import OrderedDict
from collections.abc import Mapping

from sidecheck_server.config.policies import Policy
from sidecheck_server.core.types import JsonValue
from sidecheck_server.proxy.checks import NotCheckedError, RegistryChecks
from sidecheck_server.proxy.definition_checks import (
    DefinitionChecks,
    ListedTool,
    input_schema_of,
    not_listed,
    not_pinned,
)
from sidecheck_server.proxy.listing_pages import EndlessListError, ListPages
from sidecheck_server.proxy.messages import Message, string_value
from sidecheck_server.proxy.pending import Request
from sidecheck_server.proxy.pins import PinnedTools
from sidecheck_server.proxy.report import Findings, finding_of_error
from sidecheck_server.proxy.rulings import Ruling
from sidecheck_server.services.targets import RegisteredTool

__all__ = ["RegisteredTools"]

_METHOD = "tools/list"
_MOST_DROPPED = 10_000
_MOST_CALLED = 1_000


class RegisteredTools:
    """The tools in the namespace *server* of the registry.

    A server may list other tools to other clients, so a tool that a list lacks stays, and
    counts until the server lists another definition of it. For the same reason no list says
    that a tool does not exist: one that is unknown has not been listed yet.
    """

    def __init__(
        self,
        checks: RegistryChecks,
        server: str,
        policy: Policy,
        pins: PinnedTools,
        findings: Findings,
    ) -> None:
        self._service = checks
        self._server = server
        self._findings = findings
        self._checks = DefinitionChecks(checks, policy, pins, findings, repeats=True)
        self._pages = ListPages()
        self._dropped: OrderedDict[str, None] = OrderedDict()
        #: Definitions of the tools that were called last.
        self._definitions: OrderedDict[str, bytes] = OrderedDict()

    @property
    def filters(self) -> bool:
        """Whether tools may be taken out of a list, or are reported."""
        return self._checks.active

    @property
    def is_pinned(self) -> bool:
        """Whether only tools of a lock file may be called."""
        return self._checks.is_pinned

    def expire(self) -> None:
        """Do nothing: the registry is read for each call."""

    def is_dropped(self, name: str) -> bool:
        """Return whether a tool called *name* was taken out of the list."""
        return name in self._dropped

    def input_schema(self, call: Message) -> JsonValue:
        """Return the input schema of the tool that *call* names, None if it is unknown."""
        return input_schema_of(self._definitions.get(string_value(call.params.get("name")), b""))

    async def find(self, name: str, _params: Mapping[str, bytes]) -> RegisteredTool | None:
        """Return the registered tool called *name*, None if it is dropped.

        Raises:
            NotCheckedError: ``TOOLS_NOT_LISTED``, ``TOOLS_NOT_PINNED``, or the registry cannot be
                read.
            LockFileError: the lock file of another process cannot be used.
        """
        if self.is_dropped(name):
            return None
        try:
            definition = await self._service.registered_tool(self._server, name)
        except NotCheckedError as error:
            if error.reason != "UNKNOWN_TOOL":
                raise
            raise not_listed("the server has not listed the tool yet") from None
        self._checks.check_pinned()
        if not self._checks.admits(name, definition):
            # Registered by others, or listed before the set was pinned.
            raise not_pinned("the registered tool is not the pinned one")
        self._definitions[name] = definition
        self._definitions.move_to_end(name)
        if len(self._definitions) > _MOST_CALLED:
            self._definitions.popitem(last=False)
        return RegisteredTool(self._server, name)

    async def rule_result(self, response: Message, request: Request) -> Ruling:
        """Return what becomes of *response*, the page of tools that *request* asks for."""

        async def learn(page: Mapping[str, bytes], tools: list[ListedTool]) -> list[ListedTool]:
            following = string_value(page.get("nextCursor"))
            names = None
            try:
                names = self._pages.add(request.cursor, tools, following)
            except EndlessListError as error:
                self._checks.report_endless(str(error))
            if names is not None:
                self._checks.complete(names)
                tools = [self._checks.apply_pins(tool) for tool in tools]
            await self.learn(tools, request.version)
            return tools

        return await self._checks.rule_page(response, request.version, learn)

    async def learn(self, tools: list[ListedTool], version: str) -> None:
        """Register *tools*, listed under the protocol *version*, but for dropped ones."""
        removed = set()
        for tool in tools:
            if tool.dropped and tool.name not in self._dropped:
                removed.add(tool.name)
            self._dropped.pop(tool.name, None)
            if tool.dropped:
                self._dropped[tool.name] = None
        while len(self._dropped) > _MOST_DROPPED:
            self._dropped.popitem(last=False)
        kept = [tool for tool in tools if not tool.dropped]
        try:
            if kept:
                removed |= await self._register(kept, version)
        except NotCheckedError as error:
            self._findings.add(finding_of_error(error, "server", _METHOD, passes=True))
            # What they were before is not what they are.
            removed |= {tool.name for tool in kept}
        try:
            if names := sorted(removed - {""}):
                await self._service.delete(self._server, names)
        except NotCheckedError as error:
            self._findings.add(finding_of_error(error, "server", _METHOD, passes=True))

    async def _register(self, tools: list[ListedTool], version: str) -> set[str]:
        """Register *tools*; return the names of those that are no definitions.

        Raises:
            NotCheckedError: the registry cannot be written.
        """
        definitions = [tool.definition for tool in tools]
        accepted = await self._service.register(self._server, definitions, version)
        return {
            tool.name for tool, is_accepted in zip(tools, accepted, strict=True) if not is_accepted
        }
