"""Rules on the fields of elicitation forms, and on the options of selects.

The published schema rejects fields that belong to no kind. A field that it accepts is an error
only if it is not a valid JSON Schema, since the specification calls its forms limited but
forbids no keyword.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values, count_noun, join_phrase, quote
from sidecheck_server.core.formats.addresses import is_email
from sidecheck_server.core.formats.dates import is_date, is_date_time
from sidecheck_server.core.formats.identifiers import is_uri
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.elicitation_grammar import (
    REQUESTED_SCHEMA,
    FormField,
    find_nearest_keyword,
    is_integer,
    is_plain_field,
    options_of,
    read_field,
    read_valid_field,
)
from sidecheck_server.core.mcp.rules.rule import Fault, Group, Path, RuleSet
from sidecheck_server.core.types import Severity

_SINCE = "2025-06-18"
_MODES = "2025-11-25"

_FORMATS = {"email": is_email, "uri": is_uri, "date": is_date, "date-time": is_date_time}
_LIMITS = ("minLength", "maxLength", "minItems", "maxItems")
_BOUNDS = (("minLength", "maxLength"), ("minimum", "maximum"), ("minItems", "maxItems"))

_FIELD_RULES = RuleSet(
    Group.ELICITATION_FIELDS, on="PrimitiveSchemaDefinition", since=_SINCE, skip=is_plain_field
)

_KEYWORD = 120
"""Steps to report a keyword."""


@_FIELD_RULES.rule(
    "ELICITATION_FIELD_KEYWORD",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "A field of a form SHOULD have only the keywords of its kind: strings, numbers, booleans "
    "and selects as the specification lists them. The published schema accepts others.",
)
def _field_keyword(value: Any, context: Context) -> Iterator[Fault]:
    field = read_field(value, context)
    if field is None:
        return
    for name in value:
        # The published schema may reject a field because of a keyword of another kind.
        if name in field.kind.keywords or (
            not field.matches_any_kind and name in field.all_keywords
        ):
            continue
        if name == "default" and context.version == _SINCE:
            continue
        yield _build_keyword_fault(name, field, (name,), tuple(field.kind.keywords), context)
    if field.matches_kind and "items" in field.kind.required:
        yield from _check_item_keywords(field, context)


def _check_item_keywords(field: FormField, context: Context) -> Iterator[Fault]:
    items = field.schema["items"]
    allowed_keywords = ("type", "enum") if "enum" in items else ("anyOf",)
    for name in items:
        if name not in allowed_keywords:
            yield _build_keyword_fault(name, field, ("items", name), allowed_keywords, context)


def _build_keyword_fault(
    name: str, field: FormField, path: Path, allowed_keywords: tuple[str, ...], context: Context
) -> Fault:
    spend(context.budget, _KEYWORD)
    label = Values(hidden=context.hide_values).property_named(name, "keyword")
    owner = f"the items of {field.kind.description}" if len(path) > 1 else field.kind.description
    expected = join_phrase([quote(keyword) for keyword in allowed_keywords], "and")
    message = f"{owner} should not have the {label}; expected {expected}"
    return Fault(path, message, find_nearest_keyword(name, allowed_keywords, context))


@_FIELD_RULES.rule(
    "ELICITATION_FIELD_VALUE",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "The keywords of a field SHOULD have values of its kind: the values of a select are "
    "strings. The published schema accepts others in a plain string field.",
)
def _field_value(value: Any, context: Context) -> Iterator[Fault]:
    field = read_field(value, context)
    if field is None or not field.matches_any_kind or field.matches_kind:
        return
    values = Values(hidden=context.hide_values)
    for name, is_valid in field.kind.keywords.items():
        if name in value and not is_valid(value[name]):
            yield _build_value_fault(name, value[name], field, values)


def _build_value_fault(name: str, value: Any, field: FormField, values: Values) -> Fault:
    if name in ("enum", "enumNames") and isinstance(value, list):
        index = next(i for i, item in enumerate(value) if not isinstance(item, str))
        description = values.describe(value[index])
        return Fault(
            (name, index), f"the values of a select should be strings, found {description}"
        )
    if name == "oneOf" and isinstance(value, list):
        index = next(i for i, option in enumerate(value) if not _is_option(option))
        message = (
            'an option should be an object with the strings "const" and "title", '
            f"found {values.describe(value[index])}"
        )
        return Fault((name, index), message)
    message = f'"{name}" of {field.kind.description} should not be {values.describe(value)}'
    return Fault((name,), message)


def _is_option(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) for name in ("const", "title")
    )


@_FIELD_RULES.rule(
    "ELICITATION_FIELD_LIMIT",
    Severity.ERROR,
    REQUESTED_SCHEMA,
    "The limits of lengths and counts MUST NOT be negative: JSON Schema demands it.",
)
def _negative_limit(value: Any, context: Context) -> Iterator[Fault]:
    field = read_valid_field(value, context)
    if field is None:
        return
    format_value = Values(hidden=context.hide_values).format
    for name in _LIMITS:
        if name in field.kind.keywords and name in value and value[name] < 0:
            yield Fault(
                (name,), f'"{name}" must not be negative, found {format_value(value[name])}'
            )


@_FIELD_RULES.rule(
    "ELICITATION_FIELD_BOUNDS",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "The lower bound of a field SHOULD NOT be larger than the upper one: no response would be "
    "valid.",
)
def _field_bounds(value: Any, context: Context) -> Iterator[Fault]:
    field = read_valid_field(value, context)
    if field is None:
        return
    format_value = Values(hidden=context.hide_values).format
    for lower, upper in _BOUNDS:
        if lower not in field.kind.keywords or not (lower in value and upper in value):
            continue
        is_negative = lower in _LIMITS and min(value[lower], value[upper]) < 0
        if value[lower] > value[upper] and not is_negative:
            message = (
                f'"{lower}" should not be larger than "{upper}", '
                f"found {format_value(value[lower])} and {format_value(value[upper])}"
            )
            yield Fault((lower,), message)


@_FIELD_RULES.rule(
    "ELICITATION_DEFAULT",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "The default of a field SHOULD be valid for it: clients fill it into the form.",
    since=_MODES,
)
def _default(value: Any, context: Context) -> Iterator[Fault]:
    field = read_valid_field(value, context)
    if field is None or "default" not in value:
        return
    description = Values(hidden=context.hide_values).describe(value["default"])
    expected = _describe_expected_default(value["default"], field, context)
    if expected:
        yield Fault(("default",), f"the default should be {expected}, found {description}")


def _describe_expected_default(default: Any, field: FormField, context: Context) -> str:
    """Return a description of valid defaults, or "" if *default* is valid."""
    schema = field.schema
    select = options_of(field, context)
    if select is not None:
        options, _ = select
        option_set = set(options)
        selection = [default] if isinstance(default, str) else default
        if not all(option in option_set for option in selection):
            return f"among the {count_noun(len(options), 'option')} of the field"
        return (
            ""
            if isinstance(default, str)
            else _describe_expected_size(len(default), schema, "Items")
        )
    if isinstance(default, str):
        spend(context.budget, len(default))
        format_ = schema.get("format")
        if format_ is not None and not _FORMATS[format_](default):
            return f'of the format "{format_}"'
        return _describe_expected_size(len(default), schema, "Length")
    if isinstance(default, bool):
        return ""
    if schema["type"] == "integer" and not is_integer(default):
        return "an integer"
    if default < schema.get("minimum", default):
        return 'no less than "minimum"'
    return 'no larger than "maximum"' if default > schema.get("maximum", default) else ""


def _describe_expected_size(size: int, schema: dict[str, Any], suffix: str) -> str:
    if size < schema.get(f"min{suffix}", size):
        return f'no shorter than "min{suffix}"'
    return f'no longer than "max{suffix}"' if size > schema.get(f"max{suffix}", size) else ""


@_FIELD_RULES.rule(
    "ELICITATION_DEFAULT_EARLY",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "Only booleans SHOULD have a default before 2025-11-25. It changes no response, and "
    "schema generators write it, so this is not an error.",
    until=_SINCE,
)
def _early_default(value: Any, context: Context) -> Iterator[Fault]:
    field = read_field(value, context)
    if field is None or "default" not in value or "default" in field.kind.keywords:
        return
    if field.matches_any_kind:
        message = f"{field.kind.description} should have no default in {context.version}"
        yield Fault(("default",), message)


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
    field = read_valid_field(value, context)
    select = None if field is None else options_of(field, context)
    if field is None or select is None or select[1][-1] == "enum":
        return
    path = select[1]
    options = field.schema["oneOf"] if path == ("oneOf",) else field.schema["items"]["anyOf"]
    for index, option in enumerate(options):
        spend(context.budget, 10 * len(option))
        for name in option:
            if name not in ("const", "title"):
                label = Values(hidden=context.hide_values).property_named(name, "keyword")
                message = f'an option should not have the {label}; expected "const" and "title"'
                yield Fault((*path, index, name), message)


@_OPTION_RULES.rule(
    "ELICITATION_OPTIONS_EMPTY",
    Severity.ERROR,
    REQUESTED_SCHEMA,
    'The "oneOf" or "anyOf" of a select MUST have at least one option: JSON Schema demands it.',
    since=_MODES,
)
def _options_empty(value: Any, context: Context) -> Iterator[Fault]:
    path = _find_empty_options(value, context)
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
    path = _find_empty_options(value, context)
    if path is not None and path[-1] == "enum":
        yield Fault(path, "a select should have at least one option, found none")


def _find_empty_options(value: Any, context: Context) -> Path | None:
    """Return the path of the options of a select without options, or None."""
    field = read_valid_field(value, context)
    select = None if field is None else options_of(field, context)
    return select[1] if select is not None and not select[0] else None


@_OPTION_RULES.rule(
    "ELICITATION_OPTIONS_REPEATED",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    "The options of a select SHOULD be unique, as JSON Schema recommends for an enum.",
)
def _options_repeated(value: Any, context: Context) -> Iterator[Fault]:
    field = read_valid_field(value, context)
    select = None if field is None else options_of(field, context)
    if select is None:
        return
    options, path = select
    first_indexes: dict[str, int] = {}
    values = Values(hidden=context.hide_values)
    for index, option in enumerate(options):
        first_index = first_indexes.setdefault(option, index)
        if first_index != index:
            spend(context.budget, 120)
            suffix = () if path[-1] == "enum" else ("const",)
            message = (
                f"the options of a select should be unique, found {values.describe(option)} "
                f"at the indexes {first_index} and {index}"
            )
            yield Fault((*path, index, *suffix), message)


@_OPTION_RULES.rule(
    "ELICITATION_ENUM_NAMES",
    Severity.WARNING,
    REQUESTED_SCHEMA,
    '"enumNames" SHOULD have one name for each value of "enum".',
)
def _enum_names(value: Any, context: Context) -> Iterator[Fault]:
    field = read_valid_field(value, context)
    if field is None or "enumNames" not in field.kind.keywords or "enumNames" not in value:
        return
    names, options = len(value["enumNames"]), len(value["enum"])
    if names != options:
        message = (
            f'"enumNames" should have a name for each of the {count_noun(options, "value")} '
            f'of "enum", found {count_noun(names, "name")}'
        )
        yield Fault(("enumNames",), message)
