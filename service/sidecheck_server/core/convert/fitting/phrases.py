"""Phrases: what an assertion says, in words that a model reads."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.fitting.outlines import outline, shown
from sidecheck_server.core.convert.part import Part

__all__ = ["phrase_of"]

_LONGEST = 600
"""Characters of a phrase."""
_LONGEST_TEXT = 200
"""Characters of a text in a phrase."""
_MOST_NAMES = 20
"""Names that one phrase lists."""
_MOST_PARTS = 12
"""Subschemas that one phrase outlines."""


def phrase_of(keyword: str, keywords: Mapping[str, Any]) -> str:
    """Return what *keyword* of *keywords* says with those that go along with it.

    It has at most 600 characters; subschemas are outlined.
    """
    if keyword in _GROUPS:
        said = _GROUPS[keyword](keywords)
    elif keyword in _PHRASES:
        said = _PHRASES[keyword](keywords[keyword])
    else:
        said = f"like {outline(Part((), {keyword: keywords[keyword]}))}"
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"


def _counted(form: str, thing: str) -> Callable[[Any], str]:
    return lambda count: form.format(f"{shown(count)} {thing}{'' if count == 1 else 's'}")


def _with(form: str) -> Callable[[Any], str]:
    return lambda value: form.format(shown(value))


def _names(names: Any) -> str:
    listed = ", ".join(shown(name) for name in list(names)[:_MOST_NAMES])
    return listed + (", …" if len(names) > _MOST_NAMES else "")


def _one_of(values: list[Any]) -> str:
    if len(values) == 1:
        return f"always {shown(values[0])}"
    return f"one of: {_names(values)}"


def _of_type(stated: str | list[str]) -> str:
    return stated if isinstance(stated, str) else " or ".join(stated)


def _text(pattern: str) -> str:
    return pattern if len(pattern) <= _LONGEST_TEXT else pattern[: _LONGEST_TEXT - 1] + "…"


def _matching(members: Mapping[str, Any]) -> str:
    each = [_text(pattern) for pattern in list(members)[:_MOST_NAMES]]
    return f"members whose name matches {' or '.join(each)} have a form of their own"


def _like(form: str) -> Callable[[Part], str]:
    return lambda part: f"{form} {_outlined(part)}"


def _others(what: str) -> Callable[[Part], str]:
    return lambda part: (
        f"no other {what}" if part.never else f"other {what} are like {outline(part)}"
    )


def _union(form: str) -> Callable[[list[Part]], str]:
    return lambda branches: f"{form} {' or '.join(map(_outlined, branches[:_MOST_PARTS]))}"


def _outlined(part: Part) -> str:
    return "nothing" if part.never else outline(part)


def _needed(needs: Mapping[str, list[str]]) -> str:
    listed = list(needs.items())[:_MOST_PARTS]
    return "; ".join(f"{name} needs {', '.join(names[:_MOST_NAMES])}" for name, names in listed)


def _depending(schemas: Mapping[str, Part]) -> str:
    listed = list(schemas.items())[:_MOST_PARTS]
    return "; ".join(f"with {name}: {outline(each)}" for name, each in listed)


_PHRASES: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "additionalProperties": _others("members"),
        "anyOf": _union("like one of"),
        "const": _with("always {}"),
        "contentEncoding": _with("encoded as {}"),
        "contentMediaType": _with("holds {}"),
        "default": _with("default: {}"),
        "dependentRequired": _needed,
        "dependentSchemas": _depending,
        "enum": _one_of,
        "examples": lambda values: f"for example {_names(values)}",
        "exclusiveMaximum": _with("less than {}"),
        "exclusiveMinimum": _with("greater than {}"),
        "format": lambda value: f"format: {value}",
        "maximum": _with("at most {}"),
        "maxItems": _counted("at most {}", "item"),
        "maxLength": _counted("at most {}", "character"),
        "maxProperties": _counted("at most {}", "member"),
        "minimum": _with("at least {}"),
        "minItems": _counted("at least {}", "item"),
        "minLength": _counted("at least {}", "character"),
        "minProperties": _counted("at least {}", "member"),
        "multipleOf": _with("a multiple of {}"),
        "not": _like("not like"),
        "oneOf": _union("like exactly one of"),
        "pattern": lambda value: f"matches {_text(value)}",
        "patternProperties": _matching,
        "propertyNames": _like("names of members are like"),
        "required": lambda names: f"must have {_names(names)}",
        "type": _of_type,
        "unevaluatedItems": _others("items"),
        "unevaluatedProperties": _others("members"),
        "uniqueItems": lambda _: "no two items are equal",
    }
)


def _conditional(keywords: Mapping[str, Any]) -> str:
    cases = [f"{name} {outline(keywords[name])}" for name in ("then", "else") if name in keywords]
    return f"if {outline(keywords['if'])}, {', '.join(cases)}"


def _contained(keywords: Mapping[str, Any]) -> str:
    least, most = keywords.get("minContains", 1), keywords.get("maxContains")
    often = f"at least {least}" if most is None else f"{least} to {most}"
    return f"{often} of the items are like {outline(keywords['contains'])}"


_GROUPS: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {"if": _conditional, "contains": _contained}
)
"""What keywords say together with others."""
