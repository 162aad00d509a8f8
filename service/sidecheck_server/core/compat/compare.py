"""Comparison of two definitions of one tool."""

from collections.abc import Sequence
from dataclasses import replace

from sidecheck_server.core.compat.changes import (
    Change,
    Effect,
    Level,
    Part,
    PerReading,
    Reading,
    Relation,
    SchemaComparison,
    SchemaVerdict,
    ToolComparison,
    ToolStatus,
)
from sidecheck_server.core.compat.rules import CHANGE_RULES
from sidecheck_server.core.compat.schema_changes import find_schema_changes
from sidecheck_server.core.compat.tools import find_definition_changes
from sidecheck_server.core.compat.verdicts import ReadingOutcome, SchemaPair, may_break
from sidecheck_server.core.compat.walk import SchemaChange
from sidecheck_server.core.compiler.admission import admit_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Exhausted, Limits
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.schemas.dialects import SchemaSource

__all__ = ["compare_definitions", "compare_schemas"]

_ANYTHING = SchemaSource(b"true")
"""What a tool without output schema promises of its structured content."""


def compare_definitions(
    old: ToolDefinition, new: ToolDefinition, limits: Limits, undecided: str = ""
) -> ToolComparison:
    """Return the comparison of two definitions of one tool.

    With *undecided*, only what changed is found, which takes no more than the limit of
    steps; every changed schema is undecided for that reason.
    """
    changes = list(find_definition_changes(read_json(old.json), read_json(new.json)))
    schemas: list[SchemaComparison] = []
    for part, sources, digests in (
        (Part.INPUT, (old.input, new.input), (old.input_digest, new.input_digest)),
        (Part.OUTPUT, (old.output, new.output), (old.output_digest, new.output_digest)),
    ):
        if digests[0] == digests[1]:
            continue
        found, comparison = compare_schemas(
            part, sources, limits, undecided, of_arguments=part is Part.INPUT
        )
        changes += found
        schemas.append(comparison)
    status = ToolStatus.UNCHANGED if old.digest == new.digest else ToolStatus.CHANGED
    return ToolComparison(
        status,
        new.name,
        old_digest=old.digest,
        new_digest=new.digest,
        changes=tuple(changes),
        schemas=tuple(schemas),
    )


def compare_schemas(
    part: Part,
    sources: tuple[SchemaSource | None, SchemaSource | None],
    limits: Limits,
    undecided: str = "",
    *,
    of_arguments: bool = False,
) -> tuple[list[Change], SchemaComparison]:
    """Return the changes between *sources*, of which an output schema may be None.

    *undecided* is that of `compare_definitions`. With *of_arguments*, only objects are sent.
    """
    pair = sources[0] or _ANYTHING, sources[1] or _ANYTHING
    location = f"/{part}"
    try:
        admitted = admit_schema(pair[0], limits), admit_schema(pair[1], limits)
    except RequestError as error:
        reason = f"a schema cannot be compiled: {error.message}"
        return _without_proof([_undecided_change(location, reason)], part, reason)
    budget = [limits.steps]
    try:
        if None in sources:
            is_added = sources[0] is None
            code = f"OUTPUT_SCHEMA_{'ADDED' if is_added else 'REMOVED'}"
            places = (None, location) if is_added else (location, None)
            changes = [_whole_change(code, *places)]
        else:
            changes = find_schema_changes(*admitted, location, budget)
        if undecided:
            return _without_proof(changes, part, undecided)
        decided = SchemaPair(part, pair, admitted, changes, limits, of_arguments=of_arguments)
        outcomes = PerReading(
            decided.decide(Reading.AS_WRITTEN, budget),
            decided.decide(Reading.ASSUME_CLOSED, budget),
        )
    except Exhausted:
        reason = f"comparing the schemas takes more than {limits.steps:,} steps"
        return _without_proof([_undecided_change(location, reason)], part, reason)
    except RecursionError:
        reason = "the schemas nest too deeply to compare"
        return _without_proof([_undecided_change(location, reason)], part, reason)
    return _result(changes, part, outcomes)


def _whole_change(code: str, old: str | None, new: str | None) -> SchemaChange:
    rule = CHANGE_RULES[code]
    message = rule.sentence.removesuffix(".")
    direction = PerReading(rule.direction, rule.direction)
    return SchemaChange(
        code, old, new, "", direction, message[:1].lower() + message[1:], "", "", (("", ""),)
    )


def _undecided_change(location: str, reason: str) -> SchemaChange:
    return replace(_whole_change("SCHEMA_CHANGED", location, location), message=reason)


def _without_proof(
    changes: Sequence[SchemaChange], part: Part, reason: str
) -> tuple[list[Change], SchemaComparison]:
    outcome = ReadingOutcome(SchemaVerdict(Relation.UNDECIDED, Level.UNDECIDED, reason))
    return _result(changes, part, PerReading(outcome, outcome))


def _result(
    changes: Sequence[SchemaChange], part: Part, outcomes: PerReading[ReadingOutcome]
) -> tuple[list[Change], SchemaComparison]:
    """Return *changes* with their effects, and the verdicts on all of them together."""
    verdicts = PerReading(outcomes.as_written.verdict, outcomes.assume_closed.verdict)
    rated = _rated(changes, part, outcomes)
    unexplained = [
        reading
        for reading in Reading
        if verdicts.of(reading).level in _NEEDS_CAUSE
        and all(
            change.effects.of(reading).level is not verdicts.of(reading).level for change in rated
        )
    ]
    if unexplained:
        # The walk pairs subschemas by their places, and may miss what alters the whole.
        rated.append(_unexplained_change(part, verdicts))
    if not rated:
        rewritten = _whole_change("SCHEMA_REWRITTEN", f"/{part}", f"/{part}")
        rated = _rated([rewritten], part, outcomes)
    return rated, SchemaComparison(part, verdicts)


_NEEDS_CAUSE = (Level.BREAKING, Level.UNDECIDED)
"""Levels of a schema that a change of the same level must account for."""


def _unexplained_change(part: Part, verdicts: PerReading[SchemaVerdict]) -> Change:
    change = _whole_change("SCHEMA_CHANGED", f"/{part}", f"/{part}")
    effects = PerReading(
        *(Effect(verdict.level, verdict.witness) for verdict in map(verdicts.of, Reading))
    )
    reason = verdicts.assume_closed.reason or verdicts.as_written.reason
    return _change(change, part, effects, f"{change.message}: {reason}" if reason else "")


def _rated(
    changes: Sequence[SchemaChange], part: Part, outcomes: PerReading[ReadingOutcome]
) -> list[Change]:
    """Return *changes* with their effects."""
    return [
        _change(
            change,
            part,
            PerReading(
                *(
                    _effect(change, part, reading, outcomes.of(reading), index)
                    for reading in Reading
                )
            ),
        )
        for index, change in enumerate(changes)
    ]


def _change(
    change: SchemaChange, part: Part, effects: PerReading[Effect], message: str = ""
) -> Change:
    return Change(
        code=change.code,
        part=part,
        effects=effects,
        old_location=change.old_location,
        new_location=change.new_location,
        keyword=change.keyword,
        direction=change.direction,
        message=message or change.message,
        old_value=change.old_value,
        new_value=change.new_value,
    )


def _effect(
    change: SchemaChange, part: Part, reading: Reading, outcome: ReadingOutcome, index: int
) -> Effect:
    rule = CHANGE_RULES[change.code]
    level = rule.output_level if part is Part.OUTPUT else rule.input_level
    if level is not None:
        return Effect(level)
    witness = outcome.witnesses.get(index)
    if witness is not None:
        return Effect(Level.BREAKING, witness)
    decided = outcome.verdict.level
    if decided is Level.BREAKING:
        is_suspect = may_break(change, part, reading)
        return Effect(Level.UNDECIDED if is_suspect else Level.COMPATIBLE)
    # A proof, or its absence, is of all changes together.
    return Effect(Level.UNDECIDED if decided is Level.UNDECIDED else Level.COMPATIBLE)
