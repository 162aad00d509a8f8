"""One MCP connection through the proxy: what becomes of each message of its two sides."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from sidecheck import (
    CheckResult,
    Client,
    Severity,
    SidecheckError,
    StreamClosed,
    ToolDefinition,
    Unavailable,
    Violation,
)

from sidecheck_server.proxy.calls import METHOD as CALL
from sidecheck_server.proxy.calls import Admission, Ruling, ToolCalls
from sidecheck_server.proxy.listings import Listings
from sidecheck_server.proxy.messages import (
    Message,
    RequestId,
    error_response,
    read_message,
    read_object,
    string_value,
)
from sidecheck_server.proxy.policies import Policies, Policy
from sidecheck_server.proxy.report import Action, Direction, Finding, Report, finding_of

__all__ = ["ProxySession"]

_LIST = "tools/list"
_VERSION = "io.modelcontextprotocol/protocolVersion"
_COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class _Request:
    """A request of the client whose response is awaited."""

    message: Message
    method: str
    #: The protocol version that applies to it; "" if unknown.
    version: str
    tool: str = ""
    definition: ToolDefinition | None = None


class ProxySession:
    """Validates the messages of one connection, by the *policies*.

    Messages of one side are given in their order, one at a time; those of both sides may be
    given at the same time.
    """

    def __init__(
        self,
        client: Client,
        policies: Policies,
        report: Report,
        listings: Listings,
        *,
        from_beginning: bool = True,
    ) -> None:
        self._client = client
        self._policies = policies
        self._report = report
        self._listings = listings
        self._calls = ToolCalls(client, policies, self._listings, report)
        self._checks = client.protocol.session()
        self._entered = False
        self._from_beginning = from_beginning
        self._version = ""
        self._requests: dict[RequestId, _Request] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        await self._leave()

    async def handle(self, text: bytes, sender: Direction, http_status: int = 0) -> Ruling:
        """Return what becomes of the message *text* of *sender*."""
        self._report.count_message(sender)
        read = read_message(text)
        try:
            checked = await self._check(text, sender, http_status)
        except SidecheckError as error:
            return self._unchecked(read, text, sender, error, self._policies.messages)
        if isinstance(read, Message):
            return await self._rule(read, sender, checked)
        violations = () if checked is None else checked.verdict.violations
        rejected = self._rejects(violations)
        self._add(violations, sender, "", rejected=rejected)
        if rejected:
            assert checked is not None
            return Ruling(reply=checked.error_response or None)
        if read is None:
            return Ruling(text)
        return await self._rule_batch(read, text, sender)

    def answers_to_pending(self, reason: str) -> list[bytes]:
        """Return an error, with *reason*, for each request of the client without a response."""
        pending, self._requests = self._requests, {}
        return [error_response(request.message, reason) for request in pending.values()]

    async def _rule_batch(self, batch: list[Message], text: bytes, sender: Direction) -> Ruling:
        rulings = [await self._rule(message, sender, None) for message in batch]
        forwarded = [ruling.forward for ruling in rulings if ruling.forward is not None]
        replies = [ruling.reply for ruling in rulings if ruling.reply is not None]
        unchanged = forwarded == [message.text for message in batch]
        return Ruling(text if unchanged else _array(forwarded), _array(replies))

    async def _rule(
        self, message: Message, sender: Direction, checked: CheckResult | None
    ) -> Ruling:
        """Return what becomes of one *message*, after it was *checked* as such."""
        request = self._requests.get(message.id) if message.is_response and message.id else None
        answered = request if sender == "server" else None
        method = answered.method if answered is not None else message.method
        tool = answered.tool if answered is not None else ""
        violations = self._own_violations(message, answered, checked)
        rejected = self._rejects(violations)
        if answered is not None and message.id is not None:
            del self._requests[message.id]
        if sender == "client" and not rejected:
            return await self._from_client(message, violations)
        self._add(violations, sender, method, tool, rejected=rejected)
        if rejected:
            assert checked is not None
            return self._reject(message, checked.error_response or None, violations)
        try:
            return await self._from_server(message, answered)
        except SidecheckError as error:
            policy = self._policies.tools if method == _LIST else self._policies.results
            return self._unchecked(message, message.text, sender, error, policy)

    async def _from_client(self, message: Message, violations: list[Violation]) -> Ruling:
        """Return the ruling on a message whose *violations* as such do not reject it."""
        metadata = read_object(message.params.get("_meta", b"")) or {}
        version = string_value(metadata.get(_VERSION)) or self._version
        admission = Admission(Ruling(message.text))
        tool = ""
        if message.method == CALL and self._validates_calls:
            tool = string_value(message.params.get("name"))
            admission = await self._admit(message, version)
        ruling = admission.ruling
        rejected = ruling.forward is None
        self._add(violations, "client", message.method, tool, rejected=rejected)
        known = {(violation.code, violation.instance_location) for violation in violations}
        for finding in admission.findings:
            if (finding.code, finding.location) not in known:
                self._report.add(finding)
        if message.is_request and message.id is not None and not rejected:
            self._requests[message.id] = _Request(
                message, message.method, version, tool, admission.definition
            )
        return ruling

    async def _admit(self, message: Message, version: str) -> Admission:
        try:
            return await self._calls.admit(message, version)
        except SidecheckError as error:
            policy = self._policies.arguments
            return Admission(self._unchecked(message, message.text, "client", error, policy))

    async def _from_server(self, message: Message, request: _Request | None) -> Ruling:
        if message.method == "notifications/tools/list_changed":
            self._listings.expire()
        result = message.result
        if request is None or result is None:
            return Ruling(message.text)
        if request.method == "initialize":
            self._version = string_value(result.get("protocolVersion"))
        elif request.method == _LIST:
            listed = message.properties["result"]
            kept = await self._listings.receive(request.message, listed, request.version)
            if kept is not listed:
                return Ruling(message.with_property("result", kept))
        elif request.definition is not None and self._is_call_result(request, result):
            return Ruling(
                await self._calls.replace_result(
                    message, request.tool, request.definition, request.version
                )
            )
        return Ruling(message.text)

    @property
    def _validates_calls(self) -> bool:
        policies = self._policies
        return self._listings.filters or not policies.arguments is policies.results is Policy.OFF

    def _is_call_result(self, request: _Request, result: Mapping[str, bytes]) -> bool:
        """Return whether *result* is validated as the result of a tool.

        A task and a request for more input stand for a result that comes later (2025-11-25,
        tasks; 2026-07-28, multi round-trip requests).
        """
        kind = string_value(result.get("resultType", b'"complete"'))
        is_task = "task" in request.message.params
        return self._policies.results is not Policy.OFF and kind == _COMPLETE and not is_task

    def _own_violations(
        self,
        message: Message,
        request: _Request | None,
        checked: CheckResult | None,
    ) -> list[Violation]:
        """Return the violations in *checked* that no other policy is about."""
        if checked is None:
            return []
        other = self._location_of_others(message, request)
        return [
            violation
            for violation in checked.verdict.violations
            if not (other and violation.instance_location.startswith(other))
        ]

    def _location_of_others(self, message: Message, request: _Request | None) -> str:
        """Return where in *message* another policy than that about messages applies."""
        if message.method == CALL:
            # A session knows the schemas that the server has listed.
            return "/params/arguments"
        if request is None:
            return ""
        if request.method == _LIST and self._listings.filters:
            return "/result/tools/"
        if request.method != CALL:
            return ""
        is_validated = request.definition is not None and self._is_call_result(
            request, message.result or {}
        )
        return "/result" if is_validated else "/result/structuredContent"

    # Checks of messages as such

    async def _check(self, text: bytes, sender: Direction, http_status: int) -> CheckResult | None:
        if self._policies.messages is Policy.OFF:
            return None
        if not self._entered:
            self._checks = self._client.protocol.session(from_beginning=self._from_beginning)
            await self._checks.__aenter__()
            self._entered, self._from_beginning = True, False
        try:
            return await self._checks.check(text, sender=sender, http_status=http_status)
        except StreamClosed:
            # The next message begins another stream, which knows nothing of those before it.
            await self._leave()
            raise

    async def forget(self) -> None:
        """Take the next message for one in the middle of a session that nothing is known of."""
        self._from_beginning = False
        await self._leave()

    async def _leave(self) -> None:
        if self._entered:
            self._entered = False
            await self._checks.__aexit__(None, None, None)

    def _rejects(self, violations: Iterable[Violation]) -> bool:
        has_errors = any(violation.severity is Severity.ERROR for violation in violations)
        return has_errors and self._policies.messages is Policy.ENFORCE

    def _add(
        self,
        violations: Iterable[Violation],
        sender: Direction,
        method: str,
        tool: str = "",
        *,
        rejected: bool,
    ) -> None:
        action = Action.REJECTED if rejected else Action.PASSED
        for violation in violations:
            self._report.add(finding_of(violation, sender, method, tool, action, ""))

    def _reject(
        self, message: Message, reply: bytes | None, violations: Iterable[Violation]
    ) -> Ruling:
        """Return the ruling on a *message* that has *violations*."""
        first = next(v for v in violations if v.severity is Severity.ERROR)
        reason = f"the response is invalid: {first.code} at {first.instance_location or 'its root'}"
        return _ruling_on_rejected(message, reply, reason)

    def _unchecked(
        self,
        read: Message | list[Message] | None,
        text: bytes,
        sender: Direction,
        error: SidecheckError,
        policy: Policy,
    ) -> Ruling:
        """Return the ruling on a message that could not be validated because of *error*."""
        allowed = isinstance(error, Unavailable) and self._client.on_unavailable == "allow"
        passes = allowed or policy is not Policy.ENFORCE
        method = read.method if isinstance(read, Message) else ""
        self._report.add(
            Finding(
                sender=sender,
                method=method,
                code=error.reason,
                action=Action.PASSED if passes else Action.REJECTED,
                message=error.message,
                note="could not be validated",
            )
        )
        if passes:
            return Ruling(text)
        if not isinstance(read, Message):
            return Ruling()
        reason = f"not validated by Sidecheck: {error.reason}"
        reply = error_response(read, reason) if read.is_request else None
        return _ruling_on_rejected(read, reply, reason)


def _ruling_on_rejected(message: Message, reply: bytes | None, reason: str) -> Ruling:
    """Return the ruling on *message*; if it is a response, its receiver waits for one."""
    if message.is_response and message.id is not None:
        return Ruling(error_response(message, reason))
    return Ruling(reply=reply)


def _array(texts: list[bytes]) -> bytes | None:
    """Return the JSON array of *texts*, None if there are none."""
    return b"[" + b",".join(texts) + b"]" if texts else None
