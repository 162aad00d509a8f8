"""Options of selects: what each says, and how they differ."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values, counted
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.elicitation_grammar import (
    REQUESTED_SCHEMA,
    options_of,
    sound_field,
)
from sidecheck_server.core.mcp.rules.elicitation_ordinary import is_ordinary_field
from sidecheck_server.core.mcp.rules.rule import Fault, Rule, rule, sparing
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_SINCE = "2025-06-18"
_MODES = "2025-11-25"
_FIELD = "PrimitiveSchemaDefinition"


@rule(
    "ELICITATION_OPTION_KEYWORD",
    severity=Severity.ERROR,
    clause=REQUESTED_SCHEMA,
    sentence='An option of a select with titles has "const" and "title", and nothing else.',
    on=_FIELD,
    since=_MODES,
)
def _option_keyword(value: Any, context: Context) -> Iterator[Fault]:
    reading = sound_field(value, context)
    found = None if reading is None else options_of(reading, context)
    if reading is None or found is None or found[1][-1] == "enum":
        return
    path = found[1]
    options = reading.field["oneOf"] if path == ("oneOf",) else reading.field["items"]["anyOf"]
    for index, option in enumerate(options):
        spend(context.budget, 10 * len(option))
        for name in option:
            if name not in ("const", "title"):
                what = Values(hidden=context.hide_values).property_named(name, "keyword")
                yield Fault(
                    (*path, index, name),
                    f'an option cannot have the {what}; known are "const" and "title"',
                )


@rule(
    "ELICITATION_OPTIONS_EMPTY",
    severity=Severity.ERROR,
    clause=REQUESTED_SCHEMA,
    sentence="A select offers at least one option: with none, no answer fits.",
    on=_FIELD,
    since=_SINCE,
)
def _options_empty(value: Any, context: Context) -> Iterator[Fault]:
    reading = sound_field(value, context)
    found = None if reading is None else options_of(reading, context)
    if found is not None and not found[0]:
        yield Fault(found[1], "a select must offer at least one option, found none")


@rule(
    "ELICITATION_OPTIONS_REPEATED",
    severity=Severity.WARNING,
    clause=REQUESTED_SCHEMA,
    sentence="The options of a select differ: JSON Schema asks that the values of an enum be "
    "unique, and nobody could tell which one was chosen.",
    on=_FIELD,
    since=_SINCE,
)
def _options_repeated(value: Any, context: Context) -> Iterator[Fault]:
    reading = sound_field(value, context)
    found = None if reading is None else options_of(reading, context)
    if found is None:
        return
    options, path = found
    first: dict[str, int] = {}
    named = Values(hidden=context.hide_values)
    for index, option in enumerate(options):
        before = first.setdefault(option, index)
        if before != index:
            spend(context.budget, 120)
            where = () if path[-1] == "enum" else ("const",)
            yield Fault(
                (*path, index, *where),
                f"the options of a select should differ, found {named.found(option)} "
                f"as option {before} and {index}",
            )


@rule(
    "ELICITATION_ENUM_NAMES",
    severity=Severity.WARNING,
    clause=REQUESTED_SCHEMA,
    sentence='"enumNames" has one name for each value of "enum".',
    on=_FIELD,
    since=_SINCE,
)
def _enum_names(value: Any, context: Context) -> Iterator[Fault]:
    reading = sound_field(value, context)
    if reading is None or "enumNames" not in reading.form.keywords or "enumNames" not in value:
        return
    names, options = len(value["enumNames"]), len(value["enum"])
    if names != options:
        yield Fault(
            ("enumNames",),
            f'"enumNames" should have a name for each of the {counted(options, "value")} '
            f'of "enum", found {counted(names, "name")}',
        )


RULES: tuple[Rule, ...] = sparing(
    is_ordinary_field, (_option_keyword, _options_empty, _options_repeated, _enum_names)
)
