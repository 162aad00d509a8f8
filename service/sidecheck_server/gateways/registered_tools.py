"""Tools of a server behind a gateway, learned from its lists, in the registry."""

from collections import OrderedDict
from collections.abc import Mapping

from sidecheck_server.config.exemptions import NO_EXEMPTIONS, Exemptions
from sidecheck_server.config.policies import Policy
from sidecheck_server.core.types import JsonValue
from sidecheck_server.proxy.checks import NotCheckedError, RegistryChecks
from sidecheck_server.proxy.messages import Message, string_value
from sidecheck_server.proxy.report import Action, Findings, finding_of_error
from sidecheck_server.proxy.rulings.definition_checks import (
    DefinitionChecks,
    ListedTool,
    input_schema_of,
    not_listed,
    not_pinned,
)
from sidecheck_server.proxy.rulings.listing_pages import (
    EndlessListError,
    ListPages,
    read_next_cursor,
)
from sidecheck_server.proxy.rulings.pending import Request
from sidecheck_server.proxy.rulings.pins import PinnedTools
from sidecheck_server.proxy.rulings.ruling import Ruling
from sidecheck_server.services.targets import RegisteredTool

__all__ = ["RegisteredTools"]

_METHOD = "tools/list"
_MAX_DROPPED_TOOLS = 10_000
_MAX_CACHED_DEFINITIONS = 1_000


class RegisteredTools:
    """Tools in the namespace *server* of the registry.

    A server may list different tools to different clients. So a tool that is missing in a list
    stays registered, with its last listed definition, and an unknown tool counts as not listed
    yet rather than as nonexistent.
    """

    def __init__(
        self,
        checks: RegistryChecks,
        server: str,
        policy: Policy,
        pins: PinnedTools,
        findings: Findings,
        allow: Exemptions = NO_EXEMPTIONS,
    ) -> None:
        self._registry = checks
        self._server = server
        self._findings = findings
        self._checks = DefinitionChecks(checks, policy, pins, findings, allow, repeats=True)
        self._pages = ListPages()
        self._dropped: OrderedDict[str, None] = OrderedDict()
        #: Definitions of the most recently called tools.
        self._definitions: OrderedDict[str, bytes] = OrderedDict()

    @property
    def checks_lists(self) -> bool:
        """Whether listed tools are checked, so that they may be reported or dropped."""
        return self._checks.is_active

    @property
    def uses_pins(self) -> bool:
        """Whether clients may call only the tools of a lock file."""
        return self._checks.uses_pins

    def expire(self) -> None:
        """Do nothing: the registry is read for each call."""

    def is_dropped(self, name: str) -> bool:
        """Return whether the tool *name* was removed from the list."""
        return name in self._dropped

    def input_schema(self, call: Message) -> JsonValue:
        """Return the input schema of the tool that *call* names, None if it is unknown."""
        return input_schema_of(self._definitions.get(string_value(call.params.get("name")), b""))

    async def find(self, name: str, _params: Mapping[str, bytes]) -> RegisteredTool | None:
        """Return the registered tool *name*, None if it is dropped.

        Raises:
            NotCheckedError: ``TOOLS_NOT_LISTED``, ``TOOLS_NOT_PINNED``, or the registry cannot be
                read.
            LockFileError: the lock file of another process cannot be used.
        """
        if self.is_dropped(name):
            return None
        try:
            definition = await self._registry.registered_tool(self._server, name)
        except NotCheckedError as error:
            if error.reason != "UNKNOWN_TOOL":
                raise
            raise not_listed("the server has not listed the tool yet") from None
        self._checks.check_pinned()
        if not self._checks.admits(name, definition):
            # Another client registered it, or the server listed it before the set was pinned.
            raise not_pinned("the registered tool is not the pinned one")
        self._definitions[name] = definition
        self._definitions.move_to_end(name)
        if len(self._definitions) > _MAX_CACHED_DEFINITIONS:
            self._definitions.popitem(last=False)
        return RegisteredTool(self._server, name)

    async def rule_result(self, response: Message, request: Request) -> Ruling:
        """Return the ruling on *response*, the page of tools that *request* asks for."""

        async def learn(page: Mapping[str, bytes], tools: list[ListedTool]) -> list[ListedTool]:
            next_cursor = read_next_cursor(page, request.version)
            names = None
            try:
                names = self._pages.add(request.cursor, tools, next_cursor)
            except EndlessListError as error:
                self._checks.report_endless(str(error))
            if names is not None:
                self._checks.complete(names)
                tools = [self._checks.apply_pins(tool) for tool in tools]
            await self.learn(tools, request.version)
            return tools

        return await self._checks.rule_page(response, request.version, learn)

    async def learn(self, tools: list[ListedTool], version: str) -> None:
        """Register *tools*, listed under the protocol *version*, except dropped tools.

        Delete tools that were dropped just before or that cannot be registered.
        """
        # Decision 0061: a list adds and changes tools; absence from a list removes none.
        removed = set()
        for tool in tools:
            if tool.dropped and tool.name not in self._dropped:
                removed.add(tool.name)
            self._dropped.pop(tool.name, None)
            if tool.dropped:
                self._dropped[tool.name] = None
        while len(self._dropped) > _MAX_DROPPED_TOOLS:
            self._dropped.popitem(last=False)
        passed_tools = [tool for tool in tools if not tool.dropped]
        try:
            if passed_tools:
                removed |= await self._register(passed_tools, version)
        except NotCheckedError as error:
            self._findings.add(finding_of_error(error, "server", _METHOD, action=Action.PASSED))
            # The registered definitions may be out of date.
            removed |= {tool.name for tool in passed_tools}
        try:
            if names := sorted(removed - {""}):
                await self._registry.delete(self._server, names)
        except NotCheckedError as error:
            self._findings.add(finding_of_error(error, "server", _METHOD, action=Action.PASSED))

    async def _register(self, tools: list[ListedTool], version: str) -> set[str]:
        """Register *tools*; return the names of those that the registry rejected.

        Raises:
            NotCheckedError: the registry cannot be written.
        """
        definitions = [tool.definition for tool in tools]
        accepted = await self._registry.register(self._server, definitions, version)
        return {
            tool.name for tool, is_accepted in zip(tools, accepted, strict=True) if not is_accepted
        }
