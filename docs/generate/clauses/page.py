"""The page of clauses: the rules for each requirement of the specification, or why none exists."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from sidecheck_server.cli.rules import describe_versions
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.rules.catalogue import GROUPS
from sidecheck_server.core.mcp.rules.rule import Clause as Source

from docs.generate.clauses.table import REASONS, Assessment, Clause, assessments, clauses
from docs.generate.markdown import NOTICE, code, table

__all__ = ["clauses_page"]

_PAGE = """\
# Clauses of the specification

{notice}
Each MUST and SHOULD of the MCP specification that concerns messages, in all versions from
{first} to {last}: the requirement, in our words, and the [rules](rules.md) that report a breach.
If messages alone cannot show a breach, the reason is in place of the rules. A
sentence that several versions or pages share is one clause, on its newest page.

{counts}
The list is extracted from the pages below `basic`, `client` and `server` and from the comments of
the schema. It does not contain

- the pages on authorization, which concern HTTP and tokens, not messages,
- the start page, whose requirements are on the design of products: consent, documentation,
- the changelog and the list of deprecated features, which repeat other pages,
- extensions, which have specifications of their own; rules still check the
  [tasks extension](rules.md#tasks-extension).

{sections}"""

_CHECKED = "checked by rules"
_GAP = "not checked"

_MARKUP = re.compile(r"[\\<>*_]")
_NOT_IN_ANCHORS = re.compile(r"[^\w\s-]")


def clauses_page() -> str:
    """Return the page. Clauses without an assessment are left out; a test finds them."""
    assessed = {
        clause: assessments()[digest]
        for digest, clause in clauses().items()
        if digest in assessments()
    }
    return _PAGE.format(
        notice=NOTICE,
        first=VERSIONS[0],
        last=VERSIONS[-1],
        counts=_counts(assessed),
        sections="\n".join(_sections(assessed)),
    )


def _counts(assessed: Mapping[Clause, Assessment]) -> str:
    """Return the table of the numbers of clauses, by outcome and by level."""
    counted = Counter(
        (_outcome(assessment), clause.level) for clause, assessment in assessed.items()
    )
    outcomes = {
        _CHECKED: "rules report every breach that messages can show, except as noted",
        **{name: f"the clause {meaning}" for name, meaning in REASONS.items()},
        _GAP: "messages could show a breach, but no rule checks it",
    }
    rows = [
        (name, meaning, *_numbers(counted[name, level] for level in ("MUST", "SHOULD")))
        for name, meaning in outcomes.items()
    ]
    total = Counter(clause.level for clause in assessed)
    sums = ("all", "", *_numbers(total[level] for level in ("MUST", "SHOULD")))
    return table(("", "Meaning", "MUST", "SHOULD", "Clauses"), [*rows, sums])


def _numbers(counts: Iterable[int]) -> tuple[str, ...]:
    numbers = list(counts)
    return tuple(map(str, [*numbers, sum(numbers)]))


def _outcome(assessment: Assessment) -> str:
    if assessment.gap:
        return _GAP
    return _CHECKED if assessment.rules else assessment.reason


def _sections(assessed: Mapping[Clause, Assessment]) -> Iterator[str]:
    """Yield a section for each page, in the order of their names."""
    anchors = {
        rule.code: f"rules.md#{_anchor(group.value)}"
        for group, rules in GROUPS.items()
        for rule in rules
    }
    by_page = sorted(assessed.items(), key=lambda item: item[0].places[-1][1])
    for page, items in groupby(by_page, key=lambda item: item[0].places[-1][1]):
        rows = (
            (
                _escaped(assessment.says),
                clause.level,
                _versions(clause),
                _checks(assessment, anchors),
            )
            for clause, assessment in items
        )
        yield f"## {page}\n\n{table(('Requirement', 'Level', 'Versions', 'Checked by'), rows)}"


def _versions(clause: Clause) -> str:
    """Return the versions of *clause*, linked to its place in the newest."""
    versions = sorted({version for version, _, _ in clause.places})
    version, page, anchor = clause.places[-1]
    return f"[{describe_versions(versions)}]({Source(page, anchor).url(version)})"


def _checks(assessment: Assessment, anchors: Mapping[str, str]) -> str:
    """Return the rules that check a clause, or why none does."""
    if assessment.gap:
        return f"**{_GAP}**: {_escaped(assessment.gap)}"
    linked = ", ".join(f"[{code(name)}]({anchors[name]})" for name in assessment.rules)
    because = f": {_escaped(assessment.because)}" if assessment.because else ""
    return f"{linked or assessment.reason}{because}"


def _escaped(text: str) -> str:
    """Return *text* as Markdown; only its backticks are markup."""
    parts = text.split("`")
    parts[::2] = [_MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
    return "`".join(parts)


def _anchor(heading: str) -> str:
    """Return the anchor that MkDocs and GitHub give *heading*."""
    return "-".join(_NOT_IN_ANCHORS.sub("", heading.lower()).split())
