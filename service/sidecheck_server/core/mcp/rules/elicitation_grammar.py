"""Closed grammar of the fields of elicitation forms, by version.

The published schemas are open: they accept unknown keywords, and a field of one kind may have
invalid keywords of another. In this grammar, every kind is closed. The page of 2025-11-25
shows ``pattern`` in a string field; the schema never had it and the page was corrected later
(modelcontextprotocol, pull request 838), so the grammar does not have it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from types import MappingProxyType
from typing import Any, cast

from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Path

__all__ = [
    "REQUESTED_SCHEMA",
    "FormField",
    "find_nearest_keyword",
    "has_modes",
    "is_integer",
    "is_number",
    "is_plain_field",
    "options_of",
    "read_field",
    "read_valid_field",
]

REQUESTED_SCHEMA = Clause(
    "client/elicitation",
    "requested-schema",
    before=(("2025-06-18", "client/elicitation", "supported-schema-types"),),
)
"""Clause that lists the keywords of a form."""

_MODES_SINCE = "2025-11-25"
"""First version with modes, defaults and multiple selects."""

#: Keywords of JSON Schema that resemble keywords of a form, but are not misspellings of them.
_NOT_MISSPELLED = frozenset(
    {"additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames"}
    | {"minProperties", "maxProperties", "uniqueItems", "additionalItems", "prefixItems"}
    | {"unevaluatedItems", "dependentRequired"}
)

# Steps per element.
_COMPARISON = 400
_MEMO = 15
_ITEM = 8
_FIELD = 120


@dataclass(frozen=True, slots=True)
class FieldKind:
    """A kind of field."""

    #: Description, such as ``a string field``.
    description: str
    #: Allowed keywords, with tests of their values as in the published schema.
    keywords: Mapping[str, Callable[[Any], bool]]
    #: Required keywords.
    required: tuple[str, ...] = ("type",)

    def accepts(self, field: dict[str, Any]) -> bool:
        """Return whether *field* is valid against the published schema of this kind."""
        return all(name in field for name in self.required) and all(
            is_valid(field[name]) for name, is_valid in self.keywords.items() if name in field
        )


@dataclass(frozen=True, slots=True)
class FormField:
    """A field and its intended kind."""

    schema: dict[str, Any]
    kind: FieldKind
    #: Whether it is valid against the published schema of any kind.
    matches_any_kind: bool
    #: Whether it is valid against the published schema of its kind.
    matches_kind: bool
    #: All keywords of all kinds.
    all_keywords: frozenset[str]


def read_field(value: Any, context: Context) -> FormField | None:
    """Return the field *value* with its kind, or None if the kind is unclear."""
    if not isinstance(value, dict):
        return None
    memo = context.memo.get(("field", id(value)))
    if memo is not None:
        spend(context.budget, _MEMO)
        return cast("FormField | None", memo[1])
    spend(context.budget, _FIELD + _ITEM * _count_list_items(value))
    kinds = _build_kinds(context.version)
    kind = _select_kind(value, kinds)
    field = None
    if kind is not None:
        matches_kind = kind.accepts(value)
        matches_any = matches_kind or any(candidate.accepts(value) for candidate in kinds.values())
        field = FormField(value, kind, matches_any, matches_kind, _list_keywords(context.version))
    context.memo["field", id(value)] = (value, field)
    return field


def read_valid_field(value: Any, context: Context) -> FormField | None:
    """Return the field *value* if it is valid as a field of its kind, or None."""
    field = read_field(value, context)
    return field if field is not None and field.matches_kind else None


def options_of(field: FormField, context: Context) -> tuple[list[str], Path] | None:
    """Return the options of a valid select and their path, or None for other fields.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    schema = field.schema
    memo = context.memo.get(("options", id(schema)))
    if memo is None:
        spend(context.budget, _ITEM * _count_list_items(schema))
        memo = (schema, _read_options(field))
        context.memo["options", id(schema)] = memo
    else:
        spend(context.budget, _MEMO)
    return cast("tuple[list[str], Path] | None", memo[1])


def _read_options(field: FormField) -> tuple[list[str], Path] | None:
    schema, required = field.schema, field.kind.required
    items = schema.get("items")
    if "oneOf" in required:
        return [option["const"] for option in schema["oneOf"]], ("oneOf",)
    if "enum" in required:
        return schema["enum"], ("enum",)
    if "items" not in required or not isinstance(items, dict):
        return None
    if "enum" in items:
        return items["enum"], ("items", "enum")
    return [option["const"] for option in items["anyOf"]], ("items", "anyOf")


def has_modes(version: str) -> bool:
    """Return whether elicitation has modes in *version*, rather than only forms."""
    return version >= _MODES_SINCE


def find_nearest_keyword(name: str, keywords: Iterable[str], context: Context) -> str:
    """Return the keyword among *keywords* that *name* may misspell, or ""."""
    if context.hide_values or name in _NOT_MISSPELLED:
        return ""
    spend(context.budget, _COMPARISON)
    return find_nearest(name, keywords)


def is_integer(value: Any) -> bool:
    """Return whether *value* is an integer of JSON Schema, such as 1 or 1.0, not true."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether *value* is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count_list_items(schema: dict[str, Any]) -> int:
    """Return the total number of items of the lists in *schema*."""
    items = schema.get("items")
    inner = items if isinstance(items, dict) else {}
    return sum(
        len(value)
        for value in (*schema.values(), inner.get("enum"), inner.get("anyOf"))
        if isinstance(value, list)
    )


def _select_kind(schema: dict[str, Any], kinds: Mapping[str, FieldKind]) -> FieldKind | None:
    match schema.get("type"):
        case "string" if "oneOf" in schema and "titled" in kinds:
            return kinds["titled"]
        case "string":
            return kinds["untitled"] if "enum" in schema else kinds["text"]
        case "number" | "integer":
            return kinds["number"]
        case "boolean":
            return kinds["boolean"]
        case "array" if "many" in kinds:
            items = schema.get("items")
            has_titles = isinstance(items, dict) and "anyOf" in items and "enum" not in items
            return kinds["many titled" if has_titles else "many"]
        case _:
            return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _are_titled_options(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(option, dict)
        and isinstance(option.get("const"), str)
        and isinstance(option.get("title"), str)
        for option in value
    )


def _are_untitled_items(value: Any) -> bool:
    return (
        isinstance(value, dict) and value.get("type") == "string" and _are_texts(value.get("enum"))
    )


def _are_titled_items(value: Any) -> bool:
    return isinstance(value, dict) and _are_titled_options(value.get("anyOf"))


def _build_enum_test(*values: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in values


_is_format = _build_enum_test("email", "uri", "date", "date-time")


@lru_cache(maxsize=16)  # exceeds the number of versions
def _build_kinds(version: str) -> Mapping[str, FieldKind]:
    has_defaults = has_modes(version)
    common = {"title": _is_text, "description": _is_text}
    # SEP-1034 added defaults to all kinds but booleans, which had one before.
    default = {"default": _is_text} if has_defaults else {}
    text = {"type": _build_enum_test("string"), **common}
    choice = {**text, **default, "enum": _are_texts, "enumNames": _are_texts}
    kinds = {
        "text": FieldKind(
            "a string field",
            {**text, "minLength": is_integer, "maxLength": is_integer, "format": _is_format}
            | default,
        ),
        "number": FieldKind(
            "a number field",
            {"type": _build_enum_test("number", "integer"), **common}
            | {"minimum": is_number, "maximum": is_number}
            | ({"default": is_number} if has_defaults else {}),
        ),
        "boolean": FieldKind(
            "a boolean field",
            {"type": _build_enum_test("boolean"), **common, "default": _is_boolean},
        ),
        "untitled": FieldKind("a single select", choice, ("type", "enum")),
    }
    if has_defaults:
        many = {
            "type": _build_enum_test("array"),
            **common,
            "minItems": is_integer,
            "maxItems": is_integer,
        }
        kinds |= {
            "titled": FieldKind(
                "a single select with titles",
                {**text, **default, "oneOf": _are_titled_options},
                ("type", "oneOf"),
            ),
            "many": FieldKind(
                "a multiple select",
                {**many, "items": _are_untitled_items, "default": _are_texts},
                ("type", "items"),
            ),
            "many titled": FieldKind(
                "a multiple select with titles",
                {**many, "items": _are_titled_items, "default": _are_texts},
                ("type", "items"),
            ),
        }
    return MappingProxyType(kinds)


@lru_cache(maxsize=16)
def _list_keywords(version: str) -> frozenset[str]:
    return frozenset(name for kind in _build_kinds(version).values() for name in kind.keywords)


_NO_TYPE: frozenset[type] = frozenset()
_STR = frozenset({str})
_INT = frozenset({int})
_NUMBER = frozenset({int, float})
_PLAIN_COMMON = {"type": _STR, "title": _STR, "description": _STR}
_PLAIN_NUMBER = _PLAIN_COMMON | {"minimum": _NUMBER, "maximum": _NUMBER}
#: Keywords of plain fields with the Python types of their values, by type of the field.
_PLAIN_FIELDS: Mapping[str, Mapping[str, frozenset[type]]] = {
    "string": _PLAIN_COMMON | {"minLength": _INT, "maxLength": _INT, "format": _STR},
    "number": _PLAIN_NUMBER,
    "integer": _PLAIN_NUMBER,
    "boolean": _PLAIN_COMMON | {"default": frozenset({bool})},
}
_PLAIN_SELECT: Mapping[str, frozenset[type]] = _PLAIN_COMMON | {
    "enum": frozenset({list}),
    "default": _STR,
}
_FORMATS = frozenset({"email", "uri", "date", "date-time"})


def is_plain_field(value: Any, context: Context) -> bool:
    """Return whether *value* is a simple and valid field, which rules can skip.

    The test is stricter than the rules. Without it, the check of an elicitation request with
    four fields takes 2.8 times as long (benchmarks/protocol.py, row elicitation/create).

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    kind = value.get("type") if type(value) is dict else None
    if type(kind) is not str:
        return False
    keywords = _PLAIN_SELECT if kind == "string" and "enum" in value else _PLAIN_FIELDS.get(kind)
    if keywords is None:
        return False
    for name, item in value.items():
        if type(item) not in keywords.get(name, _NO_TYPE):
            return False
    if keywords is _PLAIN_SELECT:
        return _is_plain_select(value, context)
    if kind == "string":
        is_known_format = value.get("format", "date") in _FORMATS
        return is_known_format and 0 <= value.get("minLength", 0) <= value.get("maxLength", inf)
    return bool(value.get("minimum", -inf) <= value.get("maximum", inf))


def _is_plain_select(schema: dict[str, Any], context: Context) -> bool:
    """Return whether the options are unique strings that include the default."""
    options = schema["enum"]
    spend(context.budget, _ITEM * len(options))
    for option in options:
        if type(option) is not str:
            return False
    if not options or len(set(options)) < len(options):
        return False
    return "default" not in schema or (has_modes(context.version) and schema["default"] in options)
