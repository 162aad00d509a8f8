"""Scripts of the fakes in `sidecheck.testing`."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from sidecheck.errors import SidecheckError, StreamClosed
from sidecheck.json_texts import protocol_text
from sidecheck.json_types import JsonText
from sidecheck.streams import StreamOutcome
from sidecheck.targets import RegisteredTool, Target
from sidecheck.text_contract import build_result
from sidecheck.validation import Item, OnUnavailable, Options, ValidateOutcome, fill_version
from sidecheck.values.registry import Action, Registration, RegistrationOutcome
from sidecheck.values.verdict import Severity, Verdict, Violation

__all__ = ["Script", "invalid", "raise_for_closed", "valid"]


def valid(*violations: Violation) -> Verdict:
    """Return a valid verdict with *violations*.

    Raises:
        ValueError: A violation has severity error.
    """
    if any(violation.severity is Severity.ERROR for violation in violations):
        raise ValueError("a valid verdict cannot have a violation of severity error")
    return Verdict(valid=True, violations=violations)


def invalid(*violations: Violation, tool_error_text: str = "The arguments are invalid.") -> Verdict:
    """Return an invalid verdict with *violations*, or with one error by default.

    Its `CallToolResult` contains *tool_error_text*.

    Raises:
        ValueError: No violation has severity error.
    """
    violations = violations or (Violation(code="INVALID", message="made invalid by a test"),)
    if all(violation.severity is not Severity.ERROR for violation in violations):
        raise ValueError("an invalid verdict must have a violation of severity error")
    result = protocol_text(build_result(tool_error_text, is_error=True), "result")
    return Verdict(
        valid=False,
        violations=violations,
        tool_error_text=tool_error_text,
        call_tool_result=JsonText(result),
    )


class Script:
    """The outcomes that a fake returns, and a record of the items passed to it.

    If several rules match an item, the last one added applies; *otherwise* is the outcome of
    items that match no rule. A `SidecheckError` is raised, or returned in a batch or stream;
    only a `StreamClosed` ends a stream, and items sent after it have no outcome.
    """

    def __init__(
        self,
        otherwise: ValidateOutcome | None = None,
        *,
        protocol_version: str = "",
        on_unavailable: OnUnavailable = "error",
    ) -> None:
        #: The recorded items, with the target and the options that applied.
        self.calls: list[Item] = []
        #: The definitions of each registration, by the name of the server, in order.
        self.registrations: list[tuple[str, list[dict[str, Any]]]] = []
        #: Policy of the wrappers of `sidecheck.mcp`; the fake itself raises its scripted errors.
        self.on_unavailable: OnUnavailable = on_unavailable
        self._otherwise = otherwise or valid()
        self._protocol_version = protocol_version
        self._rules: list[tuple[Callable[[Item], bool], ValidateOutcome]] = []

    def answer_tool(self, server: str, name: str, outcome: ValidateOutcome) -> None:
        """Return *outcome* for items with the registered tool *name* of *server*."""

        def matches(item: Item) -> bool:
            tool = item.target
            return isinstance(tool, RegisteredTool) and (tool.server, tool.name) == (server, name)

        self.answer_when(matches, outcome)

    def answer_when(self, matches: Callable[[Item], bool], outcome: ValidateOutcome) -> None:
        """Return *outcome* for items that *matches* accepts."""
        self._rules.insert(0, (matches, outcome))

    def _outcome(self, item: Item) -> ValidateOutcome:
        self.calls.append(item)
        return next((outcome for matches, outcome in self._rules if matches(item)), self._otherwise)

    def _verdict(self, item: Item) -> Verdict:
        outcome = self._outcome(item)
        if isinstance(outcome, SidecheckError):
            raise outcome
        return outcome

    def _outcomes(
        self, items: Iterable[Item], target: Target | None, options: Options | None
    ) -> list[ValidateOutcome]:
        return [self._outcome(self._complete(item, target, options)) for item in items]

    def _register(
        self, server: str, definitions: list[dict[str, Any]], *, validate_only: bool
    ) -> Registration:
        if not validate_only:
            self.registrations.append((server, definitions))
        return Registration(
            outcomes=tuple(
                RegistrationOutcome(name=str(definition.get("name", "")), action=Action.CREATED)
                for definition in definitions
            )
        )

    def _complete(self, item: Item, target: Target | None, options: Options | None) -> Item:
        """Return *item*, with *target* and *options* as its defaults."""
        options = fill_version(item.options or options, self._protocol_version)
        return replace(item, target=item.target or target, options=options)


def raise_for_closed(response: StreamOutcome | None) -> StreamOutcome | None:
    """Return *response*, the next one of a stream.

    Raises:
        StreamClosed: The script ends the stream here.
    """
    if response is not None and isinstance(response[1], StreamClosed):
        raise response[1]
    return response
