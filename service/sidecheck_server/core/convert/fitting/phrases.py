"""Phrases: what an assertion says, in words that a model reads."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.fitting.telling import shown
from sidecheck_server.core.convert.part import Part

__all__ = ["phrase_of"]

_LONGEST = 500
"""Characters of a phrase."""
_LONGEST_TEXT = 200
"""Characters of a text in a phrase."""
_MOST_NAMES = 20
"""Names that one phrase lists."""


def phrase_of(keyword: str, value: Any) -> str:
    """Return what *keyword* says with that *value*; subschemas are only hinted at."""
    phrase = _PHRASES.get(keyword)
    said = _hint(keyword) if phrase is None else phrase(value)
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


def _dependent(needs: Mapping[str, list[str]]) -> str:
    each = [f"{shown(name)} needs {_names(needed)}" for name, needed in needs.items() if needed]
    return "; ".join(each[:_MOST_NAMES])


def _of_names(names: Part) -> str:
    said = [
        phrase_of(keyword, value)
        for keyword, value in names.keywords.items()
        if keyword in _PHRASES and keyword != "propertyNames"
    ]
    return f"names of members: {', '.join(said)}" if said else "names of members are restricted"


def _text(pattern: str) -> str:
    return pattern if len(pattern) <= _LONGEST_TEXT else pattern[: _LONGEST_TEXT - 1] + "…"


def _matching(members: Mapping[str, Any]) -> str:
    each = [_text(pattern) for pattern in list(members)[:_MOST_NAMES]]
    return f"members whose name matches {' or '.join(each)} have a form of their own"


def _other_members(others: Part) -> str:
    said = "" if others.never else _in_short(others)
    return "no other members" if others.never else f"other members: {said or 'of a certain form'}"


def _union(branches: list[Part]) -> str:
    each = [_in_short(branch) for branch in branches[:_MOST_NAMES]]
    said = "; or ".join(dict.fromkeys(filter(None, each)))
    return f"either {said}" if said else "further conditions of which one must hold"


def _in_short(branch: Part) -> str:
    keywords = branch.keywords
    for keyword in ("title", "description"):
        if isinstance(keywords.get(keyword), str):
            text: str = keywords[keyword]
            return _text(text)
    simple = (each for each in keywords if each in _PHRASES and each not in _NESTED)
    return ", ".join(phrase_of(each, keywords[each]) for each in simple)


_NESTED = ("additionalProperties", "anyOf", "oneOf", "propertyNames")


_PHRASES: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "additionalProperties": _other_members,
        "anyOf": _union,
        "const": lambda value: f"always {shown(value)}",
        "contains": lambda _: "contains an item of a certain form",
        "contentEncoding": _with("encoded as {}"),
        "contentMediaType": _with("holds {}"),
        "default": _with("default: {}"),
        "dependentRequired": _dependent,
        "enum": _one_of,
        "examples": lambda values: f"for example {_names(values)}",
        "exclusiveMaximum": _with("less than {}"),
        "exclusiveMinimum": _with("greater than {}"),
        "format": lambda value: f"format: {value}",
        "maxContains": _counted("at most {} of that form", "item"),
        "maximum": _with("at most {}"),
        "maxItems": _counted("at most {}", "item"),
        "maxLength": _counted("at most {}", "character"),
        "maxProperties": _counted("at most {}", "member"),
        "minContains": _counted("at least {} of that form", "item"),
        "minimum": _with("at least {}"),
        "minItems": _counted("at least {}", "item"),
        "minLength": _counted("at least {}", "character"),
        "minProperties": _counted("at least {}", "member"),
        "multipleOf": _with("a multiple of {}"),
        "oneOf": _union,
        "pattern": lambda value: f"matches {_text(value)}",
        "patternProperties": _matching,
        "propertyNames": _of_names,
        "required": lambda names: f"must have {_names(names)}",
        "type": _of_type,
        "uniqueItems": lambda _: "no two items are equal",
    }
)


def _hint(keyword: str) -> str:
    return f"further conditions ({keyword})"
