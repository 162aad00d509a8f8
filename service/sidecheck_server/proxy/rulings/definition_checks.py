"""Checks of listed tools, by the rules of definitions and against the lock file."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeAlias

import msgspec

from sidecheck_server.config.exemptions import NO_CODES, NO_EXEMPTIONS, Exemptions
from sidecheck_server.config.policies import Policy
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.types import JsonValue, Verdict, Violation
from sidecheck_server.proxy.checks import Checks, NotCheckedError
from sidecheck_server.proxy.messages import (
    Message,
    join_array,
    join_object,
    read_items,
    read_object,
    string_value,
)
from sidecheck_server.proxy.report import Action, Finding, Findings, finding_of, finding_of_error
from sidecheck_server.proxy.rulings.pins import PinnedTools
from sidecheck_server.proxy.rulings.ruling import (
    Ruling,
    action_on,
    decide_unvalidated,
    find_fault,
    reject,
    unvalidated_reason,
)

__all__ = ["DefinitionChecks", "ListedTool", "input_schema_of", "not_listed", "not_pinned"]

_METHOD = "tools/list"
_TOO_LARGE = "LIMIT_EXCEEDED"
_MAX_REPORTED_DIGESTS = 10_000


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One tool of a list."""

    name: str
    #: JSON text.
    definition: bytes
    #: Whether the tool is removed from the list.
    dropped: bool = False


#: Stores the tools of a page. Arguments: properties of the page, and its tools. Returns the tools;
#: pins may have dropped more of them. Raises `NotCheckedError` if the tools cannot be stored.
Learn: TypeAlias = Callable[[Mapping[str, bytes], list[ListedTool]], Awaitable[list[ListedTool]]]


class DefinitionChecks:
    """Checks the definitions in results of ``tools/list``, and reports their faults.

    The violations of a definition are reported once, or with *repeats* each time it is listed.
    """

    def __init__(
        self,
        checks: Checks,
        policy: Policy,
        pins: PinnedTools,
        report: Findings,
        allow: Exemptions = NO_EXEMPTIONS,
        *,
        repeats: bool = False,
    ) -> None:
        self._checks = checks
        self._policy = policy
        self._pins = pins
        self._report = report
        self._allow = allow
        self._repeats = repeats
        #: Digests of definitions whose violations have been reported.
        self._reported_digests: set[bytes] = set()

    @property
    def is_active(self) -> bool:
        """Whether listed tools are checked, so that they may be reported or dropped."""
        return self.uses_pins or self._policy is not Policy.OFF

    @property
    def uses_pins(self) -> bool:
        """Whether clients may call only the tools of a lock file."""
        return self._pins.is_active

    async def rule_page(self, response: Message, version: str, learn: Learn) -> Ruling:
        """Return the ruling on *response*, a page of tools, which *learn* stores."""
        result_text = response.properties["result"]
        page = read_object(result_text) or {}
        definitions = read_items(page.get("tools", b""))
        if definitions is None:
            return Ruling(response.text)
        try:
            tools = await learn(page, await self.check(result_text, definitions, version))
        except NotCheckedError as error:
            action = self._decide_unvalidated(error)
            self._report.add(finding_of_error(error, "server", _METHOD, action=action))
            if action is not Action.REJECTED:
                return Ruling(response.text)
            return reject(response, unvalidated_reason(error))
        passed_definitions = [tool.definition for tool in tools if not tool.dropped]
        if len(passed_definitions) == len(tools):
            return Ruling(response.text)
        result = join_object({**page, "tools": join_array(passed_definitions)})
        return Ruling(response.with_property("result", result))

    async def check(
        self, result: bytes, definitions: list[bytes], version: str
    ) -> list[ListedTool]:
        """Return the tools of a page; report those that are invalid or not pinned."""
        invalid = await self._find_invalid(result, definitions, version)
        entries = []
        for index, definition in enumerate(definitions):
            name = _name_of(definition)
            dropped = index in invalid
            self._pins.note_definition(name, definition)
            if not self._pins.admits(name, definition):
                difference = self._pins.find_difference(name, definition)
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

    async def _find_invalid(
        self, result: bytes, definitions: list[bytes], version: str
    ) -> set[int]:
        """Return the indexes of definitions to drop; report the violations of all.

        Raises:
            NotCheckedError: the check failed, and unchecked definitions must not pass.
        """
        if self._policy is Policy.OFF:
            return set()
        try:
            verdicts = await self._verdicts(result, definitions, version)
        except NotCheckedError as error:
            action = self._decide_unvalidated(error)
            if action is Action.REJECTED:
                raise
            self._report.add(finding_of_error(error, "server", _METHOD, action=action))
            return set()
        invalid = set()
        for index, verdict in enumerate(verdicts):
            name = _name_of(definitions[index])
            rejection = None
            if self._policy is Policy.ENFORCE and self._is_at_fault(verdict, name):
                invalid.add(index)
                rejection = Action.DROPPED
            if not self._repeats:
                digest = sha256(definitions[index]).digest()
                if digest in self._reported_digests:
                    continue
                if len(self._reported_digests) < _MAX_REPORTED_DIGESTS:
                    self._reported_digests.add(digest)
            for violation in verdict.violations:
                base = f"/result/tools/{index}"
                action = action_on(violation, self._policy, rejection)
                self._report.add(finding_of(violation, "server", _METHOD, name, action, base))
        return invalid

    def _is_at_fault(self, verdict: Verdict, name: str) -> bool:
        """Return whether *verdict* has errors that drop the tool *name*."""
        exempt = self._allow.find(_METHOD, name)
        is_truncated = verdict.truncated
        return find_fault(verdict.violations, exempt, is_truncated=is_truncated) is not None

    def _decide_unvalidated(self, error: NotCheckedError) -> Action:
        """Return the action on a list whose check *error* prevented."""
        # The lock file of pinned tools has no exemptions.
        exempt = NO_CODES if self.uses_pins else self._allow.find(_METHOD)
        return decide_unvalidated(self._checks, error, self._policy, exempt)

    async def _verdicts(
        self, result: bytes, definitions: list[bytes], version: str
    ) -> Sequence[Verdict]:
        """Return the verdict on each definition of a page.

        Raises:
            NotCheckedError: the check failed.
        """
        check = self._checks.check_tools
        try:
            page_verdicts = await check(result, version)
            if len(page_verdicts.tools) == len(definitions):
                return page_verdicts.tools
        except NotCheckedError as error:
            if error.reason != _TOO_LARGE:
                raise
        # Checked one by one, because one unreadable definition makes the whole list unreadable.
        verdicts: list[Verdict] = []
        for definition in definitions:
            try:
                tool_verdicts = await check(b'{"tools":[%s]}' % definition, version)
                verdicts += tool_verdicts.tools or (tool_verdicts.container,)
            except NotCheckedError as error:
                if error.reason != _TOO_LARGE:
                    raise
                verdicts.append(Verdict((Violation("", "", "", error.reason, error.message),)))
        return verdicts

    def admits(self, name: str, definition: bytes) -> bool:
        """Return whether the pinned tools admit *definition* for the tool *name*."""
        return self._pins.admits(name, definition)

    def apply_pins(self, entry: ListedTool) -> ListedTool:
        """Return *entry*, dropped unless the pinned tools admit it.

        The list of another client may have been completed, and pinned, during the check.
        """
        is_dropped = entry.dropped or not self._pins.admits(entry.name, entry.definition)
        return replace(entry, dropped=is_dropped)

    @property
    def is_settled(self) -> bool:
        """Whether tools are pinned, or pinning is off."""
        return not self.uses_pins or self._pins.is_pinned()

    def check_pinned(self) -> None:
        """Check that tools are pinned, or that pinning is off.

        Raises:
            NotCheckedError: ``TOOLS_NOT_PINNED``.
            LockFileError: the lock file of another process cannot be used.
        """
        if not self.is_settled:
            raise not_pinned("the tools of the server are not pinned yet")

    def complete(self, names: Collection[str]) -> None:
        """Pin a complete list of *names*, or report the pinned tools that it lacks.

        Raises:
            LockFileError: the lock file cannot be written.
        """
        for difference in self._pins.complete(names):
            self._add(difference.code, difference.text, difference.name)

    def report_endless(self, reason: str) -> None:
        """Report that a list is incomplete because of *reason*, if pinning is on."""
        if self.uses_pins:
            self._add("TOOLS_NOT_PINNED", f"the list counts as incomplete: {reason}")

    def _add(self, code: str, note: str, tool: str = "") -> None:
        self._report.add(Finding(sender="server", method=_METHOD, tool=tool, code=code, note=note))


def _name_of(definition: bytes) -> str:
    return string_value((read_object(definition) or {}).get("name"))


def input_schema_of(definition: bytes) -> JsonValue:
    """Return the input schema in *definition*, None if it cannot be read."""
    schema = (read_object(definition) or {}).get("inputSchema", b"null")
    try:
        value: JsonValue = read_json(schema)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value


def not_listed(message: str) -> NotCheckedError:
    """Return the error of a call whose tool the server has not listed."""
    return NotCheckedError("TOOLS_NOT_LISTED", message)


def not_pinned(message: str) -> NotCheckedError:
    """Return the error of a call whose tool is not pinned."""
    return NotCheckedError("TOOLS_NOT_PINNED", message)
