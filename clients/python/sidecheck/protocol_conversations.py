"""What a client says to the service of the protocol and makes of the answers, without any I/O."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from sidecheck.checks import (
    CheckItem,
    CheckOptions,
    ProtocolContext,
    ProtocolMessage,
)
from sidecheck.conversations import Conversation, Conversations
from sidecheck.exchanges import SESSION, Exchange
from sidecheck.findings import CheckedNames, CheckedTools, CheckOutcome, CheckResult, Rule
from sidecheck.returned import NormalizedResult, Returned
from sidecheck.targets import Document, ToolDefinition, ToolJson
from sidecheck.verdicts import Verdict
from sidecheck.wire import protocol_requests as requests
from sidecheck.wire import protocol_responses as responses
from sidecheck.wire import rpcs
from sidecheck.wire.returned_requests import normalization_request
from sidecheck.wire.returned_responses import normalized

__all__ = ["ProtocolConversations"]


def unchecked(verdict: Verdict) -> CheckResult:
    """Return the answer to go on with where nobody could check."""
    return CheckResult(verdict=verdict)


class ProtocolConversations:
    """The conversations with the service of the protocol, on the ground of all the client's."""

    def __init__(self, ground: Conversations) -> None:
        self._ground = ground

    def rules(
        self, protocol_version: str, timeout: float | None
    ) -> Iterator[Conversation[list[Rule]]]:
        """Yield a conversation for each page of rules; see `Conversations.pages`."""
        token, more = "", True

        def page() -> Conversation[list[Rule]]:
            nonlocal token, more
            request = requests.rules_request(protocol_version, token)
            response = yield from self._ground.ask(rpcs.LIST_RULES, request, timeout)
            rules, token = responses.rules_page(response)
            more = token != ""
            return rules

        while more:
            yield page()

    def names(
        self,
        names: Iterable[str],
        peers: ProtocolContext | None,
        options: CheckOptions | None,
        timeout: float | None,
    ) -> Conversation[CheckedNames]:
        """Have names of tools checked."""
        if isinstance(names, str):
            raise TypeError("names are given as several strings, not as one")
        request = requests.names_request(names, peers, options)
        response = yield from self._ground.ask(rpcs.CHECK_TOOL_NAMES, request, timeout)
        return responses.names(response)

    def tools(
        self,
        tools: bytes | str | Mapping[str, object] | Iterable[ToolDefinition | ToolJson],
        documents: Iterable[Document],
        peers: ProtocolContext | None,
        options: CheckOptions | None,
        timeout: float | None,
    ) -> Conversation[CheckedTools]:
        """Have a listing, or definitions given one by one, checked."""
        request = requests.tools_request(tools, documents, peers, options)
        response = yield from self._ground.ask(rpcs.CHECK_TOOLS, request, timeout)
        return responses.tools(response)

    def check(
        self,
        item: CheckItem,
        peers: ProtocolContext | None,
        options: CheckOptions | None,
        timeout: float | None,
    ) -> Conversation[CheckResult]:
        """Have one thing checked, by the procedure that is for its kind."""
        rpc, request = requests.check_request(item, peers, options)
        read = responses.answer
        return (yield from self._ground.judged(rpc, request, read, unchecked, timeout))

    def normalize(
        self,
        returned: Returned,
        peers: ProtocolContext | None,
        options: CheckOptions | None,
        timeout: float | None,
    ) -> Conversation[NormalizedResult]:
        """Have a result made; nobody can make it up where no server answers."""
        request = normalization_request(returned, peers, options)
        response = yield from self._ground.ask(rpcs.NORMALIZE_TOOL_RESULT, request, timeout)
        return normalized(response)

    def batch(
        self,
        items: Iterable[CheckItem],
        peers: ProtocolContext | None,
        options: CheckOptions | None,
        timeout: float | None,
    ) -> Conversation[list[CheckOutcome]]:
        """Have many things checked, in as many calls as the server's limits demand."""
        messages = [requests.batch_item(item) for item in items]
        whole = partial(requests.batch_request, peers=peers, how=options)
        rpc, read = rpcs.CHECK_BATCH, responses.batch_outcomes
        return (yield from self._ground.in_parts(rpc, messages, whole, read, unchecked, timeout))

    def session(
        self, peers: ProtocolContext | None, options: CheckOptions | None
    ) -> Conversation[Exchange[ProtocolMessage, CheckResult]]:
        """Learn what the stream of a session must keep to."""
        opening = requests.session_defaults(peers, options)
        return (yield from self._ground.opening(SESSION, opening, None))
