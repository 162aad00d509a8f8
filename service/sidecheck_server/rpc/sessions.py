"""Sessions: the messages of one stream, and what is known before them."""

from copy import copy

from sidecheck.v1.protocol_service_pb2 import (
    CheckOutcome,
    CheckResult,
    CheckSessionRequest,
    CheckSessionResponse,
    SessionDefaults,
    SessionItem,
)

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.sessions import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage
from sidecheck_server.rpc.batches import Turn
from sidecheck_server.rpc.handler import status_of
from sidecheck_server.rpc.mapping import (
    RequestContext,
    answer_to_wire,
    asked_from_wire,
    nothing_to_check,
    terms_from_wire,
)
from sidecheck_server.rpc.methods import Unreadable
from sidecheck_server.rpc.streams import item_of
from sidecheck_server.services.protocol import Checker

__all__ = ["Conversation"]

_NOTHING_KNOWN = SessionDefaults()


class Conversation:
    """One session, as it goes on."""

    def __init__(
        self, checker: Checker, limits: Limits, defaults: SessionDefaults = _NOTHING_KNOWN
    ) -> None:
        self._checker = checker
        self._limits = limits
        self._terms: RequestContext | RequestError
        try:
            self._terms = terms_from_wire(defaults.context, defaults.options, limits)
        except RequestError as refusal:
            # What is wrong with the defaults each item says by itself.
            self._terms = copy(refusal)
        else:
            terms = self._terms
            self._session = Session(terms.context, pinned=terms.names_version)

    async def answer(self, request: CheckSessionRequest | Unreadable) -> CheckSessionResponse:
        """Return the answer to *request*, or its refusal: it must not cost the others."""
        id_ = ""
        try:
            item: SessionItem = item_of(request)
            id_ = item.id
            outcome = CheckOutcome(result=await self._answer(item))
        except Exception as error:  # noqa: BLE001  (the border)
            outcome = CheckOutcome(error=status_of(error, "CheckSession"))
        return CheckSessionResponse(id=id_, outcome=outcome)

    async def _answer(self, item: SessionItem) -> CheckResult:
        if isinstance(self._terms, RequestError):
            # Raising adds to a traceback; the one that is kept is never raised itself.
            raise copy(self._terms)
        if not item.HasField("message"):
            raise nothing_to_check("message")
        sent = asked_from_wire(item.message, self._terms)
        assert isinstance(sent.subject, ProtocolMessage)
        size, most = len(sent.subject.json), self._limits.payload_bytes
        if size > most:
            # Not even a glance is had of it.
            self._session.miss()
            raise exceeded("payload_bytes", most, "the payload", size)
        asked = self._session.asked(sent.subject, sent.context.sender, sent.how)
        try:
            checked = await self._checker.check_unanswered(asked)
        except RequestError:
            self._session.miss()
            raise
        turn = Turn()
        for _ in self._session.taking(asked, checked):
            await turn.over()
        await self._checker.answer(asked, checked)
        return answer_to_wire(asked, checked, checked.findings.verdict())
