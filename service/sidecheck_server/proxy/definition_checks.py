"""Checks of listed tools: by the rules of definitions, and against pinned ones."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeAlias

import msgspec

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
from sidecheck_server.proxy.pins import PinnedTools
from sidecheck_server.proxy.report import Action, Finding, Findings, finding_of, finding_of_error
from sidecheck_server.proxy.rulings import Ruling, passes_unvalidated, reject, unvalidated_reason

__all__ = ["DefinitionChecks", "ListedTool", "input_schema_of", "not_listed", "not_pinned"]

_METHOD = "tools/list"
_TOO_LARGE = "LIMIT_EXCEEDED"
_MOST_REPORTED = 10_000


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One tool of a list."""

    name: str
    #: JSON text.
    definition: bytes
    #: Whether it is taken out of the list.
    dropped: bool = False


#: Takes the properties of a page of tools and the tools in it, and returns these, as they are
#: dropped or not by then. Raises `NotCheckedError` if they cannot be validated by.
Learn: TypeAlias = Callable[[Mapping[str, bytes], list[ListedTool]], Awaitable[list[ListedTool]]]


class DefinitionChecks:
    """Checks the definitions in results of ``tools/list``, and reports what is wrong.

    Violations of one definition are reported once, or with *repeats* each time it is listed.
    """

    def __init__(
        self,
        checks: Checks,
        policy: Policy,
        pins: PinnedTools,
        report: Findings,
        *,
        repeats: bool = False,
    ) -> None:
        self._checks = checks
        self._policy = policy
        self._pins = pins
        self._report = report
        self._repeats = repeats
        #: Digests of definitions whose violations have been reported.
        self._reported: set[bytes] = set()

    @property
    def active(self) -> bool:
        """Whether tools may be taken out of a list, or are reported."""
        return self.is_pinned or self._policy is not Policy.OFF

    @property
    def is_pinned(self) -> bool:
        """Whether only tools of a lock file may be called."""
        return self._pins.active

    async def rule_page(self, response: Message, version: str, learn: Learn) -> Ruling:
        """Return what becomes of *response*, a page of tools; *learn* gets those in it."""
        listed = response.properties["result"]
        page = read_object(listed) or {}
        definitions = read_items(page.get("tools", b""))
        if definitions is None:
            return Ruling(response.text)
        try:
            tools = await learn(page, await self.check(listed, definitions, version))
        except NotCheckedError as error:
            passes = passes_unvalidated(self._checks, error, self._policy)
            self._report.add(finding_of_error(error, "server", _METHOD, passes=passes))
            if passes:
                return Ruling(response.text)
            return reject(response, unvalidated_reason(error))
        kept = [tool.definition for tool in tools if not tool.dropped]
        if len(kept) == len(tools):
            return Ruling(response.text)
        result = join_object({**page, "tools": join_array(kept)})
        return Ruling(response.with_property("result", result))

    async def check(
        self, result: bytes, definitions: list[bytes], version: str
    ) -> list[ListedTool]:
        """Return the tools of a page, and report those that are not as they should be."""
        invalid = await self._invalid(result, definitions, version)
        entries = []
        for index, definition in enumerate(definitions):
            name = _name_of(definition)
            dropped = index in invalid and self._policy is Policy.ENFORCE
            self._pins.note_listed(name, definition)
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
            NotCheckedError: they could not be checked, and invalid ones must not pass.
        """
        if self._policy is Policy.OFF:
            return set()
        try:
            verdicts = await self._verdicts(result, definitions, version)
        except NotCheckedError as error:
            if not passes_unvalidated(self._checks, error, self._policy):
                raise
            self._report.add(finding_of_error(error, "server", _METHOD, passes=True))
            return set()
        invalid = set()
        for index, verdict in enumerate(verdicts):
            action = Action.PASSED
            if not verdict.valid:
                invalid.add(index)
                action = Action.DROPPED if self._policy is Policy.ENFORCE else action
            if not self._repeats:
                digest = sha256(definitions[index]).digest()
                if digest in self._reported:
                    continue
                if len(self._reported) < _MOST_REPORTED:
                    self._reported.add(digest)
            for violation in verdict.violations:
                inside = f"/result/tools/{index}"
                name = _name_of(definitions[index])
                self._report.add(finding_of(violation, "server", _METHOD, name, action, inside))
        return invalid

    async def _verdicts(
        self, result: bytes, definitions: list[bytes], version: str
    ) -> Sequence[Verdict]:
        """Return the verdict on each definition of a page.

        Raises:
            NotCheckedError: they could not be checked.
        """
        check = self._checks.check_tools
        try:
            checked = await check(result, version)
            if len(checked.tools) == len(definitions):
                return checked.tools
        except NotCheckedError as error:
            if error.reason != _TOO_LARGE:
                raise
        # One that cannot be read says nothing about the others.
        verdicts: list[Verdict] = []
        for definition in definitions:
            try:
                checked = await check(b'{"tools":[%s]}' % definition, version)
                verdicts += checked.tools or (checked.container,)
            except NotCheckedError as error:
                if error.reason != _TOO_LARGE:
                    raise
                verdicts.append(Verdict((Violation("", "", "", error.reason, error.message),)))
        return verdicts

    def admits(self, name: str, definition: bytes) -> bool:
        """Return whether a tool called *name* may have *definition*, by what is pinned."""
        return self._pins.admits(name, definition)

    def apply_pins(self, entry: ListedTool) -> ListedTool:
        """Return *entry*, dropped if it is not as it was pinned meanwhile, by another client."""
        is_dropped = entry.dropped or not self._pins.admits(entry.name, entry.definition)
        return replace(entry, dropped=is_dropped)

    @property
    def is_settled(self) -> bool:
        """Whether tools are pinned, or need not be."""
        return not self.is_pinned or self._pins.is_pinned()

    def check_pinned(self) -> None:
        """Check that tools are pinned, if they are to be.

        Raises:
            NotCheckedError: ``TOOLS_NOT_PINNED``.
            LockFileError: the lock file of another process cannot be used.
        """
        if not self.is_settled:
            raise not_pinned("the tools of the server are not pinned yet")

    def complete(self, names: Collection[str]) -> None:
        """Report the pinned tools that a complete list of *names* lacks; pin it if none is.

        Raises:
            LockFileError: the lock file cannot be written.
        """
        for difference in self._pins.complete(names):
            self._add(difference.code, difference.text, difference.name)

    def report_endless(self, reason: str) -> None:
        """Report, for *reason*, that a list is not complete, if tools are pinned."""
        if self.is_pinned:
            self._add("TOOLS_NOT_PINNED", f"the list is not taken for complete: {reason}")

    def _add(self, code: str, note: str, tool: str = "") -> None:
        self._report.add(Finding(sender="server", method=_METHOD, tool=tool, code=code, note=note))


def _name_of(definition: bytes) -> str:
    return string_value((read_object(definition) or {}).get("name"))


def input_schema_of(definition: bytes) -> JsonValue:
    """Return the input schema in the JSON text *definition*, None if it cannot be read."""
    schema = (read_object(definition) or {}).get("inputSchema", b"null")
    try:
        value: JsonValue = read_json(schema)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value


def not_listed(message: str) -> NotCheckedError:
    """Return the error of a call whose tool cannot be known."""
    return NotCheckedError("TOOLS_NOT_LISTED", message)


def not_pinned(message: str) -> NotCheckedError:
    """Return the error of a call while tools are to be pinned and are not."""
    return NotCheckedError("TOOLS_NOT_PINNED", message)
