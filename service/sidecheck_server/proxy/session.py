"""One MCP connection through the proxy: what becomes of each message of its two sides."""

from collections.abc import Iterable, Mapping
from typing import Self

from sidecheck_server.config.policies import Policies, Policy
from sidecheck_server.proxy.ambiguity import (
    find_in_call,
    find_in_call_result,
    find_in_list,
    find_in_message,
)
from sidecheck_server.proxy.calls import METHOD as CALL
from sidecheck_server.proxy.calls import Admission, ToolCalls
from sidecheck_server.proxy.checks import Checks, NotCheckedError
from sidecheck_server.proxy.listing_pages import PROTOCOL_VERSION, ToolSource
from sidecheck_server.proxy.message_checks import (
    PEERS,
    CheckOutcome,
    MessageChecks,
    MessageRulings,
)
from sidecheck_server.proxy.messages import (
    PARSE_ERROR,
    Direction,
    Message,
    Received,
    error_response,
    join_array,
    read_object,
    receive,
    request_id,
    string_value,
)
from sidecheck_server.proxy.pending import PendingRequests, Request, request_of
from sidecheck_server.proxy.report import Action, Finding, Findings
from sidecheck_server.proxy.rulings import Ruling

__all__ = ["ProxySession"]

_LIST = "tools/list"
_MOST_OF_SERVER = 10_000
"""Requests of the server whose responses are told from others."""


class ProxySession:
    """Validates the messages of one connection, by the *policies*.

    Messages of one side are given in their order, one at a time; those of both sides may be
    given at the same time. In the middle of a session, *protocol_version* is the one that was
    negotiated, "" if unknown.
    """

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
        self._validates_calls = tools.filters or not (
            policies.arguments is policies.results is Policy.OFF
        )
        tools_are_held = tools.is_pinned or policies.tools is Policy.ENFORCE
        #: Whether what a side calls or returns must be what was validated.
        self._enforces_content: Mapping[Direction, bool] = {
            "client": tools_are_held or policies.arguments is Policy.ENFORCE,
            "server": tools_are_held or policies.results is Policy.ENFORCE,
        }
        self._from_beginning = from_beginning
        self._version = protocol_version
        self._pending: Mapping[Direction, PendingRequests] = {
            "client": PendingRequests(),
            "server": PendingRequests(_MOST_OF_SERVER),
        }
        self._messages = MessageRulings(checks, policies.messages, report, self._pending)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        await self._checks.close()

    async def reset(self) -> None:
        """Treat the next message as mid-session, without what was known of the session."""
        self._from_beginning = False
        await self._checks.reset()

    async def handle(
        self, received: Received | bytes, sender: Direction, http_status: int = 0
    ) -> Ruling:
        """Return what becomes of the message of *sender* that was *received*, read or as text."""
        self._report.count_message(sender)
        if isinstance(received, bytes):
            received = receive(received)
        text, content = received.text, received.content
        checked = await self._checks.check(text, sender, http_status)
        if isinstance(content, Message):
            return await self._rule(content, sender, checked)
        if content is not None:
            return await self._rule_batch(content, text, sender, checked)
        # Another reader may find a call in what is no message here, or a result.
        policy = self._policies.messages
        if self._enforces_content[sender]:
            policy = Policy.ENFORCE
        admitted = self._messages.report_and_decide(
            checked, sender, is_rejected=policy is Policy.ENFORCE
        )
        if admitted and policy is not Policy.ENFORCE:
            return Ruling(text)
        if admitted and not checked.violations:
            self._report.add(Finding(sender=sender, code="NOT_A_MESSAGE", action=Action.REJECTED))
        error = error_response(None, "Parse error", PARSE_ERROR)
        return Ruling(reply=checked.error_response or error)

    async def expect(self, request: Message) -> None:
        """Await the response to *request*, of the client, which was passed on elsewhere.

        Its params need no more than what the response depends on: the name of a tool.
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

    def answers_to_pending(
        self, reason: str, messages: Iterable[Message] | None = None
    ) -> list[bytes]:
        """Return an error, with *reason*, for each request of the client without a response.

        With *messages*, for those among them.
        """
        ids = None if messages is None else [each.id for each in messages if each.is_request]
        due = self._pending["client"].take_due(ids)
        return [error_response(request.id_text, reason) for request in due]

    async def _rule_batch(
        self, batch: list[Message], text: bytes, sender: Direction, checked: CheckOutcome
    ) -> Ruling:
        whole, items = checked.split(len(batch))
        if self._messages.report_and_decide(whole, sender):
            rulings = [
                await self._rule(message, sender, item)
                for message, item in zip(batch, items, strict=True)
            ]
        else:
            own = CheckOutcome(whole.violations, failure=whole.failure)
            rulings = [self._messages.reject(message, sender, own) for message in batch]
        forwarded = [ruling.forward for ruling in rulings if ruling.forward is not None]
        replies = [ruling.reply for ruling in rulings if ruling.reply is not None]
        unchanged = forwarded == [message.text for message in batch]
        return Ruling(
            text if unchanged else join_array(forwarded) if forwarded else None,
            join_array(replies) if replies else None,
        )

    async def _rule(self, message: Message, sender: Direction, checked: CheckOutcome) -> Ruling:
        """Return what becomes of one *message*, after it was *checked* as such."""
        if self._enforces_content[sender]:
            checked = checked.ambiguous(
                find_in_message(
                    message, must_be_json=sender == "client", is_strict=checked.is_strict_json
                )
            )
        # Who waits for the response takes it for that, whatever else it is.
        if sender == "server" and message.has_answer and self._pending["client"].find(message.id):
            message = message.without_method()
        if message.is_response:
            return await self._rule_response(message, sender, checked)
        if not message.is_request:
            return await self._rule_request(message, sender, checked, None)
        meta = message.params.get("_meta")
        metadata = {} if meta is None else read_object(meta) or {}
        version = string_value(metadata.get(PROTOCOL_VERSION)) or self._version
        # Pending from here on, so that it is answered whatever happens.
        request = request_of(message, version)
        self._pending[sender].add(request)
        ruling = await self._rule_request(message, sender, checked, request)
        if ruling.forward is None:
            self._pending[sender].remove(request)
        return ruling

    async def _rule_request(
        self, message: Message, sender: Direction, checked: CheckOutcome, request: Request | None
    ) -> Ruling:
        """Return the ruling on a request or notification."""
        version = self._version if request is None else request.version
        follows_protocol = checked.is_clean("/params", CALL, version)
        is_strict = checked.is_strict_json
        if message.method == CALL:
            # A session knows the schemas that the server has listed.
            checked = checked.without("/params/arguments")
            if sender == "client" and self._enforces_content[sender]:
                checked = checked.ambiguous(find_in_call(message, is_strict=is_strict))
        is_call = sender == "client" and message.method == CALL and self._validates_calls
        if is_call and not self._messages.rejects(checked):
            admission = await self._calls.admit(message, version, follows_protocol=follows_protocol)
            return self._rule_call(message, checked, request, admission)
        if not self._messages.report_and_decide(checked, sender, message.method):
            return self._messages.reject(message, sender, checked)
        if sender == "client" and message.method == "notifications/cancelled":
            self._pending[sender].cancel(request_id(message.params.get("requestId", b"null")))
        if sender == "server" and message.method == "notifications/tools/list_changed":
            self._tools.expire()
        return Ruling(message.text)

    def _rule_call(
        self,
        message: Message,
        checked: CheckOutcome,
        request: Request | None,
        admission: Admission,
    ) -> Ruling:
        """Return the ruling on a call of a tool that passes as a message, and has *admission*."""
        tool = string_value(message.params.get("name"))
        if request is not None:
            request.tool, request.target = tool, admission.target
        is_rejected = admission.ruling.forward is None
        self._messages.report_and_decide(checked, "client", CALL, tool, is_rejected=is_rejected)
        for finding in admission.findings:
            if not checked.has(finding.code, finding.location):
                self._report.add(finding)
        return admission.ruling

    async def _rule_response(
        self, message: Message, sender: Direction, checked: CheckOutcome
    ) -> Ruling:
        pending = self._pending[PEERS[sender]]
        request = pending.find(message.id)
        if request is None:
            return self._rule_unexpected(message, sender, checked)
        if sender == "server":
            ruling = await self._rule_result(message, request, checked)
        elif self._messages.report_and_decide(checked, sender):
            ruling = Ruling(message.text)
        else:
            ruling = self._messages.reject(message, sender, checked)
        # Until here, so that it is answered whatever happens.
        pending.remove(request)
        return ruling

    def _rule_unexpected(
        self, message: Message, sender: Direction, checked: CheckOutcome
    ) -> Ruling:
        """Return the ruling on a response to no request, or to one that has a response."""
        admitted = self._messages.report_and_decide(checked, sender)
        if not admitted or not self._policies.enforces_any:
            return Ruling(message.text if admitted else None)
        # What could not be read is answered without an id, and a session that was joined in its
        # middle may have requests of the server that were not seen. What the server returns is
        # for a request that was: without it, there is nothing to validate it by.
        has_no_id = message.id == request_id(b"null")
        if has_no_id or (sender == "client" and not self._from_beginning):
            return Ruling(message.text)
        code = "RESPONSE_WITHOUT_REQUEST"
        self._report.add(Finding(sender=sender, code=code, location="/id", action=Action.REJECTED))
        return Ruling()

    async def _rule_result(
        self, message: Message, request: Request, checked: CheckOutcome
    ) -> Ruling:
        """Return the ruling on the server's response to *request*."""
        is_result = request.target is not None and self._is_call_result(message, request)
        is_strict = checked.is_strict_json
        follows_protocol = checked.is_clean("/result", CALL, request.version)
        # What another policy is about is not checked twice.
        if request.method == _LIST and self._tools.filters:
            checked = checked.without("/result/tools/")
        elif request.method == CALL:
            checked = checked.without("/result" if is_result else "/result/structuredContent")
        if self._enforces_content["server"] and request.method == _LIST:
            checked = checked.ambiguous(find_in_list(message, is_strict=is_strict))
        elif self._enforces_content["server"] and is_result:
            checked = checked.ambiguous(find_in_call_result(message, is_strict=is_strict))
        if not self._messages.report_and_decide(checked, "server", request.method, request.tool):
            return self._messages.reject(message, "server", checked)
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

    def _is_call_result(self, message: Message, request: Request) -> bool:
        """Return whether *message* has a result that is validated as that of a tool."""
        is_validated = self._policies.results is not Policy.OFF and "result" in message.properties
        return is_validated and request.is_answered_by(message.result or {})
