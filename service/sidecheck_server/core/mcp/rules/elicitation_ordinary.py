"""Ordinary forms: those of which the rules have nothing to tell, as can be seen at once.

What is here is stricter than the rules. Whatever it does not know, it leaves to them.
"""

from collections.abc import Mapping
from math import inf
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.elicitation_grammar import has_modes
from sidecheck_server.core.mcp.rules.secrets import is_innocent

__all__ = ["is_flat_form", "is_ordinary_field", "shows_nothing_odd"]

# In steps.
_NAME = 10
_FIELD = 20
_OPTION = 8

_ROOT = frozenset({"type", "properties", "required"})
_FORMATS = frozenset({"email", "uri", "date", "date-time"})

_NO_TYPE: frozenset[type] = frozenset()
_TEXT = frozenset({str})
_COUNT = frozenset({int})
_NUMBER = frozenset({int, float})
_COMMON = {"type": _TEXT, "title": _TEXT, "description": _TEXT}

#: By the type of a field, what may stand under its keywords.
_KINDS: Mapping[str, Mapping[str, frozenset[type]]] = {
    "string": _COMMON | {"minLength": _COUNT, "maxLength": _COUNT, "format": _TEXT},
    "number": _COMMON | {"minimum": _NUMBER, "maximum": _NUMBER},
    "integer": _COMMON | {"minimum": _NUMBER, "maximum": _NUMBER},
    "boolean": _COMMON | {"default": frozenset({bool})},
}
_SELECT: Mapping[str, frozenset[type]] = _COMMON | {"enum": frozenset({list}), "default": _TEXT}


def is_ordinary_field(value: Any, context: Context) -> bool:
    """Return whether *value* is a field without faults, of one of the kinds of every version.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    kind = value.get("type") if type(value) is dict else None
    if type(kind) is not str:
        return False
    known = _SELECT if kind == "string" and "enum" in value else _KINDS.get(kind)
    if known is None:
        return False
    for name, held in value.items():
        if type(held) not in known.get(name, _NO_TYPE):
            return False
    if known is _SELECT:
        return _offers(value, context)
    if kind == "string":
        # The format stands for one if there is none.
        well_formed = value.get("format", "date") in _FORMATS
        return well_formed and 0 <= value.get("minLength", 0) <= value.get("maxLength", inf)
    return bool(value.get("minimum", -inf) <= value.get("maximum", inf))


def _offers(field: dict[str, Any], context: Context) -> bool:
    """Return whether the options of *field* are different texts, with the default among them."""
    options = field["enum"]
    spend(context.budget, _OPTION * len(options))
    for option in options:
        if type(option) is not str:
            return False
    if not options or len(set(options)) < len(options):
        return False
    return "default" not in field or (has_modes(context.version) and field["default"] in options)


def is_flat_form(value: Any, context: Context) -> bool:
    """Return whether the form that *value* asks for has nothing at its root but fields.

    Whatever it requires is one of them, and required once.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    schema = value.get("requestedSchema") if type(value) is dict else None
    fields = schema.get("properties") if type(schema) is dict else None
    if type(schema) is not dict or type(fields) is not dict or not schema.keys() <= _ROOT:
        return False
    required = schema.get("required", ())
    if not required:
        return True
    if type(required) is not list:
        return False
    spend(context.budget, _NAME * len(required))
    for name in required:
        if type(name) is not str or name not in fields:
            return False
    return len(set(required)) == len(required)


def shows_nothing_odd(value: Any, context: Context) -> bool:
    """Return whether the texts of a form have no part of a word for a secret, and of no link.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    schema = value.get("requestedSchema") if type(value) is dict else None
    fields = schema.get("properties") if type(schema) is dict else None
    if type(fields) is not dict:
        return False
    spend(context.budget, _FIELD * (1 + len(fields)))
    texts = [value.get("message"), *fields]
    for field in fields.values():
        if type(field) is dict:
            texts += (field.get("title"), field.get("description"))
    return is_innocent("\n".join([each for each in texts if type(each) is str]), context.budget)
