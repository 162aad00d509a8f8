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
from sidecheck_server.core.mcp.rules.rule import Check, Fault, Path, Rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_MODES = "2025-11-25"


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


def _options_empty(value: Any, context: Context) -> Iterator[Fault]:
    path = _empty_select(value, context)
    if path is not None and path[-1] != "enum":
        yield Fault(path, f'"{path[-1]}" must have at least one option, found none')


def _enum_empty(value: Any, context: Context) -> Iterator[Fault]:
    path = _empty_select(value, context)
    if path is not None and path[-1] == "enum":
        yield Fault(path, "a select should have at least one option, found none")


def _empty_select(value: Any, context: Context) -> Path | None:
    """Return the path of the options of a select without any; None for other fields."""
    field = valid_field(value, context)
    select = None if field is None else options_of(field, context)
    return select[1] if select is not None and not select[0] else None


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


def _rule(
    code: str,
    severity: Severity,
    requirement: str,
    check: Check,
    since: str = "2025-06-18",
) -> Rule:
    clause, subjects = REQUESTED_SCHEMA, ("PrimitiveSchemaDefinition",)
    return Rule(code, severity, clause, requirement, subjects, check, since, skip=is_plain_field)


RULES: tuple[Rule, ...] = (
    _rule(
        "ELICITATION_OPTION_KEYWORD",
        Severity.WARNING,
        'An option of a select with titles SHOULD have only "const" and "title".',
        _option_keyword,
        _MODES,
    ),
    _rule(
        "ELICITATION_OPTIONS_EMPTY",
        Severity.ERROR,
        'The "oneOf" or "anyOf" of a select MUST have at least one option: JSON Schema demands it.',
        _options_empty,
        _MODES,
    ),
    _rule(
        "ELICITATION_ENUM_EMPTY",
        Severity.WARNING,
        'The "enum" of a select SHOULD have at least one option: JSON Schema recommends it, and '
        "without any no response is valid.",
        _enum_empty,
    ),
    _rule(
        "ELICITATION_OPTIONS_REPEATED",
        Severity.WARNING,
        "The options of a select SHOULD be unique, as JSON Schema recommends for an enum.",
        _options_repeated,
    ),
    _rule(
        "ELICITATION_ENUM_NAMES",
        Severity.WARNING,
        '"enumNames" SHOULD have one name for each value of "enum".',
        _enum_names,
    ),
)
