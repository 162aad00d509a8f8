"""Public test cases of containment: no wrong "compatible", and the counts match the ledger.

Each case says of two schemas whether one admits all that the other admits. As the old and
the new input schema, the change is compatible if it does.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import jsonschema
import jsonschema_rs
import msgspec
import pytest
from agreement.editions import EDITIONS
from sidecheck_server.core.compat.changes import Level, Part, SchemaVerdict
from sidecheck_server.core.compat.compare import compare_schemas
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from support.shared_material import REPOSITORY, shared

pytestmark = [pytest.mark.slow, pytest.mark.corpus]

LIMITS = Limits()
LEDGER = json.loads((REPOSITORY / "tests" / "ledger" / "containment.json").read_text())
"""Undecided and doubtful cases, by the folder of a draft."""

_DIALECTS = {
    "draft7": "http://json-schema.org/draft-07/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
}
_DIRECTIONS = (
    ("s1SubsetEqOfs2", "schema1", "schema2"),
    ("s2SubsetEqOfs1", "schema2", "schema1"),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """A case and its verdict."""

    name: str
    old: Any
    new: Any
    contained: bool
    verdict: SchemaVerdict

    @property
    def outcome(self) -> str:
        """Agreement of the verdict with the case."""
        if self.verdict.level is Level.UNDECIDED:
            return "undecided"
        is_compatible = self.verdict.level in (Level.COMPATIBLE, Level.COSMETIC)
        if is_compatible is self.contained:
            return "right"
        return "wrongly compatible" if is_compatible else "wrongly breaking"


@cache
def compared(folder: str) -> tuple[Compared, ...]:
    """Return every case of *folder* with its verdict."""
    return tuple(_compare(folder))


def _compare(folder: str) -> Iterator[Compared]:
    root = shared("containment") / folder
    for path in sorted(root.rglob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            for direction, old, new in _DIRECTIONS:
                if direction not in case["tests"]:
                    continue
                sources = [
                    SchemaSource(json.dumps(case[key]).encode(), (), _DIALECTS[folder])
                    for key in (old, new)
                ]
                _, comparison = compare_schemas(Part.INPUT, (sources[0], sources[1]), LIMITS)
                name = f"{path.relative_to(root).with_suffix('')} {case['id']} {direction}"
                contained = case["tests"][direction]
                verdict = comparison.verdicts.as_written
                yield Compared(name, case[old], case[new], contained, verdict)


@pytest.mark.parametrize("folder", _DIALECTS)
def test_no_truth_is_wrongly_compatible(folder: str) -> None:
    """The other outcomes match the ledger."""
    outcomes = Counter(comparison.outcome for comparison in compared(folder))

    assert [] == [
        comparison.name
        for comparison in compared(folder)
        if comparison.outcome == "wrongly compatible"
    ]
    assert LEDGER[folder]["counts"] == outcomes
    assert LEDGER[folder]["undecided"] == _by_reason(folder)


def _by_reason(folder: str) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for comparison in compared(folder):
        if comparison.outcome == "undecided":
            reason = comparison.verdict.reason.partition(":")[0]
            reasons.setdefault(reason, []).append(comparison.name)
    return dict(sorted(reasons.items()))


@pytest.mark.parametrize("folder", _DIALECTS)
def test_a_doubtful_truth_is_refuted_by_other_validators(folder: str) -> None:
    """The case is wrong if three validators confirm a payload that breaks callers.

    The schemas were made from those of the official suite by negation, which in some left
    a keyword out, or names what a constant contains.
    """
    refuted = [
        comparison for comparison in compared(folder) if comparison.outcome == "wrongly breaking"
    ]

    assert LEDGER[folder]["doubtful"] == [comparison.name for comparison in refuted]
    for comparison in refuted:
        assert comparison.verdict.witness is not None
        payload = msgspec.json.decode(comparison.verdict.witness.payload)
        assert [True, False] == [
            _is_valid(folder, schema, payload) for schema in (comparison.old, comparison.new)
        ]
        assert [True, False] == [
            _is_valid_rs(folder, schema, payload) for schema in (comparison.old, comparison.new)
        ]


def _is_valid(folder: str, schema: Any, payload: Any) -> bool:
    validators = {
        "draft7": jsonschema.Draft7Validator,
        "draft2019-09": jsonschema.Draft201909Validator,
    }
    return bool(validators[folder](schema).is_valid(payload))


def _is_valid_rs(folder: str, schema: Any, payload: Any) -> bool:
    validators = {
        "draft7": jsonschema_rs.Draft7Validator,
        "draft2019-09": jsonschema_rs.Draft201909Validator,
    }
    return validators[folder](schema, offline=True).is_valid(payload)


def test_the_dialects_are_known() -> None:
    """The service has the same names."""
    assert set(_DIALECTS.values()) <= {edition.uri.rstrip("#") for edition in EDITIONS}
