"""Options of selects in elicitation forms.

As for fields, only what is no valid JSON Schema is an error.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values, count_noun
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.elicitation_grammar import (
    REQUESTED_SCHEMA,
    is_plain_field,
    options_of,
    valid_field,
)
from sidecheck_server.core.mcp.rules.rule import Fault, Group, Path, RuleSet
from sidecheck_server.core.types import Severity

_MODES = "2025-11-25"

_OPTION_RULES = RuleSet(
    Group.ELICITATION_OPTIONS,
    on="PrimitiveSchemaDefinition",
    since="2025-06-18",
    skip=is_plain_field,
)


@_OPTION_RULES.rule(
    "ELICITATION_OPTION_KEYWORD",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    'An option of a select with titles SHOULD have only "const" and "title".',
    since=_MODES,
)
def _option_keyword(value: Any, context: Context) -> Iterator[Fault]:
    field = valid_field(value, context)
    select = None if field is None else options_of(field, context)
    if field is None or select is None or select[1][-1] == "enum":
        return
    path = select[1]
    options = field.schema["oneOf"] if path == ("oneOf",) else field.schema["items"]["anyOf"]
    for index, option in enumerate(options):
        spend(context.budget, 10 * len(option))
        for name in option:
            if name not in ("const", "title"):
                shown = Values(hidden=context.hide_values).property_named(name, "keyword")
                message = f'an option should not have the {shown}; expected "const" and "title"'
                yield Fault((*path, index, name), message)


@_OPTION_RULES.rule(
    "ELICITATION_OPTIONS_EMPTY",
    Severity.ERROR,
    REQUESTED_SCHEMA,
    'The "oneOf" or "anyOf" of a select MUST have at least one option: JSON Schema demands it.',
    since=_MODES,
)
def _options_empty(value: Any, context: Context) -> Iterator[Fault]:
    path = _empty_select(value, context)
    if path is not None and path[-1] != "enum":
        yield Fault(path, f'"{path[-1]}" must have at least one option, found none')


@_OPTION_RULES.rule(
    "ELICITATION_ENUM_EMPTY",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    'The "enum" of a select SHOULD have at least one option: JSON Schema recommends it, and '
    "without any no response is valid.",
)
def _enum_empty(value: Any, context: Context) -> Iterator[Fault]:
    path = _empty_select(value, context)
    if path is not None and path[-1] == "enum":
        yield Fault(path, "a select should have at least one option, found none")


def _empty_select(value: Any, context: Context) -> Path | None:
    """Return the path of the options of a select without any; None for other fields."""
    field = valid_field(value, context)
    select = None if field is None else options_of(field, context)
    return select[1] if select is not None and not select[0] else None


@_OPTION_RULES.rule(
    "ELICITATION_OPTIONS_REPEATED",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "The options of a select SHOULD be unique, as JSON Schema recommends for an enum.",
)
def _options_repeated(value: Any, context: Context) -> Iterator[Fault]:
    field = valid_field(value, context)
    select = None if field is None else options_of(field, context)
    if select is None:
        return
    options, path = select
    first: dict[str, int] = {}
    values = Values(hidden=context.hide_values)
    for index, option in enumerate(options):
        earlier = first.setdefault(option, index)
        if earlier != index:
            spend(context.budget, 120)
            suffix = () if path[-1] == "enum" else ("const",)
            message = (
                f"the options of a select should be unique, found {values.describe(option)} "
                f"at the indexes {earlier} and {index}"
            )
            yield Fault((*path, index, *suffix), message)


@_OPTION_RULES.rule(
    "ELICITATION_ENUM_NAMES",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    '"enumNames" SHOULD have one name for each value of "enum".',
)
def _enum_names(value: Any, context: Context) -> Iterator[Fault]:
    field = valid_field(value, context)
    if field is None or "enumNames" not in field.kind.keywords or "enumNames" not in value:
        return
    names, options = len(value["enumNames"]), len(value["enum"])
    if names != options:
        message = (
            f'"enumNames" should have a name for each of the {count_noun(options, "value")} '
            f'of "enum", found {count_noun(names, "name")}'
        )
        yield Fault(("enumNames",), message)
