"""What the demo prints."""

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from demo.calls import Call, in_short
from demo.mcp_servers import Offer
from sidecheck import Judgement, Refused, Registration, ServerInfo, Violation

__all__ = ["Report"]

_WIDTH = 100
_COLOURS = {"valid": "green", "invalid": "red", "refused": "yellow"}


class Report:
    """The report, on standard output; plain text where that is no terminal."""

    def __init__(self) -> None:
        # Nothing in it is markup: most of it comes from servers.
        self.console = Console(highlight=False, markup=False, emoji=False)
        if not self.console.is_terminal or self.console.width > _WIDTH:
            self.console.width = _WIDTH
        self._headings = 0

    def service(self, info: ServerInfo, address: str) -> None:
        """Tell which service answers."""
        engines = ", ".join(f"{one.name} {one.library} {one.version}" for one in info.engines)
        self.console.print(f"Sidecheck {info.version} at {address}", style="bold")
        self._print(Text(f"engines: {engines}"))

    def heading(self, text: str) -> None:
        """Begin the next part."""
        self._headings += 1
        self.console.print(f"\n{self._headings}. {text}", style="bold")

    def offers(self, registered: Iterable[tuple[Offer, Registration]]) -> None:
        """Tell which servers offered how many tools, and what became of these."""
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

    def judgements(self, judged: Iterable[tuple[Call, Judgement]]) -> None:
        """Tell what each call got."""
        table = _table("", "tool", "arguments", "judgement")
        for number, (call, judgement) in enumerate(judged, start=1):
            table.add_row(str(number), call.tool, call.text(), _coloured(judgement))
        self._print(table)

    def reasons(self, judged: Iterable[tuple[Call, Judgement]]) -> None:
        """Tell why each call that is not valid is not, and what its model reads."""
        separator = ""
        for number, (call, judgement) in enumerate(judged, start=1):
            if in_short(judgement) == "valid":
                continue
            self.console.print(f"{separator}  {number}  {call.tool}", style="bold")
            separator = "\n"
            if isinstance(judgement, Refused):
                self.violations([Violation(code=judgement.reason, message=judgement.message)])
                continue
            self.violations(judgement.violations)
            for line in judgement.tool_error_text.splitlines():
                self._print(Text.assemble(("| ", "dim"), line), indent=5)

    def violations(self, violations: Iterable[Violation]) -> None:
        """List *violations*: where, which rule, and why."""
        table = _table()
        for one in violations:
            table.add_row(one.instance_pointer or '""', one.code, one.message)
        self._print(table, indent=5)

    def exchange(self, rows: Iterable[tuple[str, str, str, Judgement | None]]) -> None:
        """Tell what went to a tool and what came back: tool, part, content, judgement."""
        table = _table("tool", "part", "content", "judgement")
        for tool, part, content, judgement in rows:
            shown = Text("not judged", "dim") if judgement is None else _coloured(judgement)
            table.add_row(tool, part, content, shown)
        self._print(table)

    def end(self, surprises: Sequence[str], judged: int, called: int, seconds: float) -> None:
        """Say whether all went as expected, and what did not."""
        self.console.print()
        for surprise in surprises:
            self.console.print(f"NOT AS EXPECTED  {surprise}", style="red")
        if not surprises:
            self.console.print(
                f"All {judged} judgements were as expected, and {called} tools were called. "
                f"({seconds:.1f} s)",
                style="bold",
            )

    def _print(self, what: RenderableType, indent: int = 2) -> None:
        self.console.print(Padding(what, (0, 0, 0, indent)))


def _table(*headings: str) -> Table:
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        show_header=bool(headings),
        header_style="dim",
    )
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _coloured(judgement: Judgement) -> Text:
    text = in_short(judgement)
    return Text(text, style=_COLOURS[text.partition(" ")[0]])
