"""The printed report of the demo."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from sidecheck import Registration, ServerInfo, SidecheckError, ValidateOutcome, Violation

from demo.calls import Call, in_short
from demo.mcp_servers import Offer

__all__ = ["Report"]

_WIDTH = 100
_COLOURS = {"valid": "green", "invalid": "red", "error": "yellow"}


class Report:
    """Report on standard output; plain text unless that is a terminal."""

    def __init__(self) -> None:
        # Text from servers must not be interpreted as markup.
        self.console = Console(highlight=False, markup=False, emoji=False)
        if not self.console.is_terminal or self.console.width > _WIDTH:
            self.console.width = _WIDTH
        self._headings = 0

    def service(self, info: ServerInfo, address: str) -> None:
        """Print the version, the address and the engines of the service."""
        engines = ", ".join(
            f"{engine.library} {engine.version} ({engine.name})" for engine in info.engines
        )
        self._print(Text(f"Sidecheck {info.version} at {address}", "bold"), indent=0)
        self._print(Text(f"engines: {engines}"), indent=0)

    def heading(self, text: str) -> None:
        """Print the heading of the next part."""
        self._headings += 1
        self._print(Text(f"\n{self._headings}. {text}", "bold"), indent=0)

    def offers(self, registered: Iterable[tuple[Offer, Registration]]) -> None:
        """Print the servers, their number of tools and the outcome of registration."""
        table = _table("server", "release", "protocol", "tools", "registered as", "outcome")
        for offer, registration in registered:
            actions = Counter(str(outcome.action) for outcome in registration.outcomes)
            table.add_row(
                offer.name,
                offer.version,
                offer.protocol_version,
                str(len(offer.tools)),
                offer.server.namespace,
                ", ".join(f"{number} {action}" for action, number in actions.items()),
            )
        self._print(table)

    def outcomes(self, results: Iterable[tuple[Call, ValidateOutcome]]) -> None:
        """Print the outcome of each call."""
        table = _table("", "tool", "arguments", "outcome")
        for number, (call, outcome) in enumerate(results, start=1):
            table.add_row(str(number), call.label, call.text, _word(outcome))
        self._print(table)
        note = "* against a narrower definition, sent along in place of the registered one"
        self._print(Text(note, "dim"))

    def reasons(self, results: Iterable[tuple[Call, ValidateOutcome]]) -> None:
        """Print the violations of each call that is not valid, and the text for its model."""
        for number, (call, outcome) in enumerate(results, start=1):
            if in_short(outcome) == "valid":
                continue
            self._print(Text(f"{number}  {call.label}", "bold"))
            if isinstance(outcome, SidecheckError):
                self._print(_columns([(outcome.reason, outcome.message)]), indent=5)
                continue
            self._print(_columns(map(_cells, outcome.violations)), indent=5)
            lines = outcome.tool_error_text.splitlines()
            self._print(_columns([("|", line) for line in lines], padding=1), indent=5)

    def exchange(self, rows: Iterable[tuple[str, str, str, ValidateOutcome | None]]) -> None:
        """Print what a tool received and returned: tool, part, content, verdict."""
        table = _table("tool", "part", "content", "verdict")
        for tool, part, content, outcome in rows:
            table.add_row(tool, part, content, _word(outcome) if outcome else "")
            if outcome and not isinstance(outcome, SidecheckError):
                for violation in outcome.violations:
                    table.add_row("", "", "  ".join(_cells(violation)))
        self._print(table)

    def end(self, surprises: Sequence[str], validated: int, called: int, seconds: float) -> None:
        """Print whether every outcome was the expected one, and those that were not."""
        self._print(Text(""))
        for surprise in surprises:
            self._print(Text(f"NOT AS EXPECTED: {surprise}", "red"), indent=0)
        if not surprises:
            summary = f"All {validated} outcomes were as expected; {called} tools were called."
            self._print(Text(f"{summary} ({seconds:.1f} s)", "bold"), indent=0)

    def _print(self, what: RenderableType, indent: int = 2) -> None:
        with self.console.capture() as captured:
            self.console.print(Padding(what, (0, 0, 0, indent)))
        # Tables fill their last column with blanks.
        self.console.file.write(re.sub(" +$", "", captured.get(), flags=re.MULTILINE))
        self.console.file.flush()


def _table(*headings: str, padding: int = 2) -> Table:
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, padding, 0, 0),
        show_header=bool(headings),
        header_style="dim",
    )
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _columns(rows: Iterable[tuple[str, ...]], padding: int = 2) -> Table:
    table = _table(padding=padding)
    for row in rows:
        table.add_row(*row)
    return table


def _cells(violation: Violation) -> tuple[str, str, str]:
    return (violation.instance_location or "(root)", violation.code, violation.message)


def _word(outcome: ValidateOutcome) -> Text:
    word = in_short(outcome).partition(" ")[0]
    return Text(word, style=_COLOURS[word])
