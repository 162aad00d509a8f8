"""Checks of messages as such, by the rules of the protocol and of the session."""

import asyncio
from dataclasses import dataclass, replace

from sidecheck import Client, ProtocolContext, Severity, SidecheckError, StreamClosed, Violation

from sidecheck_server.config.policies import Policy
from sidecheck_server.proxy.report import Direction

__all__ = ["Checked", "MessageChecks"]


@dataclass(frozen=True, slots=True)
class Checked:
    """Outcome of the check of a message, or of a batch."""

    violations: tuple[Violation, ...] = ()
    #: The JSON-RPC error for the sender of a request.
    error_response: bytes = b""
    #: Why there was no check.
    failure: SidecheckError | None = None
    #: Why readers may take the message for different ones.
    ambiguity: Violation | None = None
    #: Whether there are more violations than these, of which the errors come first.
    is_truncated: bool = False

    @property
    def first_error(self) -> Violation | None:
        """The first violation that makes the message invalid; None if it is valid."""
        errors = (each for each in self.violations if each.severity is Severity.ERROR)
        return next(errors, None)

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

    def ambiguous(self, found: Violation | None) -> "Checked":
        """Return the outcome for a message that *found* makes ambiguous, if it does."""
        return self if found is None or self.ambiguity else replace(self, ambiguity=found)

    def without(self, location: str) -> "Checked":
        """Return the outcome without what is at *location* or inside, which is another's matter."""
        own = [each for each in self.violations if not each.instance_location.startswith(location)]
        return replace(self, violations=tuple(own))

    def split(self, items: int) -> "tuple[Checked, list[Checked]]":
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
        outcomes = [Checked(tuple(violations)) for violations in by_item]
        if self.is_truncated and self.first_error is not None:
            # Items without an error may have one that was left out.
            unknown = Checked((Violation(code="LIMIT_EXCEEDED"),))
            outcomes = [unknown if item.first_error is None else item for item in outcomes]
        return whole, outcomes


class MessageChecks:
    """The messages of both sides, each checked after those before it.

    If the stream to the service breaks, the next begins with the message that it broke at,
    and knows nothing of those before.
    """

    def __init__(
        self, client: Client, policy: Policy, protocol_version: str, *, from_beginning: bool
    ) -> None:
        self._client = client
        self._policy = policy
        self._context = ProtocolContext(protocol_version=protocol_version)
        self._session = client.protocol.session()
        self._is_open = False
        self._from_beginning = from_beginning
        self._opening = asyncio.Lock()

    async def check(self, text: bytes, sender: Direction, http_status: int) -> Checked:
        """Return the outcome for the next message; an empty one if the policy is off."""
        if self._policy is Policy.OFF:
            return Checked()
        try:
            try:
                return await self._check(text, sender, http_status)
            except StreamClosed:
                return await self._check(text, sender, http_status)
        except SidecheckError as error:
            return Checked(failure=error)

    async def forget(self) -> None:
        """Begin another session, in its middle, with the next message."""
        async with self._opening:
            self._from_beginning = False
            await self.close()

    async def close(self) -> None:
        """End the session."""
        if self._is_open:
            self._is_open = False
            await self._session.__aexit__(None, None, None)

    async def _check(self, text: bytes, sender: Direction, http_status: int) -> Checked:
        """Check in the open session, or in another.

        Raises:
            SidecheckError: there is no outcome; `StreamClosed` if the session has ended.
        """
        async with self._opening:
            if not self._is_open:
                session = self._client.protocol.session(
                    context=self._context, from_beginning=self._from_beginning
                )
                self._session = await session.__aenter__()
                self._is_open, self._from_beginning = True, False
            session = self._session
        try:
            result = await session.check(text, sender=sender, http_status=http_status)
        except StreamClosed:
            async with self._opening:
                # The other side may have noticed before, and opened another.
                if self._session is session:
                    await self.close()
            raise
        verdict = result.verdict
        return Checked(
            tuple(verdict.violations), result.error_response, is_truncated=verdict.truncated
        )
