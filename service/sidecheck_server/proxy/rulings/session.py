"""Rulings on the messages of one MCP connection through the proxy."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Self

from sidecheck_server.config.exemptions import ExemptCodes
from sidecheck_server.config.policies import Policies, Policy
from sidecheck_server.core.types import Severity
from sidecheck_server.proxy.checks import Checks, NotCheckedError
from sidecheck_server.proxy.messages import (
    PARSE_ERROR,
    Direction,
    Message,
    Received,
    RequestId,
    error_response,
    join_array,
    parse_received,
    read_object,
    request_id,
    string_value,
)
from sidecheck_server.proxy.report import Action, Finding, Findings
from sidecheck_server.proxy.rulings.ambiguity import (
    find_call_ambiguity,
    find_call_result_ambiguity,
    find_list_ambiguity,
    find_message_ambiguity,
)
from sidecheck_server.proxy.rulings.calls import METHOD as CALL
from sidecheck_server.proxy.rulings.calls import Admission, ToolCalls
from sidecheck_server.proxy.rulings.list_repairs import ListRepairs
from sidecheck_server.proxy.rulings.listing_pages import PROTOCOL_VERSION, ToolSource
from sidecheck_server.proxy.rulings.message_checks import (
    PEERS,
    CheckOutcome,
    MessageChecks,
    MessageRulings,
)
from sidecheck_server.proxy.rulings.pending import PendingRequests, Request, request_of
from sidecheck_server.proxy.rulings.ruling import Ruling
from sidecheck_server.proxy.rulings.unmatched import UnmatchedResponses

__all__ = ["ProxySession"]

_LIST = "tools/list"
_UNREADABLE = frozenset({"NOT_A_MESSAGE", "PAYLOAD_NOT_JSON"})
"""Codes of text that is not a message, either of which exempts it."""
_MAX_SERVER_REQUESTS = 10_000
"""Maximum number of pending requests of the server."""


class ProxySession:
    """Validates the messages of one connection by *policies*.

    Callers pass the messages of each side in order, each after the check of the one before; both
    sides may be handled concurrently. Unless *from_beginning*, the proxy joins mid-session, and
    *protocol_version* is the negotiated one, "" if unknown.
    """

    # Decision 0060: a session decides on one message at a time, and does no I/O but its checks.

    def __init__(
        self,
        checks: Checks,
        policies: Policies,
        report: Findings,
        tools: ToolSource,
        *,
        from_beginning: bool = True,
        protocol_version: str = "",
    ) -> None:
        self._policies = policies
        self._report = report
        self._tools = tools
        self._calls = ToolCalls(checks, policies, self._tools, report)
        self._checks = MessageChecks(
            checks, policies.messages, protocol_version, from_beginning=from_beginning
        )
        self._validates_calls = tools.checks_lists or not (
            policies.arguments is policies.results is Policy.OFF
        )
        enforces_tools = tools.uses_pins or policies.tools is Policy.ENFORCE
        #: Whether readers must decode the messages of a side exactly as they were validated.
        self._enforces_content: Mapping[Direction, bool] = {
            "client": enforces_tools or policies.arguments is Policy.ENFORCE,
            "server": enforces_tools or policies.results is Policy.ENFORCE,
        }
        self._from_beginning = from_beginning
        self._version = protocol_version
        self._pending: Mapping[Direction, PendingRequests] = {
            "client": PendingRequests(),
            "server": PendingRequests(_MAX_SERVER_REQUESTS),
        }
        self._messages = MessageRulings(checks, policies.messages, report, self._pending)
        self._list_repairs = ListRepairs(checks, policies.messages, report)
        self._unmatched = UnmatchedResponses(policies, report, self._messages, self._pending)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        await self._checks.close()

    async def reset(self) -> None:
        """Discard the state of the checks; treat the next message as mid-session."""
        self._from_beginning = False
        await self._checks.reset()

    async def handle(
        self,
        received: Received | bytes,
        sender: Direction,
        http_status: int = 0,
        *,
        awaited: RequestId | None = None,
        on_checked: Callable[[], None] = lambda: None,
    ) -> Ruling:
        """Return the ruling on the *received* message of *sender*, parsed or as text.

        *awaited* is the id of the request of the client that a text of the server answers, if
        the transport tells, and null for none. Callers that pass it pass one text at a time.
        After *on_checked*, the next message of *sender* may be handled.
        """
        if sender == "server":
            self._unmatched.awaited = awaited
        self._report.count_message(sender)
        if isinstance(received, bytes):
            received = parse_received(received)
        if received.has_byte_order_mark:
            return await self._rule_marked(received, sender, http_status, on_checked)
        return await self._rule_received(received, sender, http_status, on_checked)

    async def _rule_marked(
        self,
        received: Received,
        sender: Direction,
        http_status: int,
        on_checked: Callable[[], None],
    ) -> Ruling:
        """Return the ruling on *received*, which has a byte order mark."""
        is_removed = self._enforces_text(sender)
        self._report.add(
            Finding(
                sender=sender,
                code="BYTE_ORDER_MARK",
                severity=Severity.WARNING,
                action=Action.REPAIRED if is_removed else Action.PASSED,
                note="a byte order mark is before the message, which not all readers ignore",
            )
        )
        unmarked = received.without_byte_order_mark()
        ruling = await self._rule_received(unmarked, sender, http_status, on_checked)
        passes = ruling.forward is unmarked.text and not is_removed
        return replace(ruling, forward=received.text) if passes else ruling

    def _enforces_text(self, sender: Direction) -> bool:
        """Return whether text of *sender* passes only as it was validated."""
        # A lenient reader may find a call or a result in text that is not a message here.
        return self._enforces_content[sender] or self._policies.messages is Policy.ENFORCE

    async def _rule_received(
        self,
        received: Received,
        sender: Direction,
        http_status: int,
        on_checked: Callable[[], None],
    ) -> Ruling:
        text, content = received.text, received.content
        outcome = await self._checks.check(text, sender, http_status)
        outcome = outcome.with_exemptions(self._policies.allow.find())
        on_checked()
        if isinstance(content, Message):
            return await self._rule(content, sender, outcome)
        if content is not None:
            return await self._rule_batch(content, text, sender, outcome)
        is_rejected = self._enforces_text(sender) and _UNREADABLE.isdisjoint(outcome.exempt.codes)
        if not is_rejected:
            outcome = outcome.with_exemptions(ExemptCodes(outcome.exempt.codes | _UNREADABLE))
        passes = self._messages.report_and_decide(outcome, sender, is_rejected=is_rejected)
        if passes and not is_rejected:
            return Ruling(text)
        if passes and not outcome.violations:
            self._report.add(Finding(sender=sender, code="NOT_A_MESSAGE", action=Action.REJECTED))
        if sender == "server":
            return Ruling(self._unmatched.fail_only_request(None))
        error = error_response(None, "Parse error", PARSE_ERROR)
        return Ruling(reply=outcome.error_response or error)

    async def expect(self, request: Message) -> None:
        """Register *request* of the client, which another process forwarded, as pending.

        Of its params, only the name of the tool is needed.
        """
        await self._checks.check(request.text, "client", 0)
        pending = request_of(request, self._version)
        if request.method == CALL:
            pending.tool = string_value(request.params.get("name"))
            try:
                pending.target = await self._tools.find(pending.tool, request.params)
            except NotCheckedError as error:
                pending.failure = error
        self._pending["client"].add(pending)

    def fail_pending(self, reason: str, messages: Iterable[Message] | None = None) -> list[bytes]:
        """Remove the pending requests of the client; return an error with *reason* for each.

        With *messages*, only the requests among them.
        """
        ids = None
        if messages is not None:
            ids = [message.id for message in messages if message.is_request]
        requests = self._pending["client"].pop(ids)
        return [error_response(request.id_text, reason) for request in requests]

    def fail_single(self, reason: str) -> list[bytes]:
        """Do as `fail_pending` does, if exactly one request is pending."""
        return self.fail_pending(reason) if len(self._pending["client"]) == 1 else []

    def expects(self, id_: RequestId) -> bool:
        """Return whether a request of the client with *id_* is pending."""
        return self._pending["client"].find(id_) is not None

    async def _rule_batch(
        self, batch: list[Message], text: bytes, sender: Direction, outcome: CheckOutcome
    ) -> Ruling:
        batch_outcome, items = outcome.split(len(batch))
        if self._messages.report_and_decide(batch_outcome, sender):
            rulings = [
                await self._rule(message, sender, item)
                for message, item in zip(batch, items, strict=True)
            ]
        else:
            return self._reject_batch(batch, sender, batch_outcome)
        forwarded = [ruling.forward for ruling in rulings if ruling.forward is not None]
        replies = [ruling.reply for ruling in rulings if ruling.reply is not None]
        is_unchanged = forwarded == [message.text for message in batch]
        return Ruling(
            text if is_unchanged else join_array(forwarded) if forwarded else None,
            join_array(replies) if replies else None,
            exchange_reply=_join_exchange_replies(rulings),
        )

    def _reject_batch(
        self, batch: list[Message], sender: Direction, outcome: CheckOutcome
    ) -> Ruling:
        """Return the ruling on *batch*, which is rejected as a whole because of *outcome*."""
        rejection = replace(outcome, error_response=b"", is_complete=False, is_truncated=False)
        rulings = [
            _without_reply_to_other_text(self._messages.reject(message, sender, rejection), message)
            for message in batch
        ]
        replies = [ruling.reply for ruling in rulings if ruling.reply is not None]
        # Errors for requests that the sender of the batch answers: each is a message of its own,
        # because its receiver may know no batches.
        errors = [ruling.forward for ruling in rulings if ruling.forward is not None]
        if sender == "server" and not errors:
            error = self._unmatched.fail_only_request(batch[0])
            errors = [] if error is None else [error]
        return Ruling(
            errors[0] if errors else None,
            join_array(replies) if replies else None,
            tuple(errors[1:]),
            _join_exchange_replies(rulings),
        )

    async def _rule(self, message: Message, sender: Direction, outcome: CheckOutcome) -> Ruling:
        """Return the ruling on one *message*, whose check as a message has *outcome*."""
        ruling = await self._rule_message(message, sender, outcome)
        is_dropped = ruling.forward is None and ruling.reply is None
        if sender == "server" and is_dropped and (message.is_response or message.has_answer):
            return replace(ruling, forward=self._unmatched.fail_only_request(message))
        return _without_reply_to_other_text(ruling, message)

    async def _rule_message(
        self, message: Message, sender: Direction, outcome: CheckOutcome
    ) -> Ruling:
        if self._enforces_content[sender]:
            outcome = outcome.with_ambiguity(
                find_message_ambiguity(
                    message, must_be_json=sender == "client", is_strict=outcome.is_strict_json
                )
            )
        # A client that waits for the response may ignore the method of such a message.
        if sender == "server" and message.has_answer:
            pending = self._pending["client"]
            if pending.find(message.id) or pending.find_similar(message.id):
                message = message.without_method()
        if sender == "server" and message.is_error_without_id:
            ruling = self._unmatched.rule_error_without_id(message, outcome)
            if ruling is not None:
                return ruling
        if message.is_response:
            return await self._rule_response(message, sender, outcome)
        if not message.is_request:
            return await self._rule_request(message, sender, outcome, None)
        meta = message.params.get("_meta")
        metadata = {} if meta is None else read_object(meta) or {}
        version = string_value(metadata.get(PROTOCOL_VERSION)) or self._version
        # Pending before any await, so that the client gets an error if the relay ends meanwhile.
        request = request_of(message, version)
        self._pending[sender].add(request)
        ruling = await self._rule_request(message, sender, outcome, request)
        if ruling.forward is None:
            self._pending[sender].remove(request)
        return ruling

    async def _rule_request(
        self, message: Message, sender: Direction, outcome: CheckOutcome, request: Request | None
    ) -> Ruling:
        """Return the ruling on a request or notification."""
        version = self._version if request is None else request.version
        tool = string_value(message.params.get("name")) if message.method == CALL else ""
        outcome = outcome.with_exemptions(self._policies.allow.find(message.method, tool))
        follows_protocol = outcome.is_clean("/params", CALL, version)
        is_strict = outcome.is_strict_json
        if message.method == CALL:
            # The policy of arguments decides on them, by the same listed schemas.
            outcome = outcome.exclude("/params/arguments")
            if sender == "client" and self._enforces_content[sender]:
                ambiguity = find_call_ambiguity(message, is_strict=is_strict)
                outcome = outcome.with_ambiguity(ambiguity)
        is_call = sender == "client" and message.method == CALL and self._validates_calls
        if is_call and not self._messages.rejects(outcome):
            admission = await self._calls.admit(message, version, follows_protocol=follows_protocol)
            return self._rule_call(message, outcome, request, admission)
        if not self._messages.report_and_decide(outcome, sender, message.method):
            return self._messages.reject(message, sender, outcome)
        if sender == "client" and message.method == "notifications/cancelled":
            self._pending[sender].cancel(request_id(message.params.get("requestId", b"null")))
        if sender == "server" and message.method == "notifications/tools/list_changed":
            self._tools.expire()
        return Ruling(message.text)

    def _rule_call(
        self,
        message: Message,
        outcome: CheckOutcome,
        request: Request | None,
        admission: Admission,
    ) -> Ruling:
        """Return the ruling of *admission* on a tool call; report the findings.

        *outcome*, that of the check of the message, does not reject the call.
        """
        tool = string_value(message.params.get("name"))
        if request is not None:
            request.tool, request.target = tool, admission.target
        is_rejected = admission.ruling.forward is None
        self._messages.report_and_decide(outcome, "client", CALL, tool, is_rejected=is_rejected)
        for finding in admission.findings:
            if not outcome.has_violation(finding.code, finding.location):
                self._report.add(finding)
        return admission.ruling

    async def _rule_response(
        self, message: Message, sender: Direction, outcome: CheckOutcome
    ) -> Ruling:
        pending = self._pending[PEERS[sender]]
        request = pending.find(message.id)
        if request is None:
            request = pending.find_similar(message.id)
            if request is None:
                # A session that was joined mid-session may have earlier requests of the server.
                may_be_earlier = sender == "client" and not self._from_beginning
                return self._unmatched.rule(message, sender, outcome, may_be_earlier=may_be_earlier)
            error = self._unmatched.reject_similar(message, request, sender, outcome)
            if error is not None:
                pending.remove(request)
                return Ruling(error)
            outcome = outcome.exclude("/id")
            message = message.with_id(request.id_text)
        outcome = outcome.with_exemptions(self._policies.allow.find(request.method, request.tool))
        if sender == "server":
            ruling = await self._rule_result(message, request, outcome)
        elif self._messages.report_and_decide(outcome, sender):
            ruling = Ruling(message.text)
        else:
            ruling = self._messages.reject(message, sender, outcome)
        # Pending until the ruling, so that the client gets an error if the relay ends meanwhile.
        pending.remove(request)
        return ruling

    async def _rule_result(
        self, message: Message, request: Request, outcome: CheckOutcome
    ) -> Ruling:
        """Return the ruling on the server's response to *request*."""
        is_result = request.target is not None and self._is_call_result(message, request)
        follows_protocol = outcome.is_clean("/result", CALL, request.version)
        outcome = self._select_faults(message, request, outcome, is_result=is_result)
        if self._messages.rejects(outcome):
            includes_items = request.method != _LIST or not self._tools.checks_lists
            repaired = await self._list_repairs.repair(
                message, request, outcome, includes_items=includes_items
            )
            if repaired is None:
                self._messages.report_and_decide(outcome, "server", request.method, request.tool)
                return self._messages.reject(message, "server", outcome)
            message = repaired
        else:
            self._messages.report_and_decide(outcome, "server", request.method, request.tool)
        if is_result:
            return await self._calls.rule_result(
                message, request, follows_protocol=follows_protocol
            )
        validates_results = self._policies.results is not Policy.OFF
        if request.failure is not None and validates_results and "result" in message.properties:
            return self._calls.rule_unvalidated(message, request, request.failure)
        if request.method == "initialize" and message.result is not None:
            self._version = string_value(message.result.get("protocolVersion"))
        if request.method == _LIST and message.result is not None:
            return await self._tools.rule_result(message, request)
        return Ruling(message.text)

    def _select_faults(
        self, message: Message, request: Request, outcome: CheckOutcome, *, is_result: bool
    ) -> CheckOutcome:
        """Return *outcome* without what the policies of tools and results decide on.

        It has the ambiguity of the parts that they decide on.
        """
        is_strict = outcome.is_strict_json
        if request.method == _LIST and self._tools.checks_lists:
            outcome = outcome.exclude("/result/tools/")
        elif request.method == CALL:
            outcome = outcome.exclude("/result" if is_result else "/result/structuredContent")
        if self._enforces_content["server"] and request.method == _LIST:
            return outcome.with_ambiguity(find_list_ambiguity(message, is_strict=is_strict))
        if self._enforces_content["server"] and is_result:
            return outcome.with_ambiguity(find_call_result_ambiguity(message, is_strict=is_strict))
        return outcome

    def _is_call_result(self, message: Message, request: Request) -> bool:
        """Return whether *message* has a result to validate as that of a tool call."""
        is_validated = self._policies.results is not Policy.OFF and "result" in message.properties
        return is_validated and request.is_answered_by(message.result or {})


def _join_exchange_replies(rulings: Iterable[Ruling]) -> bytes | None:
    """Return the replies in *rulings* as a batch, None if all are messages of a stream."""
    rulings = list(rulings)
    if all(ruling.exchange_reply is None for ruling in rulings):
        return None
    errors = (ruling.reply or ruling.exchange_reply for ruling in rulings)
    return join_array(error for error in errors if error is not None)


def _without_reply_to_other_text(ruling: Ruling, message: Message) -> Ruling:
    """Return *ruling* without a reply to *message*, if that is not of JSON-RPC 2.0.

    Programs that log what they receive, as JSON with an id and a method, would log the reply too,
    so that both sides would answer each other without end.
    """
    if ruling.reply is None or message.is_json_rpc:
        return ruling
    return replace(ruling, reply=None, exchange_reply=ruling.reply)
