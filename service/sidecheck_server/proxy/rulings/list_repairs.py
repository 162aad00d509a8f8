"""Repairs of lists of a server: faulty items and optional properties are left out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from sidecheck_server.config.policies import Policy
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.proxy.checks import Checks, MessageSession, NotCheckedError
from sidecheck_server.proxy.messages import (
    Message,
    join_array,
    join_object,
    read_items,
    read_message,
    result_response,
)
from sidecheck_server.proxy.report import Action, Findings, finding_of
from sidecheck_server.proxy.rulings.message_checks import CheckOutcome
from sidecheck_server.proxy.rulings.pending import Request
from sidecheck_server.proxy.rulings.ruling import action_on

__all__ = ["ListRepairs"]

_PROPERTIES: Final[Mapping[str, str]] = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""Property of the result that has the list, by method."""

_OPTIONAL: Final = frozenset({"nextCursor", "_meta"})
"""Properties of a list's result that every version of the published schema leaves out of
``required``."""


@dataclass(slots=True)
class _ListRepair:
    """Faults of a list that leaving out parts of it repairs."""

    #: Indexes of items to leave out.
    items: set[int] = field(default_factory=set)
    #: Names of properties of the result to leave out.
    properties: set[str] = field(default_factory=set)
    #: The violations that the repair removes.
    violations: list[Violation] = field(default_factory=list)

    def apply(self, response: Message, key: str) -> bytes:
        """Return the text of *response*, whose list is the property *key*, without the parts."""
        page = response.result or {}
        items = read_items(page[key]) or []
        passed = [item for index, item in enumerate(items) if index not in self.items]
        result = {name: text for name, text in page.items() if name not in self.properties}
        if self.items:
            result[key] = join_array(passed)
        return response.with_property("result", join_object(result))


class ListRepairs:
    """Finds the parts of a list to leave out.

    If a verdict does not list all errors, parts of the list are checked one by one, in sessions
    of their own: at most about twice as many checks as the logarithm of the length, for each
    faulty item.
    """

    def __init__(self, checks: Checks, policy: Policy, report: Findings) -> None:
        self._checks = checks
        self._policy = policy
        self._report = report

    async def repair(
        self,
        response: Message,
        request: Request,
        outcome: CheckOutcome,
        *,
        includes_items: bool,
    ) -> Message | None:
        """Return *response* without the parts of its list that are at fault; report these.

        None if it has no list, or other parts are at fault. Unless *includes_items*, other
        checks decide on the items.
        """
        try:
            repair = await self._find(response, request, outcome, includes_items=includes_items)
        except NotCheckedError:
            return None
        if repair is None:
            return None
        method = request.method
        for violation in repair.violations:
            self._report.add(finding_of(violation, "server", method, "", Action.DROPPED, ""))
        for violation in outcome.violations:
            if violation.severity is not Severity.ERROR or violation.code in outcome.exempt:
                action = action_on(violation, self._policy, None)
                self._report.add(finding_of(violation, "server", method, "", action, ""))
        repaired = read_message(repair.apply(response, _PROPERTIES[method]))
        assert isinstance(repaired, Message), "a repaired message is a message"
        return repaired

    async def _find(
        self,
        response: Message,
        request: Request,
        outcome: CheckOutcome,
        *,
        includes_items: bool,
    ) -> _ListRepair | None:
        """Return the repair of *response* to *request*, None if there is none.

        Raises:
            NotCheckedError: a part could not be checked.
        """
        key = _PROPERTIES.get(request.method)
        page = response.result
        if key is None or page is None or not response.is_json_rpc:
            return None
        if outcome.blocking_ambiguity or outcome.failure:
            return None
        items = read_items(page.get(key, b""))
        if items is None:
            return None
        if not includes_items:
            items = []
        repair = _ListRepair()
        if outcome.is_complete and outcome.is_strict_json:
            return repair if _collect(repair, outcome, key, range(len(items))) else None
        session = await self._checks.open_session(request.version, from_beginning=False)
        try:
            search = _Search(session, request, page, key, items)
            return repair if await search.run(repair, outcome) else None
        finally:
            await session.close()


class _Search:
    """Search for faulty items of a list, by checks of its halves."""

    def __init__(
        self,
        session: MessageSession,
        request: Request,
        page: Mapping[str, bytes],
        key: str,
        items: list[bytes],
    ) -> None:
        self._session = session
        self._request = request
        self._page = dict(page)
        self._key = key
        self._items = items
        self._ids = count(1)

    async def run(self, repair: _ListRepair, outcome: CheckOutcome) -> bool:
        """Add the faults of the whole list to *repair*; return whether that is possible."""
        ranges = [range(len(self._items))]
        while ranges:
            part = ranges.pop()
            for name in repair.properties:
                self._page.pop(name, None)
            checked = await self._check(part, outcome)
            if checked.is_complete and checked.is_strict_json:
                if not _collect(repair, checked, self._key, part):
                    return False
            elif len(part) > 1:
                middle = len(part) // 2
                ranges += [part[middle:], part[:middle]]
            elif len(part) == 1 and checked.first_error is not None:
                repair.items.add(part[0])
                location = f"/result/{self._key}/{part[0]}"
                fault = replace(checked.first_error, instance_location=location)
                repair.violations.append(fault)
            else:
                return False
        return True

    async def _check(self, part: range, outcome: CheckOutcome) -> CheckOutcome:
        """Return the outcome for the list with only the items in *part*."""
        items = join_array(self._items[index] for index in part)
        result = join_object({**self._page, self._key: items})
        id_ = b"%d" % next(self._ids)
        method = f'"{self._request.method}"'.encode()
        request = join_object({"jsonrpc": b'"2.0"', "id": id_, "method": method})
        await self._session.check(request, "client", 0)
        report = await self._session.check(result_response(id_, result), "server", 0)
        verdict = report.verdict
        return CheckOutcome(
            verdict.violations,
            is_complete=not verdict.truncated,
            is_truncated=verdict.truncated,
            exempt=outcome.exempt,
        )


def _collect(repair: _ListRepair, outcome: CheckOutcome, key: str, indexes: range) -> bool:
    """Add the errors of *outcome* to *repair*; return whether leaving out parts removes all.

    The checked list has the items at *indexes* of the whole list.
    """
    for violation in _blocking(outcome):
        parts = violation.instance_location.split("/")
        match parts:
            case ["", "result", name, index, *rest] if name == key and index.isdecimal():
                position = indexes[int(index)]
                repair.items.add(position)
                location = "/".join(["", "result", key, str(position), *rest])
            case ["", "result", name, *_] if name in _OPTIONAL:
                repair.properties.add(name)
                location = violation.instance_location
            case _:
                return False
        repair.violations.append(replace(violation, instance_location=location))
    return True


def _blocking(outcome: CheckOutcome) -> Iterable[Violation]:
    return (
        violation
        for violation in outcome.violations
        if violation.severity is Severity.ERROR and violation.code not in outcome.exempt
    )
