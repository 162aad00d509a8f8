"""What conversion makes of the corpus, in numbers."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from conversions.making import Made, defined, made
from conversions.subjects import Subject
from preflight.checker import faults
from sidecheck_server.core.convert.words import ConversionOptions, ModelApi
from sidecheck_server.core.errors import RequestError

__all__ = ["Tally", "tally_of"]


@dataclass(slots=True)
class Tally:
    """What became of many tools in one API and one way."""

    converted: int = 0
    strict: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    #: By action and direction: in how many tools, and how many in all.
    tools_losing: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    #: Names of tools with what the preflight says of them.
    faults: list[tuple[str, str]] = field(default_factory=list)
    #: Names of tools that brought forth something else than a refusal.
    broken: list[tuple[str, str]] = field(default_factory=list)
    #: Of conversion alone.
    seconds: float = 0.0

    def lines(self) -> list[str]:
        """Return it for a person."""
        refused = ", ".join(f"{reason} {n}" for reason, n in sorted(self.refused.items()))
        losses = "; ".join(
            f"{kind}: {n:,} in {self.tools_losing[kind]:,}"
            for kind, n in sorted(self.losses.items())
        )
        first = (
            f"{self.converted:,} converted, {self.strict:,} strict, refused: {refused or 'none'}; "
            f"{len(self.faults)} break the preflight, {len(self.broken)} broke; "
            f"{self.seconds:.1f} s"
        )
        told = [f"    {name}: {said}" for name, said in (*self.broken[:10], *self.faults[:10])]
        return [first, f"  losses: {losses}", *told]

    def add(self, subject: Subject, result: Made | RequestError) -> None:
        """Count what became of *subject*."""
        if isinstance(result, RequestError):
            self.refused[result.reason] += 1
            return
        self.converted += 1
        self.strict += result.strict
        kinds = [f"{loss.action}/{loss.direction}" for loss in result.form.losses]
        self.losses.update(kinds)
        self.tools_losing.update(set(kinds))
        for said in faults(result.api, result.tool, strict=result.strict)[:1]:
            self.faults.append((subject.name, said))


def tally_of(subjects: Iterable[Subject], api: ModelApi, options: ConversionOptions) -> Tally:
    """Return what becomes of *subjects* for *api*."""
    tally = Tally()
    for subject in subjects:
        try:
            definition = defined(subject.tool)
            started = time.perf_counter()
            try:
                result: Made | RequestError = made(definition, api, options)
            finally:
                tally.seconds += time.perf_counter() - started
        except RequestError as refusal:
            result = refusal
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told and counted
            tally.broken.append((subject.name, f"{type(error).__name__}: {error}"))
            continue
        tally.add(subject, result)
    return tally
