"""Check of a tool definition against the facts about targets."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.limits import Exhausted, Limits, limit_exceeded_error
from sidecheck_server.core.portability.facts import Effect, Fact, Hazard, view_tool
from sidecheck_server.core.portability.lints import find_lints
from sidecheck_server.core.portability.target import Target
from sidecheck_server.core.portability.targets import FACTS
from sidecheck_server.core.types import Severity, Violation, as_pointer

__all__ = ["PortabilityFinding", "check_portability"]


@dataclass(frozen=True, slots=True)
class PortabilityFinding:
    """Part of a definition that some targets refuse or ignore."""

    #: JSON Pointer into the definition.
    pointer: str
    keyword: str
    subject: str
    hazard: Hazard
    #: Its effect on each target; never empty.
    facts: tuple[Fact, ...]

    def violation(self, *, named: frozenset[Target]) -> Violation:
        """Return the finding as a violation.

        Its severity is error if one of the *named* targets refuses the part, warning if one
        ignores it, and otherwise info.
        """
        concerned = [fact.effect.is_refusal for fact in self.facts if fact.target in named]
        severity = Severity.INFO
        if concerned:
            severity = Severity.ERROR if any(concerned) else Severity.WARNING
        return Violation(
            self.pointer,
            "",
            self.keyword,
            self.hazard.code,
            f"{self.subject}: {'; '.join(self._consequences())}; {self.hazard.remedy}",
            severity,
            spec_url=next((url for fact in self.facts if (url := _url(fact))), ""),
        )

    def _consequences(self) -> Iterator[str]:
        """Yield a clause for each effect, with the targets and the sources of the facts."""
        by_effect: dict[Effect, list[Fact]] = {}
        for fact in self.facts:
            by_effect.setdefault(fact.effect, []).append(fact)
        for effect, facts in by_effect.items():
            targets = ", ".join(fact.target.value for fact in facts)
            sources = dict.fromkeys(
                f"{fact.source.reference} ({fact.source.date})" for fact in facts
            )
            yield f"{targets}: {effect.value} [{'; '.join(sources)}]"


def _url(fact: Fact) -> str:
    reference = fact.source.reference.partition(" ")[0].rstrip(";,")
    return reference if "://" in reference else ""


def check_portability(
    tool: dict[str, Any], targets: Iterable[Target], limits: Limits, *, server: str = ""
) -> tuple[list[PortabilityFinding], list[Violation]]:
    """Return what *targets* refuse or ignore in *tool*, and the lints of *tool*.

    Both are ordered by location. *server* is the name under which clients know the server.

    Raises:
        RequestError: LIMIT_EXCEEDED.
    """
    budget = [limits.steps]
    selected = frozenset(targets)
    occurrences: dict[tuple[str, str, str], tuple[str, Hazard, list[Fact]]] = {}
    try:
        view = view_tool(tool, server, budget)
        for fact in FACTS:
            if fact.target not in selected:
                continue
            for place in fact.hazard.find(view, budget):
                key = (as_pointer(place.path), fact.hazard.code, place.subject)
                occurrences.setdefault(key, (place.keyword, fact.hazard, []))[2].append(fact)
        lints = list(find_lints(view, budget, limits))
    except Exhausted:
        bound = "steps"
        raise limit_exceeded_error(bound, limits.steps, "checking portability") from None
    findings = [
        PortabilityFinding(pointer, keyword, subject, hazard, tuple(facts))
        for (pointer, _code, subject), (keyword, hazard, facts) in occurrences.items()
    ]
    findings.sort(key=lambda finding: (finding.pointer, finding.hazard.code, finding.subject))
    return findings, sorted(lints, key=Violation.order)
