"""Share of the tools of published MCP servers that are inferred from source text.

python benchmarks/inferred_servers.py [--quick] [--report FOLDER]
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from definition_kinds import differences
from published_servers import LIMITS, WIDE, Outcome, Server, published_tools, servers
from report import Claim, Effort, Section, Table, run

__all__ = ["measure"]

_SHARE_WANTED = 90

_TEXT = (
    "The servers are those of `tests/servers.lock`: releases of others, downloaded, read and "
    "never installed or run. A tool is a function with a decorator called `tool`. Each file is "
    f"read by itself, as a caller would send it; one of more than {LIMITS.source_bytes:,} bytes "
    "is rejected, and with a wider limit all are read. What a server published comes "
    "from answers to `tools/list`, of the same release for fetch, git and time, and of an "
    "earlier one for the others, so that tools differ there because they were changed, too. "
    "Titles are those that pydantic makes of names; a closed root is `additionalProperties: "
    "false`, which those servers leave out, and ignore what they do not know."
)


def measure(effort: Effort) -> Section:  # noqa: ARG001  (all is read at once, and quickly)
    """Measure and return the section."""
    every = servers()
    if not every:
        raise SystemExit("build/servers has no servers; make build/servers/.made downloads them")
    within = {one.name: one.outcome(LIMITS) for one in every}
    wide = {one.name: one.outcome(WIDE) for one in every}
    tables = [
        _table("Tools inferred, file by file", every, within),
        _table("The same, with every text admitted", every, wide),
    ]
    published = published_tools()
    if published:
        tables.append(_differences_table(wide, published))
    return Section(
        "inferred_servers",
        "Inferring the tools of published servers",
        _TEXT,
        tables,
        list(_claims(within, wide)),
    )


def _table(caption: str, every: Iterable[Server], found: Mapping[str, Outcome]) -> Table:
    rows = [[f"{one.name} {one.version}", *_cells(found[one.name])] for one in every]
    rows.append(["**all**", *_cells(_sum(found.values()))])
    head = ["server", "tools", "inferred", "without a warning", "warnings", "rejected"]
    return Table(caption, head, rows)


def _cells(one: Outcome) -> list[str]:
    return [
        str(one.tools),
        str(one.inferred),
        str(one.clean),
        _counted(one.warnings),
        _counted(one.rejected),
    ]


def _counted(found: Counter[str]) -> str:
    return ", ".join(f"{count} {code}" for code, count in found.most_common()) or "-"


def _sum(outcomes: Iterable[Outcome]) -> Outcome:
    whole = Outcome()
    for outcome in outcomes:
        whole.add(outcome)
    return whole


def _differences_table(
    found: Mapping[str, Outcome], published: Mapping[str, Mapping[str, Any]]
) -> Table:
    """Return the differences from published definitions of the same name, by kind."""
    rows = []
    for server, theirs in sorted(published.items()):
        ours = found[server].definitions if server in found else {}
        both = sorted(set(theirs) & set(ours))
        kinds = Counter(kind for name in both for kind in differences(theirs[name], ours[name]))
        rows.append([server, str(len(theirs)), str(len(both)), _counted(kinds)])
    head = ["server", "published", "inferred by the same name", "differ in"]
    return Table("Differences from what servers published", head, rows)


def _claims(within: Mapping[str, Outcome], wide: Mapping[str, Outcome]) -> Iterable[Claim]:
    for where, found in (("texts within the limit", within), ("all texts", wide)):
        whole = _sum(found.values())
        tools = whole.tools - whole.rejected["LIMIT_EXCEEDED"]
        share = 100 * whole.inferred / tools
        yield Claim(
            f"tools of published servers are inferred from their text: {where}",
            f"{_SHARE_WANTED} % at least",
            f"{share:.1f} % ({whole.inferred} of {tools}; {whole.tools - tools} beyond the limit)",
            share >= _SHARE_WANTED,
        )


if __name__ == "__main__":
    run(measure, __doc__)
