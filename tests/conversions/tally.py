"""Statistics of the conversion of the corpus."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from conversions.converting_tools import ConvertedDefinition, convert_tool, read_definition
from conversions.subjects import Subject
from preflight.checker import faults
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import RequestError

__all__ = ["Tally", "tally_of"]


@dataclass(slots=True)
class Tally:
    """Tally of the conversions of many tools for one API with the same options."""

    converted: int = 0
    strict: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    #: By action and effect: all losses, and the tools that have them.
    tools_losing: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    #: Names of tools, each with a fault that the preflight reports.
    faults: list[tuple[str, str]] = field(default_factory=list)
    #: Names of tools, each with an exception other than an error of the request.
    broken: list[tuple[str, str]] = field(default_factory=list)
    #: Without reading the definitions.
    seconds: float = 0.0

    def lines(self) -> list[str]:
        """Return the lines of the report."""
        rejected = ", ".join(f"{reason} {count}" for reason, count in sorted(self.rejected.items()))
        losses = "; ".join(
            f"{kind}: {count:,} in {self.tools_losing[kind]:,}"
            for kind, count in sorted(self.losses.items())
        )
        summary = (
            f"{self.converted:,} converted, {self.strict:,} strict, "
            f"rejected: {rejected or 'none'}; "
            f"{len(self.faults)} break the preflight, {len(self.broken)} broke; "
            f"{self.seconds:.1f} s"
        )
        examples = [
            f"    {name}: {fault}" for name, fault in (*self.broken[:10], *self.faults[:10])
        ]
        return [summary, f"  losses: {losses}", *examples]

    def add(self, subject: Subject, result: ConvertedDefinition | RequestError) -> None:
        """Add the *result* of *subject*."""
        if isinstance(result, RequestError):
            self.rejected[result.reason] += 1
            return
        self.converted += 1
        self.strict += result.strict
        kinds = [f"{loss.action}/{loss.effect}" for loss in result.form.losses]
        self.losses.update(kinds)
        self.tools_losing.update(set(kinds))
        for fault in faults(result.api, result.tool, strict=result.strict)[:1]:
            self.faults.append((subject.name, fault))


def tally_of(subjects: Iterable[Subject], api: ModelApi, options: ConversionOptions) -> Tally:
    """Return the tally of *subjects* converted for *api*."""
    tally = Tally()
    for subject in subjects:
        try:
            definition = read_definition(subject.tool)
            started = time.perf_counter()
            try:
                result: ConvertedDefinition | RequestError = convert_tool(definition, api, options)
            finally:
                tally.seconds += time.perf_counter() - started
        except RequestError as request_error:
            result = request_error
        except Exception as error:  # noqa: BLE001 - every failure is counted
            tally.broken.append((subject.name, f"{type(error).__name__}: {error}"))
            continue
        tally.add(subject, result)
    return tally
