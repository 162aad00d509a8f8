"""What becomes of messages as such, by the policy about messages."""

from collections.abc import Mapping

from sidecheck import Client

from sidecheck_server.config.policies import Policy
from sidecheck_server.proxy.checks import Checked
from sidecheck_server.proxy.messages import INVALID_REQUEST, PARSE_ERROR, Message
from sidecheck_server.proxy.pending import PendingRequests
from sidecheck_server.proxy.report import (
    Action,
    Direction,
    Findings,
    finding_of,
    finding_of_error,
)
from sidecheck_server.proxy.rulings import (
    Ruling,
    passes_unvalidated,
    reject,
    unvalidated_reason,
    with_id,
)

__all__ = ["PEERS", "MessageRulings"]

PEERS: Mapping[Direction, Direction] = {"client": "server", "server": "client"}


class MessageRulings:
    """Rules on messages by their checks; *pending* are the requests of each side."""

    def __init__(
        self,
        client: Client,
        policy: Policy,
        report: Findings,
        pending: Mapping[Direction, PendingRequests],
    ) -> None:
        self._client = client
        self._policy = policy
        self._report = report
        self._pending = pending

    def rejects(self, checked: Checked) -> bool:
        """Return whether what was *checked* does not pass as a message."""
        if checked.failure is not None:
            return not passes_unvalidated(self._client, checked.failure, self._policy)
        if checked.ambiguity is not None:
            return True
        return checked.first_error is not None and self._policy is Policy.ENFORCE

    def admits(
        self,
        checked: Checked,
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

    def reject(self, message: Message, sender: Direction, checked: Checked) -> Ruling:
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
