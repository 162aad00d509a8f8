"""Descriptions of unsupported keywords, for the model and the log of losses."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.types import Action, Effect, LossLog
from sidecheck_server.core.payload import encode_json

__all__ = [
    "KEYWORD_GROUPS",
    "add_note",
    "describe_keyword",
    "drop_keyword",
    "drop_unevaluated",
    "json_text",
    "outline",
    "phrase",
    "shorten",
]

KEYWORD_GROUPS = {
    "if": ("if", "then", "else"),
    "contains": ("contains", "minContains", "maxContains"),
}
"""Keywords that have no effect without the first one of their group."""

_EVALUATING = (
    *("allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$ref"),
    "contains",
)
"""Applicators whose branches evaluate properties and items of the same value."""


def add_note(node: SchemaNode, text: str) -> None:
    """Append *text* to the description of *node*."""
    if text not in node.notes:
        node.notes.append(text)


def describe_keyword(
    node: SchemaNode,
    log: LossLog,
    keyword: str,
    text: str = "",
    *,
    reason: str = "",
    effect: Effect = Effect.WIDENED,
) -> None:
    """Move *keyword*, and its group, from *node* to its description.

    The description is *text*, or else a phrase for the keyword. A *reason* that is not obvious
    is logged. ``unevaluated*``, which depends on some keywords, is moved too.
    """
    if keyword == "if" and not {"then", "else"} & node.keywords.keys():
        drop_keyword(node, log, keyword, "has no effect without then and else")
    else:
        text = text or phrase(keyword, node.keywords)
        for name in KEYWORD_GROUPS.get(keyword, (keyword,)):
            node.keywords.pop(name, None)
        add_note(node, text)
        message = f"moved to the description: {text}"
        message = f"{reason}; {message}" if reason else message
        log.add(node, keyword, Action.DESCRIBED, effect, message)
    if keyword in _EVALUATING:
        drop_unevaluated(node, log)


def drop_keyword(
    node: SchemaNode,
    log: LossLog,
    keyword: str,
    reason: str,
    effect: Effect = Effect.EQUIVALENT,
) -> None:
    """Remove *keyword* from *node* and log the *reason*."""
    node.keywords.pop(keyword, None)
    log.add(node, keyword, Action.DROPPED, effect, reason)


def drop_unevaluated(node: SchemaNode, log: LossLog) -> None:
    """Describe ``unevaluated*`` of *node*, which depended on removed keywords."""
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        if keyword in node.keywords:
            describe_keyword(node, log, keyword, reason="what it depends on cannot be kept")


_MAX_PHRASE = 600
"""Maximum characters of a phrase."""
_MAX_TEXT = 200
"""Maximum characters of a text in a phrase."""
_MAX_NAMES = 20
"""Maximum number of names in a phrase."""
_MAX_NODES = 12
"""Maximum number of outlined subschemas in a phrase."""


def phrase(keyword: str, keywords: Mapping[str, Any]) -> str:
    """Return *keyword* of *keywords*, and its group, as a phrase for the model.

    It has at most 600 characters; subschemas are outlined.
    """
    if keyword in _GROUP_PHRASES:
        text = _GROUP_PHRASES[keyword](keywords)
    elif keyword in _PHRASES:
        text = _PHRASES[keyword](keywords[keyword])
    else:
        text = f"like {outline(SchemaNode((), {keyword: keywords[keyword]}))}"
    return text if len(text) <= _MAX_PHRASE else text[: _MAX_PHRASE - 1] + "…"


def _format_count(form: str, singular: str, plural: str) -> Callable[[Any], str]:
    return lambda count: form.format(f"{shorten(count)} {singular if count == 1 else plural}")


def _format_value(form: str) -> Callable[[Any], str]:
    return lambda value: form.format(shorten(value))


def _format_names(names: Any) -> str:
    listed = ", ".join(shorten(name) for name in list(names)[:_MAX_NAMES])
    return listed + (", …" if len(names) > _MAX_NAMES else "")


def _format_enum(values: list[Any]) -> str:
    if len(values) == 1:
        return f"always {shorten(values[0])}"
    return f"one of: {_format_names(values)}"


def _format_type(type_value: str | list[str]) -> str:
    return type_value if isinstance(type_value, str) else " or ".join(type_value)


def _cut_text(pattern: str) -> str:
    return pattern if len(pattern) <= _MAX_TEXT else pattern[: _MAX_TEXT - 1] + "…"


def _format_pattern_properties(schemas: Mapping[str, Any]) -> str:
    patterns = [_cut_text(pattern) for pattern in list(schemas)[:_MAX_NAMES]]
    return f"properties whose name matches {' or '.join(patterns)} have a form of their own"


def _format_schema(form: str) -> Callable[[SchemaNode], str]:
    return lambda node: f"{form} {_outline_or_nothing(node)}"


def _format_others(noun: str) -> Callable[[SchemaNode], str]:
    return lambda node: (
        f"no other {noun}" if node.never else f"other {noun} are like {outline(node)}"
    )


def _format_union(form: str) -> Callable[[list[SchemaNode]], str]:
    return lambda branches: f"{form} {' or '.join(map(_outline_or_nothing, branches[:_MAX_NODES]))}"


def _outline_or_nothing(node: SchemaNode) -> str:
    return "nothing" if node.never else outline(node)


def _format_dependent_required(needs: Mapping[str, list[str]]) -> str:
    listed = list(needs.items())[:_MAX_NODES]
    return "; ".join(f"{name} needs {', '.join(names[:_MAX_NAMES])}" for name, names in listed)


def _format_dependent_schemas(schemas: Mapping[str, SchemaNode]) -> str:
    listed = list(schemas.items())[:_MAX_NODES]
    return "; ".join(f"with {name}: {outline(node)}" for name, node in listed)


_PHRASES: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "additionalProperties": _format_others("properties"),
        "anyOf": _format_union("like one of"),
        "const": _format_value("always {}"),
        "contentEncoding": _format_value("encoded as {}"),
        "contentMediaType": _format_value("holds {}"),
        "default": _format_value("default: {}"),
        "dependentRequired": _format_dependent_required,
        "dependentSchemas": _format_dependent_schemas,
        "enum": _format_enum,
        "examples": lambda values: f"for example {_format_names(values)}",
        "exclusiveMaximum": _format_value("less than {}"),
        "exclusiveMinimum": _format_value("greater than {}"),
        "format": lambda value: f"format: {value}",
        "maximum": _format_value("at most {}"),
        "maxItems": _format_count("at most {}", "item", "items"),
        "maxLength": _format_count("at most {}", "character", "characters"),
        "maxProperties": _format_count("at most {}", "property", "properties"),
        "minimum": _format_value("at least {}"),
        "minItems": _format_count("at least {}", "item", "items"),
        "minLength": _format_count("at least {}", "character", "characters"),
        "minProperties": _format_count("at least {}", "property", "properties"),
        "multipleOf": _format_value("a multiple of {}"),
        "not": _format_schema("not like"),
        "oneOf": _format_union("like exactly one of"),
        "pattern": lambda value: f"matches {_cut_text(value)}",
        "patternProperties": _format_pattern_properties,
        "propertyNames": _format_schema("names of properties are like"),
        "required": lambda names: f"must have {_format_names(names)}",
        "type": _format_type,
        "unevaluatedItems": _format_others("items"),
        "unevaluatedProperties": _format_others("properties"),
        "uniqueItems": lambda _: "no two items are equal",
    }
)


def _format_conditional(keywords: Mapping[str, Any]) -> str:
    cases = [f"{name} {outline(keywords[name])}" for name in ("then", "else") if name in keywords]
    return f"if {outline(keywords['if'])}, {', '.join(cases)}"


def _format_contains(keywords: Mapping[str, Any]) -> str:
    least, most = keywords.get("minContains", 1), keywords.get("maxContains")
    count = f"at least {least}" if most is None else f"{least} to {most}"
    return f"{count} of the items are like {outline(keywords['contains'])}"


_GROUP_PHRASES: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {"if": _format_conditional, "contains": _format_contains}
)
"""Phrases for keywords together with their group."""

_MAX_VALUE = 200
_MAX_OUTLINE = 240
_MAX_OUTLINE_DEPTH = 6
_MAX_OUTLINE_WIDTH = 12
_MAX_OUTLINE_NODES = 200
_NOT_OUTLINED = frozenset({"title", "description", "default", "examples", "readOnly", "writeOnly"})


def json_text(value: Any) -> str:
    """Return the shortest JSON text of *value*."""
    return encode_json(value).decode()


def shorten(value: Any) -> str:
    """Return *value* as JSON text, cut to 200 characters."""
    text = json_text(value)
    return text if len(text) <= _MAX_VALUE else text[: _MAX_VALUE - 1] + "…"


def outline(node: SchemaNode) -> str:
    """Return *node* as JSON text, cut to 240 characters."""
    text = msgspec.json.format(encode_json(_Outline().shorten(node, 0)), indent=0).decode()
    return text if len(text) <= _MAX_OUTLINE else text[: _MAX_OUTLINE - 1] + "…"


class _Outline:
    """Outline of one node, with the targets of references in place, to a bounded size."""

    def __init__(self) -> None:
        self.remaining_nodes = _MAX_OUTLINE_NODES

    def shorten(self, value: Any, depth: int) -> Any:
        self.remaining_nodes -= 1
        if depth > _MAX_OUTLINE_DEPTH or self.remaining_nodes < 0:
            return "…"
        if isinstance(value, SchemaNode):
            if value.never:
                return False
            if value.keywords.keys() - _NOT_OUTLINED == {"$ref"}:
                return self.shorten(value.keywords["$ref"], depth + 1)
            value = {
                name: nested for name, nested in value.keywords.items() if name not in _NOT_OUTLINED
            }
        if isinstance(value, dict):
            names = list(value)[:_MAX_OUTLINE_WIDTH]
            return {name: self.shorten(value[name], depth + 1) for name in names}
        if isinstance(value, list):
            return [self.shorten(item, depth + 1) for item in value[:_MAX_OUTLINE_WIDTH]]
        return value[:_MAX_OUTLINE] if isinstance(value, str) else value
