"""Run of the comparison for a given time."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from agreement.editions import Edition
from agreement.engines import ORACLE_REJECTED, Engines, Finding, create_engines
from agreement.known_differences import is_avoided
from agreement.mutations import mutated
from agreement.payloads import PayloadMaker
from agreement.schemas import Generated, generate_schema
from agreement.values import any_value, names_in
from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["Tally", "examine_case", "run"]

_PAYLOADS = 4
# What a broken schema may come to hold.
_KEYWORDS = (
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "not",
    "$ref",
    "contains",
    "minimum",
)


@dataclass(slots=True)
class Tally:
    """Coverage of a run."""

    schemas: int = 0
    #: Schemas that the fast engine evaluates.
    fast: int = 0
    #: Reasons for the complete engine, by number of schemas.
    complete_only_reason: Counter[str] = field(default_factory=Counter)
    #: Schemas that were rejected, by reason.
    excinfo: Counter[str] = field(default_factory=Counter)
    payloads: int = 0
    valid: int = 0
    #: Payloads that an engine found too expensive.
    abstained: int = 0
    #: Keywords of the evaluated schemas.
    keywords: Counter[str] = field(default_factory=Counter)
    #: Number of schemas with an embedded resource of another edition.
    embedding: int = 0
    findings: list[Finding] = field(default_factory=list)

    def __str__(self) -> str:
        percentage = 100 * self.fast / max(self.schemas, 1)
        valid = 100 * self.valid / max(self.payloads, 1)
        reasons = {
            reason: count for reason, count in self.complete_only_reason.most_common() if reason
        }
        excinfo = {str(reason): count for reason, count in self.excinfo.most_common()}
        return (
            f"{self.schemas:,} schemas judged, {percentage:.1f} % by the fast engine;"
            f" {self.payloads:,} payloads, {valid:.1f} % valid, {self.abstained} too expensive;"
            f" {len(self.findings)} findings; {self.embedding} schemas embed another edition\n"
            f"  only the complete engine: {reasons}\n"
            f"  refused: {excinfo}"
        )


def run(
    edition: Edition, seed: str, seconds: float, *, most_findings: int = 3, least_schemas: int = 0
) -> Tally:
    """Examine random cases of *edition* for the given seconds.

    It continues until *least_schemas* were evaluated, and ends early after *most_findings*.
    """
    tally = Tally()
    end = time.monotonic() + seconds
    number = 0
    while (time.monotonic() < end or tally.schemas < least_schemas) and len(
        tally.findings
    ) < most_findings:
        examine_case(edition, f"{seed}/{edition.name}/{number}", tally)
        number += 1
    return tally


def examine_case(edition: Edition, seed: str, tally: Tally) -> None:
    """Examine one random schema of *edition* with several payloads; add to *tally*."""
    random = Random(seed)
    generated = generate_schema(random, edition)
    question = generated.question
    # A mutation may change the resources of other editions, which the oracle must know.
    is_broken = random.random() < 0.2 and not generated.embeds_other_edition
    if is_broken:
        schema = mutated(random, question.schema, (*generated.names, *_KEYWORDS))
        if is_avoided(edition, schema):
            return
        question = replace(question, schema=schema)
    engines = create_engines(question)
    if isinstance(engines, Engines):
        tally.embedding += generated.embeds_other_edition
        _examine_payloads(engines, list(_payloads(random, generated)), tally)
    elif isinstance(engines, RequestError):
        tally.excinfo[engines.reason] += 1
    elif is_broken and engines.kind == ORACLE_REJECTED:
        tally.excinfo[ORACLE_REJECTED] += 1
    else:
        tally.findings.append(engines)
    if not is_broken:
        tally.findings += _disagreements(generated, engines)


def _disagreements(
    generated: Generated, engines: Engines | RequestError | Finding
) -> Iterator[Finding]:
    """Yield a finding if a valid schema was rejected, or a cyclic schema was admitted."""
    codes = (
        {violation.code for violation in engines.violations}
        if isinstance(engines, RequestError)
        else set()
    )
    endless = ErrorReason.REFERENCE_CYCLE.value in codes
    if isinstance(engines, RequestError) and codes != {ErrorReason.REFERENCE_CYCLE.value}:
        yield Finding("refused what is in order", str(engines), generated.question)
    elif generated.endless is not None and generated.endless != endless:
        yield Finding("endless or not", f"ought to be {generated.endless}", generated.question)


def _payloads(random: Random, generated: Generated) -> Iterator[Any]:
    """Yield payloads that the schema probably accepts, some with small changes."""
    hides = generated.question.edition.reference_hides_siblings
    maker = PayloadMaker(random, generated.follow, names=generated.names, hides_siblings=hides)
    for _ in range(_PAYLOADS):
        payload = maker.make(generated.question.schema)
        yield payload
        yield mutated(random, payload, generated.names)
    yield any_value(random, generated.names)


def _examine_payloads(engines: Engines, payloads: list[Any], tally: Tally) -> None:
    artifact = engines.artifact
    tally.schemas += 1
    tally.fast += artifact.fast is not None
    tally.complete_only_reason[artifact.complete_only_reason] += artifact.fast is None
    tally.keywords.update(set(names_in(engines.question.schema)))
    for payload in payloads:
        text = json.dumps(payload)
        findings = list(engines.examine(text))
        tally.findings += findings
        if text in engines.verdicts:
            tally.payloads += 1
            tally.valid += engines.verdicts[text]
        elif not findings:
            tally.abstained += 1
        if findings:
            return
