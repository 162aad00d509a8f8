"""Tables of rules: for a terminal, and for the documentation."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sidecheck_server.cli.reports import STYLES, counted
from sidecheck_server.cli.rows import Row
from sidecheck_server.core.mcp.rules.catalogue import GROUPS
from sidecheck_server.core.mcp.rules.rule import Rule
from sidecheck_server.core.mcp.types.errata import ERRATA, Erratum
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.types import Severity

__all__ = ["rows_of_rules", "rules_in_markdown"]

_BEGINNING = """\
# The rules

What definitions and messages are checked by, beside the schemas that the specification
publishes. An *error* breaks a MUST of the specification, or its schema; a *warning* breaks a
SHOULD; an *info* is advice of a provider of models. `make docs` writes this file; the service
tells the same in `ProtocolService.ListRules`, and the command in `sidecheck rules`.
"""
_ERRATA = """\
## Errata of the published schemas

The schemas that the specification publishes are made from its `schema.ts`. Where they say
something else than it, or than prose that binds, the service keeps to these.
"""


def rows_of_rules(rules: Sequence[Rule]) -> Iterator[Row]:
    """Yield a row for each of *rules*, and one that counts them."""
    width = max((len(rule.code) for rule in rules), default=0)
    severities = max(map(len, Severity))
    for rule in rules:
        yield Row(
            (
                (f"{rule.code:<{width}}  ", "bold"),
                (f"{rule.severity.value:<{severities}}  ", STYLES[rule.severity]),
                (f"{_span(rule):<{_WIDEST_SPAN}}  ", "cyan"),
                (rule.sentence, ""),
            ),
            wraps=False,
        )
    yield Row(((_counted(rules), "bold"),))


def rules_in_markdown(version: str | None = None) -> str:
    """Return a document with a table for each group of rules, of *version* or of all."""
    groups = {
        title: [rule for rule in rules if version is None or rule.holds_in(version)]
        for title, rules in GROUPS.items()
    }
    parts = [_BEGINNING, f"{_counted([rule for rules in groups.values() for rule in rules])}.\n"]
    for title, rules in groups.items():
        if rules:
            parts += [f"## {title}\n", _table(rules)]
    errata = [one for one in ERRATA if version is None or version in one.versions]
    if errata:
        parts += [_ERRATA, _table_of_errata(errata)]
    return "\n".join(parts).rstrip("\n")


def _table(rules: Sequence[Rule]) -> str:
    lines = ["| code | severity | versions | what must be so | clause |", "|---|---|---|---|---|"]
    lines += [
        f"| `{rule.code}` | {rule.severity.value} | {_span(rule)} | {_escaped(rule.sentence)} "
        f"| {_link(rule)} |"
        for rule in rules
    ]
    return "\n".join(lines) + "\n"


def _table_of_errata(errata: Sequence[Erratum]) -> str:
    lines = ["| type | versions | published | what holds | why |", "|---|---|---|---|---|"]
    lines += [
        f"| `{one.type}{f'.{one.member}' if one.member else ''}` | {', '.join(one.versions)} "
        f"| {_escaped(one.published)} | {_escaped(one.holds)} | {_escaped(one.why)} |"
        for one in errata
    ]
    return "\n".join(lines) + "\n"


def _span(rule: Rule) -> str:
    first, last = rule.versions[0], rule.versions[-1]
    if (first, last) == (VERSIONS[0], VERSIONS[-1]):
        return "all"
    if first == last:
        return first
    if last == VERSIONS[-1]:
        return f"since {first}"
    if first == VERSIONS[0]:
        return f"until {last}"
    return f"{first} to {last}"


_WIDEST_SPAN = len(f"{VERSIONS[0]} to {VERSIONS[0]}")


def _link(rule: Rule) -> str:
    clause = rule.clause
    at = clause.at(rule.versions[-1])
    # Of a provider's page, whose it is tells most.
    name = clause.page.partition("://")[2].partition("/")[0] or clause.page
    anchor = f", {clause.anchor}" if clause.anchor and "://" not in clause.page else ""
    return f"[{name}{anchor}]({at})" if "://" in at else name


def _escaped(text: str) -> str:
    for character in "\\|<>*_":
        text = text.replace(character, f"\\{character}")
    return text


def _counted(rules: Sequence[Rule]) -> str:
    counts = Counter(rule.severity for rule in rules)
    each = ", ".join(
        counted(counts[severity], noun)
        for severity, noun in (
            (Severity.ERROR, "error"),
            (Severity.WARNING, "warning"),
            (Severity.INFO, "info"),
        )
    )
    return f"{counted(len(rules), 'rule')}: {each}"
