"""The steps of the demo."""

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sidecheck import (
    Action,
    Arguments,
    BlockingClient,
    Item,
    ValidateOutcome,
    Verdict,
)

from demo.calls import Call, in_short, planned_calls
from demo.mcp_servers import Offer, Servers
from demo.report import Report
from demo.repository import make_repository
from demo.service import running_service

__all__ = ["demonstrate"]

#: Far above what a call takes, even on a busy machine.
_CALL_SECONDS = 60.0


def demonstrate(environment: Path, folder: Path) -> bool:
    """Run the demo in *folder*, with the MCP servers of *environment*.

    Returns:
        Whether everything was as expected.

    Raises:
        NoAnswer: The MCP servers are not installed, or one gave no answer.
        NotReady: The service did not start.
        SidecheckError: The service returned an unexpected error.
    """
    started = time.monotonic()
    servers = Servers(environment, folder)
    make_repository(folder / "shop")
    report = Report()
    with running_service(folder) as service:
        with report.console.status("Starting Sidecheck and the MCP servers", spinner="line"):
            offers = servers.list_tools()
            address = service.wait_for_address()
        with BlockingClient(address, timeout=_CALL_SECONDS) as client:
            report.service(client.info(), address)
            steps = _Steps(client, servers, offers, report)
            steps.register()
            steps.call(steps.validate())
    report.end(steps.surprises, steps.validated, steps.called, time.monotonic() - started)
    return not steps.surprises


class _Steps:
    """Runs the steps and counts their outcomes."""

    def __init__(
        self, client: BlockingClient, servers: Servers, offers: list[Offer], report: Report
    ) -> None:
        self._client = client
        self._servers = servers
        self._offers = {offer.server.namespace: offer for offer in offers}
        self._report = report
        self.validated = 0
        self.called = 0
        self.surprises: list[str] = []

    def register(self) -> None:
        """Register the tools of every server under its namespace."""
        registered = []
        for namespace, offer in self._offers.items():
            # A rejected tool is a surprise, which the report lists with all others.
            registration = self._client.register(
                namespace, offer.tools, replace=True, on_rejected="return"
            )
            registered.append((offer, registration))
            for outcome in registration.outcomes:
                if outcome.action is not Action.CREATED:
                    self.surprises.append(f"{namespace} {outcome.name} is {outcome.action}")
        self._report.heading("Register the tools of published MCP servers")
        self._report.offers(registered)

    def validate(self) -> list[Call]:
        """Validate the planned calls in one batch and return the valid ones."""
        calls = planned_calls(self._offers["git"].tool("git_branch"))
        items = [Item(Arguments(call.arguments), call.target) for call in calls]
        results = list(zip(calls, self._client.validate_batch(items), strict=True))
        self._report.heading("Validate the calls of a model")
        self._report.outcomes(results)
        self._report.heading("Report violations: codes for programs, text for the model")
        self._report.reasons(results)
        for call, outcome in results:
            what = f"{call.label} {call.text}"
            self._expect(call.expected, outcome, what)
            has_text = isinstance(outcome, Verdict) and outcome.tool_error_text != ""
            if has_text is not call.expected.startswith("invalid"):
                self.surprises.append(f"{what}: {'a' if has_text else 'no'} text for the model")
        return [call for call, outcome in results if in_short(outcome) == "valid"]

    def call(self, calls: Iterable[Call]) -> None:
        """Make *calls* and validate their structured results too."""
        rows: list[tuple[str, str, str, ValidateOutcome | None]] = []
        for call in calls:
            rows.append((call.label, "arguments", call.text, None))
            offer = self._offers[call.server]
            with self._report.console.status(f"Calling {call.label}", spinner="line"):
                result = self._servers.call_tool(offer.server, call.tool, call.text)
            self.called += 1
            if result.get("isError"):
                self.surprises.append(f"{call.label} answered with an error: {_text(result)}")
            if "outputSchema" not in offer.tool(call.tool):
                rows.append(("", "result", _text(result), None))
                continue
            # Absent, it is null here, which the schema does not allow.
            content = result.get("structuredContent")
            verdict = self._client.validate_structured_content(call.target, content)
            self._expect("valid", verdict, f"the result of {call.label}")
            rows.append(("", "result", json.dumps(content), verdict))
            # As if the server violated its own schema, which declares a boolean.
            altered = {**(content or {}), "is_dst": "no"}
            verdict = self._client.validate_structured_content(call.target, altered)
            self._expect("invalid TYPE", verdict, f"the altered result of {call.label}")
            rows.append(("", "altered", 'the same with "is_dst": "no"', verdict))
        self._report.heading("Make the valid calls and validate their results")
        self._report.exchange(rows)

    def _expect(self, expected: str, outcome: ValidateOutcome, what: str) -> None:
        """Count an outcome, and record it unless it is the *expected* one."""
        self.validated += 1
        actual = in_short(outcome)
        if actual != expected:
            self.surprises.append(f"{what}: {actual} instead of {expected}")


def _text(result: Mapping[str, Any]) -> str:
    """Return the text of a ``CallToolResult``."""
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text").strip()
