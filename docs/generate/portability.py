"""The page of portability: the effect of each hazard on each target."""

from collections.abc import Iterator
from itertools import groupby

from sidecheck_server.core.portability.facts import Fact
from sidecheck_server.core.portability.lints import REQUIREMENTS
from sidecheck_server.core.portability.target import Target
from sidecheck_server.core.portability.targets import FACTS

from docs.generate.markdown import NOTICE, code, table

__all__ = ["portability_page"]

_PAGE = """\
# Portability

{notice}
The requirements of model APIs, clients and directories on tool definitions, with their sources.
`sidecheck check` reports breaches: with `--for` and the name of a target as errors and warnings,
otherwise as advice of severity info. See [the guide](../guides/portability.md).

{targets} targets, {facts} facts.

{sections}
## mcp-registry

The file `server.json` is checked by the requirements of
<https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json> (2026-11-28), without
using the network.

## Every target

These apply to every target, because JSON Schema ignores unknown keywords. `sidecheck check` always
reports them.

{lints}"""


def portability_page() -> str:
    """Return the page."""
    facts = sorted(FACTS, key=lambda fact: list(Target).index(fact.target))
    sections = [
        f"## {target.value}\n\n{_facts(list(group))}"
        for target, group in groupby(facts, key=lambda fact: fact.target)
    ]
    return _PAGE.format(
        notice=NOTICE,
        targets=len(sections),
        facts=len(facts),
        sections="\n".join(sections),
        lints=table(
            ["code", "requirement"],
            ([code(name), requirement] for name, requirement in sorted(REQUIREMENTS.items())),
        ),
    )


def _facts(facts: list[Fact]) -> str:
    return table(["code", "requirement", "otherwise", "source"], _rows(facts))


def _rows(facts: list[Fact]) -> Iterator[list[str]]:
    for fact in facts:
        source = fact.source
        yield [
            code(fact.hazard.code),
            fact.hazard.requirement,
            fact.effect.value,
            f"{source.reference} ({source.date})",
        ]
