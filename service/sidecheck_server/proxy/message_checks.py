"""Messages as such: checked by the rules of the protocol and of the session, and ruled on."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sidecheck_server.config.policies import Policy
from sidecheck_server.core.payload import UNREADABLE_CODES
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.proxy.checks import (
    Checks,
    MessageSession,
    NotCheckedError,
    SessionClosedError,
)
from sidecheck_server.proxy.messages import INVALID_REQUEST, PARSE_ERROR, Direction, Message
from sidecheck_server.proxy.pending import PendingRequests
from sidecheck_server.proxy.report import Action, Findings, finding_of, finding_of_error
from sidecheck_server.proxy.rulings import (
    Ruling,
    passes_unvalidated,
    reject,
    unvalidated_reason,
    with_id,
)

__all__ = ["PEERS", "CheckOutcome", "MessageChecks", "MessageRulings"]

PEERS: Mapping[Direction, Direction] = {"client": "server", "server": "client"}


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Outcome of the check of a message, or of a batch."""

    violations: tuple[Violation, ...] = ()
    #: The JSON-RPC error for the sender of a request.
    error_response: bytes = b""
    #: Why there was no check.
    failure: NotCheckedError | None = None
    #: Why readers may take the message for different ones.
    ambiguity: Violation | None = None
    #: Whether there was a check, whose violations are all here.
    is_complete: bool = False
    #: Whether there are more violations than these, of which the errors come first.
    is_truncated: bool = False
    #: The protocol version by which it was checked; "" if unknown.
    version: str = ""
    #: The method as whose request or result all of it was checked; "" if unknown.
    method: str = ""

    @property
    def first_error(self) -> Violation | None:
        """The first violation that makes the message invalid; None if it is valid."""
        errors = (each for each in self.violations if each.severity is Severity.ERROR)
        return next(errors, None) if self.violations else None

    @property
    def fault(self) -> str:
        """The first error in words, without values of the message."""
        first = self.ambiguity or self.first_error
        return f"{first.code} at {first.instance_location or 'its root'}" if first else "invalid"

    @property
    def reported(self) -> tuple[Violation, ...]:
        """The violations, with the ambiguity, which may be one of them."""
        found = self.ambiguity
        if found is None or any(each.code == found.code for each in self.violations):
            return self.violations
        return (*self.violations, found)

    @property
    def is_strict_json(self) -> bool:
        """Whether the message was read as JSON without repeated keys."""
        return self.is_complete and not any(
            each.code in UNREADABLE_CODES for each in self.violations
        )

    def has(self, code: str, location: str) -> bool:
        """Return whether there is a violation of *code* at *location*."""
        return any(
            (each.code, each.instance_location) == (code, location) for each in self.violations
        )

    def is_clean(self, location: str, method: str, version: str) -> bool:
        """Return whether the rules of *method* in *version* have no fault at *location*."""
        return (
            self.is_complete
            and (self.method, self.version) == (method, version)
            and not any(
                not each.instance_location or each.instance_location.startswith(location)
                for each in self.violations
            )
        )

    def ambiguous(self, found: Violation | None) -> "CheckOutcome":
        """Return the outcome for a message that *found* makes ambiguous, if it does."""
        return self if found is None or self.ambiguity else replace(self, ambiguity=found)

    def without(self, location: str) -> "CheckOutcome":
        """Return the outcome without what is at *location* or inside, which is another's matter."""
        if not self.violations:
            return self
        own = [each for each in self.violations if not each.instance_location.startswith(location)]
        return replace(self, violations=tuple(own))

    def split(self, items: int) -> "tuple[CheckOutcome, list[CheckOutcome]]":
        """Return the outcomes of a batch without its *items*, and of each of these."""
        by_item: list[list[Violation]] = [[] for _ in range(items)]
        own = []
        for violation in self.violations:
            index, _, rest = violation.instance_location[1:].partition("/")
            if index.isdecimal() and int(index) < items:
                location = f"/{rest}" if rest else ""
                by_item[int(index)].append(replace(violation, instance_location=location))
            else:
                own.append(violation)
        whole = replace(self, violations=tuple(own))
        outcomes = [CheckOutcome(tuple(violations)) for violations in by_item]
        if self.is_truncated and self.first_error is not None:
            # Items without an error may have one that was left out.
            unknown = CheckOutcome((Violation("", "", "", "LIMIT_EXCEEDED", ""),))
            outcomes = [unknown if item.first_error is None else item for item in outcomes]
        return whole, outcomes


class MessageChecks:
    """The messages of both sides, each checked after those before it.

    If the session ends early, the next begins with the message that it ended at, and knows
    nothing of those before.
    """

    def __init__(
        self, checks: Checks, policy: Policy, protocol_version: str, *, from_beginning: bool
    ) -> None:
        self._checks = checks
        self._policy = policy
        self._version = protocol_version
        self._session: MessageSession | None = None
        self._from_beginning = from_beginning
        self._opening = asyncio.Lock()

    async def check(self, text: bytes, sender: Direction, http_status: int) -> CheckOutcome:
        """Return the outcome for the next message; an empty one if the policy is off."""
        if self._policy is Policy.OFF:
            return CheckOutcome()
        try:
            try:
                return await self._check(text, sender, http_status)
            except SessionClosedError:
                return await self._check(text, sender, http_status)
        except NotCheckedError as error:
            return CheckOutcome(failure=error)

    async def reset(self) -> None:
        """Begin another session, in its middle, with the next message."""
        async with self._opening:
            self._from_beginning = False
            await self.close()

    async def close(self) -> None:
        """End the session."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _open(self) -> MessageSession:
        async with self._opening:
            if self._session is None:
                self._session = await self._checks.open_session(
                    self._version, from_beginning=self._from_beginning
                )
                self._from_beginning = False
            return self._session

    async def _check(self, text: bytes, sender: Direction, http_status: int) -> CheckOutcome:
        """Check in the open session, or in another.

        Raises:
            NotCheckedError: there is no outcome; `SessionClosedError` if the session has ended.
        """
        session = self._session or await self._open()
        try:
            report = await session.check(text, sender, http_status)
        except SessionClosedError:
            async with self._opening:
                # The other side may have noticed before, and opened another.
                if self._session is session:
                    await self.close()
            raise
        verdict = report.verdict
        return CheckOutcome(
            verdict.violations,
            report.error_response,
            is_complete=not verdict.truncated,
            is_truncated=verdict.truncated,
            version=report.version,
            method=report.method,
        )


class MessageRulings:
    """Rules on messages by their checks; *pending* are the requests of each side."""

    def __init__(
        self,
        checks: Checks,
        policy: Policy,
        report: Findings,
        pending: Mapping[Direction, PendingRequests],
    ) -> None:
        self._checks = checks
        self._policy = policy
        self._report = report
        self._pending = pending

    def rejects(self, checked: CheckOutcome) -> bool:
        """Return whether what was *checked* does not pass as a message."""
        if checked.failure is not None:
            return not passes_unvalidated(self._checks, checked.failure, self._policy)
        if checked.ambiguity is not None:
            return True
        return checked.first_error is not None and self._policy is Policy.ENFORCE

    def report_and_decide(
        self,
        checked: CheckOutcome,
        sender: Direction,
        method: str = "",
        tool: str = "",
        *,
        is_rejected: bool = False,
    ) -> bool:
        """Report what was *checked*, and return whether it passes as a message."""
        rejects = self.rejects(checked)
        action = Action.REJECTED if rejects or is_rejected else Action.PASSED
        for violation in checked.reported:
            self._report.add(finding_of(violation, sender, method, tool, action, ""))
        if checked.failure is not None:
            passes = action is Action.PASSED
            self._report.add(finding_of_error(checked.failure, sender, method, passes=passes))
        return not rejects

    def reject(self, message: Message, sender: Direction, checked: CheckOutcome) -> Ruling:
        """Return the ruling on a *message* that what was *checked* rejects."""
        if message.is_response:
            request = self._pending[PEERS[sender]].find(message.id)
            if request is None:
                return Ruling()
            self._pending[PEERS[sender]].remove(request)
        if checked.failure is not None:
            return reject(message, unvalidated_reason(checked.failure))
        if message.is_request and checked.error_response:
            return Ruling(reply=with_id(checked.error_response, message))
        if message.is_response:
            return reject(message, f"the response is invalid: {checked.fault}")
        if checked.ambiguity is not None and checked.ambiguity.code == "PAYLOAD_NOT_JSON":
            return reject(message, "Parse error: not JSON", PARSE_ERROR)
        return reject(message, f"Invalid request: {checked.fault}", INVALID_REQUEST)
