"""Checks messages by the rules of protocol and session, and decides on them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sidecheck_server.config.exemptions import NO_CODES, ExemptCodes
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
from sidecheck_server.proxy.report import Action, Findings, finding_of, finding_of_error
from sidecheck_server.proxy.rulings.pending import PendingRequests
from sidecheck_server.proxy.rulings.ruling import (
    Ruling,
    action_on,
    decide_unvalidated,
    find_fault,
    reject,
    unvalidated_reason,
    with_id,
)

__all__ = ["PEERS", "CheckOutcome", "MessageChecks", "MessageRulings"]

PEERS: Mapping[Direction, Direction] = {"client": "server", "server": "client"}


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Outcome of the check of a message or of a batch."""

    violations: tuple[Violation, ...] = ()
    #: JSON-RPC error for the sender of a request.
    error_response: bytes = b""
    #: Error that prevented the check.
    failure: NotCheckedError | None = None
    #: Reason why readers may decode the message differently.
    ambiguity: Violation | None = None
    #: Whether the check ran and *violations* has all of its violations.
    is_complete: bool = False
    #: Whether the limit cut off *violations*, which has the errors first.
    is_truncated: bool = False
    #: Protocol version of the check; "" if unknown.
    version: str = ""
    #: Method by whose rules the whole message was checked; "" if unknown.
    method: str = ""
    #: Codes that do not reject the message.
    exempt: ExemptCodes = NO_CODES

    @property
    def first_error(self) -> Violation | None:
        """First violation that makes the message invalid and is not exempt, or None."""
        if not self.violations:
            return None
        return find_fault(self.violations, self.exempt, is_truncated=self.is_truncated)

    @property
    def blocking_ambiguity(self) -> Violation | None:
        """The ambiguity, unless it is exempt."""
        ambiguity = self.ambiguity
        return None if ambiguity is None or ambiguity.code in self.exempt else ambiguity

    @property
    def has_exempt_errors(self) -> bool:
        """Whether it has errors that do not reject the message."""
        return any(
            violation.severity is Severity.ERROR and violation.code in self.exempt
            for violation in self.violations
        )

    @property
    def fault_text(self) -> str:
        """Code and location of the ambiguity or else the first error, without values."""
        fault = self.blocking_ambiguity or self.first_error
        return f"{fault.code} at {fault.instance_location or 'its root'}" if fault else "invalid"

    @property
    def all_violations(self) -> tuple[Violation, ...]:
        """Violations and the ambiguity, unless a violation has the same code."""
        ambiguity = self.ambiguity
        if ambiguity is None or any(
            violation.code == ambiguity.code for violation in self.violations
        ):
            return self.violations
        return (*self.violations, ambiguity)

    @property
    def is_strict_json(self) -> bool:
        """Whether the message is known to be valid JSON without repeated keys."""
        return self.is_complete and not any(
            violation.code in UNREADABLE_CODES for violation in self.violations
        )

    def has_violation(self, code: str, location: str) -> bool:
        """Return whether there is a violation with *code* at *location*."""
        return any(
            (violation.code, violation.instance_location) == (code, location)
            for violation in self.violations
        )

    def is_clean(self, location: str, method: str, version: str) -> bool:
        """Return whether the rules of *method* in *version* find no fault at *location*."""
        return (
            self.is_complete
            and (self.method, self.version) == (method, version)
            and not any(
                not violation.instance_location or violation.instance_location.startswith(location)
                for violation in self.violations
            )
        )

    def with_ambiguity(self, ambiguity: Violation | None) -> "CheckOutcome":
        """Return the outcome with *ambiguity*, unless it is None or one is known already."""
        return self if ambiguity is None or self.ambiguity else replace(self, ambiguity=ambiguity)

    def with_exemptions(self, exempt: ExemptCodes) -> "CheckOutcome":
        """Return the outcome, of which *exempt* codes do not reject the message."""
        return self if exempt == self.exempt else replace(self, exempt=exempt)

    def exclude(self, location: str) -> "CheckOutcome":
        """Return the outcome without the violations at *location* or below it."""
        if not self.violations:
            return self
        remaining = [
            violation
            for violation in self.violations
            if not violation.instance_location.startswith(location)
        ]
        return replace(self, violations=tuple(remaining))

    def split(self, items: int) -> "tuple[CheckOutcome, list[CheckOutcome]]":
        """Return the outcome of a batch as a whole, and that of each of its *items*."""
        by_item: list[list[Violation]] = [[] for _ in range(items)]
        batch_violations = []
        for violation in self.violations:
            index, _, rest = violation.instance_location[1:].partition("/")
            if index.isdecimal() and int(index) < items:
                location = f"/{rest}" if rest else ""
                by_item[int(index)].append(replace(violation, instance_location=location))
            else:
                batch_violations.append(violation)
        batch_outcome = replace(self, violations=tuple(batch_violations))
        outcomes = [CheckOutcome(tuple(violations), exempt=self.exempt) for violations in by_item]
        if self.is_truncated and self.first_error is not None:
            # An item without an error may have one beyond the limit of violations.
            truncated = CheckOutcome((Violation("", "", "", "LIMIT_EXCEEDED", ""),))
            outcomes = [truncated if item.first_error is None else item for item in outcomes]
        return batch_outcome, outcomes


class MessageChecks:
    """Checks the messages of both sides, in order, in a session.

    If the session ends early, the next one begins with the current message, without the state of
    the previous session.
    """

    def __init__(
        self, checks: Checks, policy: Policy, protocol_version: str, *, from_beginning: bool
    ) -> None:
        self._checks = checks
        self._policy = policy
        self._version = protocol_version
        self._session: MessageSession | None = None
        self._from_beginning = from_beginning
        #: Locked while a session is opened or closed.
        self._lock = asyncio.Lock()

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
        """Begin another session, joined mid-session, with the next message."""
        async with self._lock:
            self._from_beginning = False
            await self.close()

    async def close(self) -> None:
        """End the session."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _open(self) -> MessageSession:
        async with self._lock:
            if self._session is None:
                self._session = await self._checks.open_session(
                    self._version, from_beginning=self._from_beginning
                )
                self._from_beginning = False
            return self._session

    async def _check(self, text: bytes, sender: Direction, http_status: int) -> CheckOutcome:
        """Check the message *text* in the open session, or in another one.

        Raises:
            NotCheckedError: the check was not possible; `SessionClosedError` if the session has
                ended.
        """
        session = self._session or await self._open()
        try:
            report = await session.check(text, sender, http_status)
        except SessionClosedError:
            async with self._lock:
                # A message of the other side may have opened another session meanwhile.
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
    """Decides on messages by the outcome of their checks.

    *pending* are the pending requests of each side.
    """

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

    def rejects(self, outcome: CheckOutcome) -> bool:
        """Return whether the policy rejects a message with *outcome*."""
        if outcome.failure is not None:
            return self._decide_unvalidated(outcome, outcome.failure) is Action.REJECTED
        if outcome.blocking_ambiguity is not None:
            return True
        return outcome.first_error is not None and self._policy is Policy.ENFORCE

    def report_and_decide(
        self,
        outcome: CheckOutcome,
        sender: Direction,
        method: str = "",
        tool: str = "",
        *,
        is_rejected: bool = False,
    ) -> bool:
        """Report the violations of *outcome*; return whether *outcome* lets the message pass.

        With *is_rejected*, another check rejects the message, and the report says so.
        """
        rejects = self.rejects(outcome)
        rejection = Action.REJECTED if rejects or is_rejected else None
        for violation in outcome.all_violations:
            # An ambiguity rejects a message under any policy.
            policy = Policy.ENFORCE if violation is outcome.ambiguity else self._policy
            action = action_on(violation, policy, rejection)
            self._report.add(finding_of(violation, sender, method, tool, action, ""))
        if outcome.failure is not None:
            action = rejection or self._decide_unvalidated(outcome, outcome.failure)
            self._report.add(finding_of_error(outcome.failure, sender, method, action=action))
        return not rejects

    def _decide_unvalidated(self, outcome: CheckOutcome, failure: NotCheckedError) -> Action:
        return decide_unvalidated(self._checks, failure, self._policy, outcome.exempt)

    def reject(self, message: Message, sender: Direction, outcome: CheckOutcome) -> Ruling:
        """Return the ruling on a *message* that is rejected because of *outcome*."""
        if message.is_response:
            request = self._pending[PEERS[sender]].find(message.id)
            if request is None:
                return Ruling()
            self._pending[PEERS[sender]].remove(request)
        if outcome.failure is not None:
            return reject(message, unvalidated_reason(outcome.failure))
        # The error of the check may name a violation that is exempt.
        has_error_response = outcome.error_response and not outcome.has_exempt_errors
        if message.is_request and has_error_response:
            return Ruling(reply=with_id(outcome.error_response, message))
        if message.is_response:
            return reject(message, f"the response is invalid: {outcome.fault_text}")
        ambiguity = outcome.blocking_ambiguity
        if ambiguity is not None and ambiguity.code == "PAYLOAD_NOT_JSON":
            return reject(message, "Parse error: not JSON", PARSE_ERROR)
        return reject(message, f"Invalid request: {outcome.fault_text}", INVALID_REQUEST)
