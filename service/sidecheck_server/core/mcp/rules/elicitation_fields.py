"""Fields of a form: the keywords that each kind has, and how they go together.

What no answer could fulfil, and what makes a JSON Schema invalid, is an error. A default
that the field refuses is a warning, since JSON Schema recommends otherwise and no more;
so is one where the version has none, since it changes no answer.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values, counted, listed, quoted
from sidecheck_server.core.formats.dates import is_date, is_date_time
from sidecheck_server.core.formats.mailboxes import is_email
from sidecheck_server.core.formats.uris import is_uri
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.elicitation_grammar import (
    REQUESTED_SCHEMA,
    Reading,
    is_integer,
    nearest_keyword,
    options_of,
    read_field,
    sound_field,
)
from sidecheck_server.core.mcp.rules.elicitation_ordinary import is_ordinary_field
from sidecheck_server.core.mcp.rules.rule import Fault, Path, Rule, rule, sparing
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_SINCE = "2025-06-18"
_MODES = "2025-11-25"
_FIELD = "PrimitiveSchemaDefinition"

_FORMATS = {"email": is_email, "uri": is_uri, "date": is_date, "date-time": is_date_time}
_BOUNDS = (("minLength", "maxLength"), ("minimum", "maximum"), ("minItems", "maxItems"))

_KEYWORD = 120
"""The steps that telling a keyword takes."""


@rule(
    "ELICITATION_DEFAULT_EARLY",
    severity=Severity.WARNING,
    clause=REQUESTED_SCHEMA,
    sentence="Only booleans have a default, which 2025-11-25 gave to all fields. It changes no "
    "answer, and generators of schemas write it, so this is no error.",
    on=_FIELD,
    since=_SINCE,
    until=_SINCE,
)
def _default_early(value: Any, context: Context) -> Iterator[Fault]:
    reading = read_field(value, context)
    if reading is None or "default" not in value or "default" in reading.form.keywords:
        return
    if reading.published:
        said = f"{reading.form.what} should have no default in {context.version}"
        yield Fault(("default",), said)


@rule(
    "ELICITATION_FIELD_KEYWORD",
    severity=Severity.ERROR,
    clause=REQUESTED_SCHEMA,
    sentence=(
        "A field of a form has only the keywords of its kind: the schema is restricted to "
        "strings, numbers, booleans and selects as the specification lists them."
    ),
    on=_FIELD,
    since=_SINCE,
)
def _field_keyword(value: Any, context: Context) -> Iterator[Fault]:
    reading = read_field(value, context)
    if reading is None:
        return
    for name in value:
        # If the published schema refuses the field, then for a keyword that it knows.
        if name in reading.form.keywords or (not reading.published and name in reading.known):
            continue
        if name == "default" and _default_early.holds_in(context.version):
            continue
        yield _unknown(name, reading, (name,), tuple(reading.form.keywords), context)
    if reading.sound and "items" in reading.form.needed:
        yield from _unknown_in_items(reading, context)


def _unknown_in_items(reading: Reading, context: Context) -> Iterator[Fault]:
    items = reading.field["items"]
    known = ("type", "enum") if "enum" in items else ("anyOf",)
    for name in items:
        if name not in known:
            yield _unknown(name, reading, ("items", name), known, context)


def _unknown(
    name: str, reading: Reading, path: Path, known: tuple[str, ...], context: Context
) -> Fault:
    spend(context.budget, _KEYWORD)
    what = Values(hidden=context.hide_values).property_named(name, "keyword")
    where = "the items of " if len(path) > 1 else ""
    has = listed([quoted(each) for each in known], "and")
    near = nearest_keyword(name, known, context)
    return Fault(path, f"{where}{reading.form.what} cannot have the {what}; known are {has}", near)


@rule(
    "ELICITATION_FIELD_VALUE",
    severity=Severity.ERROR,
    clause=REQUESTED_SCHEMA,
    sentence=(
        "What stands under a keyword of a field is what the kind of the field asks for: the "
        "values of a select are strings, also where the published schema reads it as a plain "
        "string and lets anything through."
    ),
    on=_FIELD,
    since=_SINCE,
)
def _field_value(value: Any, context: Context) -> Iterator[Fault]:
    reading = read_field(value, context)
    if reading is None or not reading.published or reading.sound:
        return
    values = Values(hidden=context.hide_values)
    for name, may_be in reading.form.keywords.items():
        if name in value and not may_be(value[name]):
            yield _ill_formed(name, value[name], reading, values)


def _ill_formed(name: str, value: Any, reading: Reading, values: Values) -> Fault:
    if name in ("enum", "enumNames") and isinstance(value, list):
        index = next(i for i, each in enumerate(value) if not isinstance(each, str))
        found = values.found(value[index])
        return Fault((name, index), f"the values of a select must be strings, found {found}")
    if name == "oneOf" and isinstance(value, list):
        index = next(i for i, each in enumerate(value) if not _is_option(each))
        return Fault(
            (name, index),
            'an option must be an object with the strings "const" and "title", '
            f"found {values.found(value[index])}",
        )
    return Fault((name,), f'"{name}" of {reading.form.what} cannot be {values.found(value)}')


def _is_option(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) for name in ("const", "title")
    )


@rule(
    "ELICITATION_FIELD_BOUNDS",
    severity=Severity.ERROR,
    clause=REQUESTED_SCHEMA,
    sentence="Bounds of a field admit some answer: none is negative where things are counted, "
    "and no least is larger than the most.",
    on=_FIELD,
    since=_SINCE,
)
def _field_bounds(value: Any, context: Context) -> Iterator[Fault]:
    reading = sound_field(value, context)
    if reading is None:
        return
    plain = Values(hidden=context.hide_values).plain
    for least, most in _BOUNDS:
        if least not in reading.form.keywords:
            continue
        negative = [
            name
            for name in (least, most)
            if least != "minimum" and name in value and value[name] < 0
        ]
        for name in negative:
            yield Fault((name,), f'"{name}" must not be negative, found {plain(value[name])}')
        if not negative and least in value and most in value and value[least] > value[most]:
            yield Fault(
                (least,),
                f'"{least}" must not be larger than "{most}", '
                f"found {plain(value[least])} and {plain(value[most])}: no answer fits",
            )


@rule(
    "ELICITATION_DEFAULT",
    severity=Severity.WARNING,
    clause=REQUESTED_SCHEMA,
    sentence="The default of a field is an answer that the field admits: clients put it into "
    "the form.",
    on=_FIELD,
    since=_MODES,
)
def _default(value: Any, context: Context) -> Iterator[Fault]:
    reading = sound_field(value, context)
    if reading is None or "default" not in value:
        return
    found = Values(hidden=context.hide_values).found(value["default"])
    wrong = _refused(value["default"], reading, context)
    if wrong:
        yield Fault(("default",), f"the default should be {wrong}, found {found}")


def _refused(default: Any, reading: Reading, context: Context) -> str:
    """Return what *default* should be, or "" if the field admits it."""
    field = reading.field
    found = options_of(reading, context)
    if found is not None:
        options, _ = found
        known = set(options)
        if not all(each in known for each in ([default] if isinstance(default, str) else default)):
            return f"among the {counted(len(options), 'option')} of the field"
        return "" if isinstance(default, str) else _out_of(len(default), field, "Items")
    if isinstance(default, str):
        spend(context.budget, len(default))
        form = field.get("format")
        if form is not None and not _FORMATS[form](default):
            return f'of the format "{form}"'
        return _out_of(len(default), field, "Length")
    if isinstance(default, bool):
        return ""
    if field["type"] == "integer" and not is_integer(default):
        return "an integer"
    if default < field.get("minimum", default):
        return 'no less than "minimum"'
    return 'no larger than "maximum"' if default > field.get("maximum", default) else ""


def _out_of(size: int, field: dict[str, Any], what: str) -> str:
    if size < field.get(f"min{what}", size):
        return f'no shorter than "min{what}"'
    return f'no longer than "max{what}"' if size > field.get(f"max{what}", size) else ""


RULES: tuple[Rule, ...] = (
    *sparing(is_ordinary_field, (_field_keyword, _field_value, _field_bounds, _default)),
    _default_early,
)
