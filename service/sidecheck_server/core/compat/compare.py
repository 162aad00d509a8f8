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
"""Schema in place of a missing output schema: it admits any structured content."""


def compare_definitions(
    old: ToolDefinition, new: ToolDefinition, limits: Limits, undecided: str = ""
) -> ToolComparison:
    """Return the comparison of two definitions of one tool.

    *undecided* is a reason to seek no proof, or "". Finding the changes takes no more than the
    limit of steps, and every changed schema is then undecided for that reason.
    """
    changes = list(find_definition_changes(read_json(old.json), read_json(new.json)))
    schemas: list[SchemaComparison] = []
    for part, sources, digests in (
        (Part.INPUT, (old.input, new.input), (old.input_digest, new.input_digest)),
        (Part.OUTPUT, (old.output, new.output), (old.output_digest, new.output_digest)),
    ):
        if digests[0] == digests[1]:
            continue
        schema_changes, comparison = compare_schemas(
            part, sources, limits, undecided, of_arguments=part is Part.INPUT
        )
        changes += schema_changes
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
    """Return the changes between *sources*, and the verdicts on them.

    A source is None if there is no output schema. *undecided* is as for `compare_definitions`.
    With *of_arguments*, payloads are arguments, so only objects are considered.
    """
    pair = sources[0] or _ANYTHING, sources[1] or _ANYTHING
    location = f"/{part}"
    try:
        admitted = admit_schema(pair[0], limits), admit_schema(pair[1], limits)
    except RequestError as error:
        reason = f"a schema cannot be compiled: {error.message}"
        return _leave_undecided([_undecided_change(location, reason)], part, reason)
    budget = [limits.steps]
    try:
        if None in sources:
            is_added = sources[0] is None
            code = f"OUTPUT_SCHEMA_{'ADDED' if is_added else 'REMOVED'}"
            locations = (None, location) if is_added else (location, None)
            changes = [_change_of_schema(code, *locations)]
        else:
            changes = find_schema_changes(*admitted, location, budget, of_arguments=of_arguments)
        if undecided:
            return _leave_undecided(changes, part, undecided)
        schema_pair = SchemaPair(part, pair, admitted, changes, limits, of_arguments=of_arguments)
        outcomes = PerReading(
            schema_pair.decide(Reading.AS_WRITTEN, budget),
            schema_pair.decide(Reading.ASSUME_CLOSED, budget),
        )
    except Exhausted:
        reason = f"comparing the schemas takes more than {limits.steps:,} steps"
        return _leave_undecided([_undecided_change(location, reason)], part, reason)
    except RecursionError:
        reason = "the schemas nest too deeply to compare"
        return _leave_undecided([_undecided_change(location, reason)], part, reason)
    return _build_result(changes, part, outcomes)


def _change_of_schema(code: str, old: str | None, new: str | None) -> SchemaChange:
    rule = CHANGE_RULES[code]
    message = rule.sentence.removesuffix(".")
    direction = PerReading(rule.direction, rule.direction)
    return SchemaChange(
        code, old, new, "", direction, message[:1].lower() + message[1:], "", "", (("", ""),)
    )


def _undecided_change(location: str, reason: str) -> SchemaChange:
    return replace(_change_of_schema("SCHEMA_CHANGED", location, location), message=reason)


def _leave_undecided(
    changes: Sequence[SchemaChange], part: Part, reason: str
) -> tuple[list[Change], SchemaComparison]:
    outcome = ReadingOutcome(SchemaVerdict(Relation.UNDECIDED, Level.UNDECIDED, reason))
    return _build_result(changes, part, PerReading(outcome, outcome))


def _build_result(
    changes: Sequence[SchemaChange], part: Part, outcomes: PerReading[ReadingOutcome]
) -> tuple[list[Change], SchemaComparison]:
    """Return *changes* with their effects, and the verdicts on all of them together."""
    verdicts = PerReading(outcomes.as_written.verdict, outcomes.assume_closed.verdict)
    rated_changes = _rate_changes(changes, part, outcomes)
    unexplained_readings = [
        reading
        for reading in Reading
        if verdicts.of(reading).level in _NEEDS_CAUSE
        and all(
            change.effects.of(reading).level is not verdicts.of(reading).level
            for change in rated_changes
        )
    ]
    if unexplained_readings:
        # The walk pairs subschemas by location, so it may miss the change that decides.
        rated_changes.append(_unexplained_change(part, verdicts))
    if not rated_changes:
        rewritten = _change_of_schema("SCHEMA_REWRITTEN", f"/{part}", f"/{part}")
        rated_changes = _rate_changes([rewritten], part, outcomes)
    return rated_changes, SchemaComparison(part, verdicts)


_NEEDS_CAUSE = (Level.BREAKING, Level.UNDECIDED)
"""Levels of a verdict that require a change of the same level as a cause."""


def _unexplained_change(part: Part, verdicts: PerReading[SchemaVerdict]) -> Change:
    change = _change_of_schema("SCHEMA_CHANGED", f"/{part}", f"/{part}")
    effects = PerReading(
        *(Effect(verdict.level, verdict.witness) for verdict in map(verdicts.of, Reading))
    )
    reason = verdicts.assume_closed.reason or verdicts.as_written.reason
    return _build_change(change, part, effects, f"{change.message}: {reason}" if reason else "")


def _rate_changes(
    changes: Sequence[SchemaChange], part: Part, outcomes: PerReading[ReadingOutcome]
) -> list[Change]:
    """Return *changes* with their effects."""
    return [
        _build_change(
            change,
            part,
            PerReading(
                *(
                    _rate_change(change, part, reading, outcomes.of(reading), index)
                    for reading in Reading
                )
            ),
        )
        for index, change in enumerate(changes)
    ]


def _build_change(
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


def _rate_change(
    change: SchemaChange, part: Part, reading: Reading, outcome: ReadingOutcome, index: int
) -> Effect:
    rule = CHANGE_RULES[change.code]
    level = rule.output_level if part is Part.OUTPUT else rule.input_level
    if level is not None:
        return Effect(level)
    witness = outcome.witnesses.get(index)
    if witness is not None:
        return Effect(Level.BREAKING, witness)
    verdict_level = outcome.verdict.level
    if verdict_level is Level.BREAKING:
        may_be_cause = may_break(change, part, reading)
        return Effect(Level.UNDECIDED if may_be_cause else Level.COMPATIBLE)
    # A proof, or the lack of one, concerns all changes together.
    return Effect(Level.UNDECIDED if verdict_level is Level.UNDECIDED else Level.COMPATIBLE)
