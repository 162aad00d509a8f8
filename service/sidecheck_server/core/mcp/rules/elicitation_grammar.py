"""The fields that a form may have: the restricted schemas of elicitation, version by version.

The published schemas leave them open: a member that they do not know is let through,
and a field that fits one kind may say nonsense in the words of another. Here every kind
is closed. The page of 2025-11-25 still shows ``pattern`` in a string field; its schema
never had it, and the page was put right afterwards (modelcontextprotocol, pull request
838), so it is not among the keywords.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, cast

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Path

__all__ = [
    "REQUESTED_SCHEMA",
    "Reading",
    "has_modes",
    "is_integer",
    "is_number",
    "nearest_keyword",
    "options_of",
    "read_field",
    "sound_field",
]

REQUESTED_SCHEMA = Clause(
    "client/elicitation",
    "requested-schema",
    before=(("2025-06-18", "client/elicitation", "supported-schema-types"),),
)
"""Where the specification lists what a form may have."""

_WITH_DEFAULTS = "2025-11-25"

#: Keywords of JSON Schema that only look like one of a form: nobody means that by them.
_OTHERS = frozenset(
    {"additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames"}
    | {"minProperties", "maxProperties", "uniqueItems", "additionalItems", "prefixItems"}
    | {"unevaluatedItems", "dependentRequired"}
)

# In steps.
_COMPARING = 400
_KNOWN = 15
_ITEM = 8
_FIELD = 120


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of field."""

    #: What it is, as in ``a string field``.
    what: str
    #: Its keywords, and whether a value may stand under them by the published schema.
    keywords: Mapping[str, Callable[[Any], bool]]
    #: The keywords that it cannot be without.
    needed: tuple[str, ...] = ("type",)

    def fits(self, field: dict[str, Any]) -> bool:
        """Return whether the published schema of this kind lets *field* through."""
        return all(name in field for name in self.needed) and all(
            may_be(field[name]) for name, may_be in self.keywords.items() if name in field
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """A field, and what it is meant to be."""

    field: dict[str, Any]
    form: Form
    #: Whether the published schema lets it through, as whatever kind.
    published: bool
    #: Whether it is well-formed as the kind that it is meant to be.
    sound: bool
    #: Every keyword of every kind.
    known: frozenset[str]


def read_field(value: Any, context: Context) -> Reading | None:
    """Return what the field *value* is meant to be, or None if there is no telling."""
    if not isinstance(value, dict):
        return None
    known = context.readings.get(("field", id(value)))
    if known is not None:
        spend(context.budget, _KNOWN)
        return cast("Reading | None", known[1])
    spend(context.budget, _FIELD + _ITEM * _listed(value))
    forms = _forms(context.version)
    form = _meant(value, forms)
    reading = None
    if form is not None:
        sound = form.fits(value)
        published = sound or any(each.fits(value) for each in forms.values())
        reading = Reading(value, form, published, sound, _known(context.version))
    context.readings["field", id(value)] = (value, reading)
    return reading


def sound_field(value: Any, context: Context) -> Reading | None:
    """Return the field *value* if it is well-formed as what it is meant to be."""
    reading = read_field(value, context)
    return reading if reading is not None and reading.published and reading.sound else None


def options_of(reading: Reading, context: Context) -> tuple[list[str], Path] | None:
    """Return what a sound select offers, and where that stands; None if it is no select.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    field = reading.field
    known = context.readings.get(("options", id(field)))
    if known is None:
        spend(context.budget, _ITEM * _listed(field))
        known = (field, _offered(reading))
        context.readings["options", id(field)] = known
    else:
        spend(context.budget, _KNOWN)
    return cast("tuple[list[str], Path] | None", known[1])


def _offered(reading: Reading) -> tuple[list[str], Path] | None:
    field = reading.field
    items = field.get("items")
    if "oneOf" in reading.form.needed:
        return [each["const"] for each in field["oneOf"]], ("oneOf",)
    if "enum" in reading.form.needed:
        return field["enum"], ("enum",)
    if "items" not in reading.form.needed or not isinstance(items, dict):
        return None
    if "enum" in items:
        return items["enum"], ("items", "enum")
    return [each["const"] for each in items["anyOf"]], ("items", "anyOf")


def has_modes(version: str) -> bool:
    """Return whether elicitation has modes in *version*, and not just the form."""
    return version >= _WITH_DEFAULTS


def nearest_keyword(name: str, known: Iterable[str], context: Context) -> str:
    """Return the one of *known* that the keyword *name* may stand for, or ""."""
    if context.hide_values or name in _OTHERS:
        return ""
    spend(context.budget, _COMPARING)
    return find_nearest(name, known)


def is_integer(value: Any) -> bool:
    """Return whether *value* is an integer of JSON Schema: 1.0 is one, true is none."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether *value* is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _listed(field: dict[str, Any]) -> int:
    items = field.get("items")
    inner = items if isinstance(items, dict) else {}
    return sum(
        len(each)
        for each in (*field.values(), inner.get("enum"), inner.get("anyOf"))
        if isinstance(each, list)
    )


def _meant(field: dict[str, Any], forms: Mapping[str, Form]) -> Form | None:
    match field.get("type"):
        case "string" if "oneOf" in field and "titled" in forms:
            return forms["titled"]
        case "string":
            return forms["untitled"] if "enum" in field else forms["text"]
        case "number" | "integer":
            return forms["number"]
        case "boolean":
            return forms["boolean"]
        case "array" if "many" in forms:
            items = field.get("items")
            titled = isinstance(items, dict) and "anyOf" in items and "enum" not in items
            return forms["many titled" if titled else "many"]
        case _:
            return None


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _options(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict)
        and isinstance(each.get("const"), str)
        and isinstance(each.get("title"), str)
        for each in value
    )


def _untitled_items(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "string" and _texts(value.get("enum"))


def _titled_items(value: Any) -> bool:
    return isinstance(value, dict) and _options(value.get("anyOf"))


def _one_of(*values: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in values


_FORMAT = _one_of("email", "uri", "date", "date-time")


@lru_cache(maxsize=16)  # There are fewer versions.
def _forms(version: str) -> Mapping[str, Form]:
    modern = version >= _WITH_DEFAULTS
    common = {"title": _text, "description": _text}
    # SEP-1034 gave a default to the kinds that had none.
    default = {"default": _text} if modern else {}
    text = {"type": _one_of("string"), **common}
    choice = {**text, **default, "enum": _texts, "enumNames": _texts}
    forms = {
        "text": Form(
            "a string field",
            {**text, "minLength": is_integer, "maxLength": is_integer, "format": _FORMAT} | default,
        ),
        "number": Form(
            "a number field",
            {"type": _one_of("number", "integer"), **common}
            | {"minimum": is_number, "maximum": is_number}
            | ({"default": is_number} if modern else {}),
        ),
        "boolean": Form(
            "a boolean field", {"type": _one_of("boolean"), **common, "default": _boolean}
        ),
        "untitled": Form("a single select", choice, ("type", "enum")),
    }
    if modern:
        many = {"type": _one_of("array"), **common, "minItems": is_integer, "maxItems": is_integer}
        forms |= {
            "titled": Form(
                "a single select with titles",
                {**text, **default, "oneOf": _options},
                ("type", "oneOf"),
            ),
            "many": Form(
                "a multiple select",
                {**many, "items": _untitled_items, "default": _texts},
                ("type", "items"),
            ),
            "many titled": Form(
                "a multiple select with titles",
                {**many, "items": _titled_items, "default": _texts},
                ("type", "items"),
            ),
        }
    return MappingProxyType(forms)


@lru_cache(maxsize=16)
def _known(version: str) -> frozenset[str]:
    return frozenset(name for form in _forms(version).values() for name in form.keywords)
