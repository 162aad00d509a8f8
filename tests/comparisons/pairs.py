"""Random pairs of schemas, and payloads that may refute the verdicts on them."""

import copy
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from agreement.editions import EDITIONS
from agreement.payloads import PayloadMaker
from agreement.schemas import Generated, generate_schema
from sidecheck_server.core.compat.changes import Level, Part, Reading, SchemaComparison, Witness
from sidecheck_server.core.compat.compare import compare_schemas
from sidecheck_server.core.compat.verdicts import DISAGREEMENT
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.repair.types import Repairs, UnknownArguments
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document

__all__ = ["PairTally", "check_pairs"]

LIMITS = Limits()
PAYLOADS = 40
"""Payloads for each pair."""

_DECISION = EvaluationOptions(max_violations=1)
_DECLARED_ONLY = EvaluationOptions(
    max_violations=1, repairs=Repairs(unknown=UnknownArguments.REJECT)
)
_NUMBERS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_ADDITIONS: tuple[dict[str, Any], ...] = (
    {"type": "string"},
    {"type": ["integer", "null"]},
    {"maxLength": 2},
    {"minimum": 1},
    {"required": ["a"]},
    {"additionalProperties": False},
    {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
    {"enum": ["a", 1, None, {"a": 1}]},
    {"items": {"type": "string"}},
    {"not": {"type": "null"}},
    {"anyOf": [{"type": "string"}, {"minimum": 2}]},
    {"oneOf": [{"type": "object"}, {"maxProperties": 1}]},
    {"uniqueItems": True},
    {"multipleOf": 2},
    {"pattern": "^a"},
    {"pattern": r"^.\b"},
    {"patternProperties": {r"^\w$": {"type": "string"}}},
    {"dependentRequired": {"a": ["b"]}},
    {"dependencies": {"a": ["c"], "b": {"maxProperties": 1}}},
    {"const": 1e23},
    {"unevaluatedProperties": False},
)


@dataclass(slots=True)
class PairTally:
    """Counts of the compared pairs."""

    #: Verdicts by reading and level.
    levels: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: Reasons of undecided verdicts.
    reasons: Counter[str] = field(default_factory=Counter)
    payloads: int = 0
    #: Payloads that the old schema admits and the new schema rejects.
    refuting: int = 0
    #: Pairs whose verdict a payload refutes: the verdict, both schemas and the payload.
    wrong: list[tuple[str, Any, Any, Any]] = field(default_factory=list)
    disagreements: list[tuple[Any, Any]] = field(default_factory=list)

    @property
    def decided(self) -> float:
        """The share of verdicts that are not undecided."""
        undecided = sum(count for (_, level), count in self.levels.items() if level == "undecided")
        return 1 - undecided / max(sum(self.levels.values()), 1)


def check_pairs(random: Random, count: int) -> PairTally:
    """Compare *count* random pairs, and test each verdict with payloads."""
    tally = PairTally()
    while sum(tally.levels.values()) < 2 * count:
        edition = random.choice(EDITIONS)
        generated = generate_schema(random, edition)
        old = generated.question
        new_schema = (
            mutate(random, old.schema)
            if random.random() < 0.85
            else generate_schema(random, edition).question.schema
        )
        documents = tuple(
            Document(uri, json.dumps(contents).encode()) for uri, contents in old.documents.items()
        )
        sources = tuple(
            SchemaSource(json.dumps(schema).encode(), documents, edition.uri)
            for schema in (old.schema, new_schema)
        )
        compiled = [_compiled(source) for source in sources]
        if compiled[0] is None or compiled[1] is None:
            continue
        # As output schemas, the second is the old one: it must accept results of the first.
        part = random.choice((Part.INPUT, Part.OUTPUT))
        versions = (sources[0], sources[1]) if part is Part.INPUT else (sources[1], sources[0])
        _, comparison = compare_schemas(part, versions, LIMITS)
        _check_pair(tally, comparison, (compiled[0], compiled[1]), generated, random)
    return tally


def _compiled(source: SchemaSource) -> CompiledSchema | None:
    try:
        return CompiledSchema(source, compile_schema(source, LIMITS), LIMITS)
    except RequestError:
        return None


def _check_pair(
    tally: PairTally,
    comparison: SchemaComparison,
    compiled: tuple[CompiledSchema, CompiledSchema],
    generated: Generated,
    random: Random,
) -> None:
    old, new = compiled
    schemas = json.loads(old.source.json), json.loads(new.source.json)
    for reading in Reading:
        verdict = comparison.verdicts.of(reading)
        tally.levels[reading.value, verdict.level.value] += 1
        if verdict.level is Level.UNDECIDED:
            tally.reasons[verdict.reason] += 1
            if verdict.reason == DISAGREEMENT:
                tally.disagreements.append(schemas)
        if verdict.level is Level.BREAKING and not _shows(verdict.witness, compiled, reading):
            tally.wrong.append(("no witness", *schemas, verdict.witness))
    for payload in _payloads(generated, schemas, random):
        tally.payloads += 1
        if not _valid(old, payload) or _valid(new, payload):
            continue
        tally.refuting += 1
        for reading in Reading:
            level = comparison.verdicts.of(reading).level
            declared = reading is Reading.AS_WRITTEN or _declared(old, payload)
            if declared and level in (Level.COMPATIBLE, Level.COSMETIC):
                tally.wrong.append((f"{level} {reading}", *schemas, json.loads(payload)))


def _shows(
    witness: Witness | None, compiled: tuple[CompiledSchema, CompiledSchema], reading: Reading
) -> bool:
    """Return whether *witness* confirms its verdict.

    With objects closed, the new schema as written may accept it.
    """
    if witness is None or not _valid(compiled[0], witness.payload):
        return False
    return reading is Reading.ASSUME_CLOSED or not _valid(compiled[1], witness.payload)


def _valid(compiled: CompiledSchema, payload: bytes) -> bool:
    try:
        return evaluate(compiled, payload, _DECISION).valid
    except RequestError:
        return False


def _declared(compiled: CompiledSchema, payload: bytes) -> bool:
    """Return whether *payload* is valid and has only declared properties."""
    return evaluate(compiled, payload, _DECLARED_ONLY).valid


def _payloads(generated: Generated, schemas: tuple[Any, Any], random: Random) -> Iterator[bytes]:
    maker = PayloadMaker(random, generated.follow, names=generated.names or ("a", "b"))
    for number in range(PAYLOADS):
        schema = schemas[0] if number % 4 else schemas[1]
        try:
            yield json.dumps(maker.make(schema)).encode()
        except (KeyError, IndexError, TypeError, ValueError, RecursionError):
            # A reference of the other schema, or a value that is not JSON.
            continue


def mutate(random: Random, schema: Any) -> Any:
    """Return *schema* with one to three changes."""
    mutated = copy.deepcopy(schema)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        nodes = [node for node in _objects(mutated) if node is not None]
        if not nodes:
            return mutated
        _change(random, random.choice(nodes))
    return mutated


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)


def _change(random: Random, node: dict[str, Any]) -> None:
    numbers = [name for name in _NUMBERS if isinstance(node.get(name), int)]
    kind = random.random()
    if kind < 0.25 and numbers:
        name = random.choice(numbers)
        node[name] = max(0, node[name] + random.choice((-1, 1, 2)))
    elif kind < 0.4 and isinstance(node.get("enum"), list) and len(node["enum"]) > 1:
        node["enum"] = node["enum"][:-1]
    elif kind < 0.6 and node:
        removable = [name for name in node if name not in ("$id", "id", "$schema", "$ref")]
        if removable:
            del node[random.choice(removable)]
    else:
        node.update(copy.deepcopy(random.choice(_ADDITIONS)))
