"""Comparison of keywords whose values contain no schemas."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.compat.rules import BOUNDS, upper_snake
from sidecheck_server.core.explain.values import format_literal
from sidecheck_server.core.json_values import canonical_json, is_number

__all__ = ["ABSENT", "KEYWORD_COMPARERS", "KeywordChange", "are_equal", "shorten"]

ABSENT: Any = object()
"""Marker in place of the value of a keyword that a schema lacks."""

_MAX_LENGTH = 80


@dataclass(frozen=True, slots=True)
class KeywordChange:
    """Change of one keyword."""

    code: str
    message: str
    old_value: str = ""
    new_value: str = ""


def shorten(value: Any) -> str:
    """Return *value* as a literal, cut to 80 characters, or "" if it is absent."""
    if value is ABSENT:
        return ""
    text = format_literal(value)
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"


def are_equal(old: Any, new: Any) -> bool:
    """Return whether two values of a keyword are equal, or both absent."""
    if old is ABSENT or new is ABSENT:
        return old is new
    return canonical_json(old) == canonical_json(new)


def _describe_change(
    keyword: str, suffix: str, old: Any, new: Any, verb: str = ""
) -> KeywordChange:
    before, after = shorten(old), shorten(new)
    if old is ABSENT:
        message = f"{keyword} {after} was added"
    elif new is ABSENT:
        message = f"{keyword} {before} was removed"
    else:
        message = f"{keyword} {verb or 'changed'} from {before} to {after}"
    return KeywordChange(f"{upper_snake(keyword)}_{suffix}", message, before, after)


def _compare_bound(keyword: str, old: Any, new: Any) -> Iterator[KeywordChange]:
    if old is ABSENT or new is ABSENT:
        yield _describe_change(keyword, "ADDED" if old is ABSENT else "REMOVED", old, new)
    elif is_number(old) and is_number(new):
        if old != new:
            suffix = "RAISED" if new > old else "LOWERED"
            yield _describe_change(keyword, suffix, old, new, f"was {suffix.lower()}")
    elif old is not new:
        # In draft 4, exclusive bounds are flags that modify inclusive bounds.
        suffix = "ADDED" if new is True else "REMOVED"
        yield _describe_change(keyword, suffix, old, new)


def _compare_other(keyword: str, old: Any, new: Any) -> Iterator[KeywordChange]:
    if old is ABSENT or new is ABSENT:
        yield _describe_change(keyword, "ADDED" if old is ABSENT else "REMOVED", old, new)
    elif canonical_json(old) != canonical_json(new):
        yield _describe_change(keyword, "CHANGED", old, new)


def _compare_flag(keyword: str, old: Any, new: Any) -> Iterator[KeywordChange]:
    before, after = old is True, new is True
    if before is not after:
        message = "items must be unique" if after else "items may be equal"
        yield KeywordChange(
            f"{upper_snake(keyword)}_{'ADDED' if after else 'REMOVED'}",
            message,
            shorten(before),
            shorten(after),
        )


_ALL_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})


def _types(value: Any) -> frozenset[str]:
    if value is ABSENT:
        return _ALL_TYPES
    names = frozenset([value] if isinstance(value, str) else value)
    return names | {"integer"} if "number" in names else names


def _compare_types(keyword: str, old: Any, new: Any) -> Iterator[KeywordChange]:
    before, after = _types(old), _types(new)
    if before == after:
        return
    suffix = "WIDENED" if before < after else "NARROWED" if after < before else "CHANGED"
    yield _describe_change(keyword, suffix, old, new)


def _compare_enum(keyword: str, old: Any, new: Any) -> Iterator[KeywordChange]:
    if old is ABSENT or new is ABSENT:
        yield _describe_change(keyword, "ADDED" if old is ABSENT else "REMOVED", old, new)
        return
    before = {canonical_json(value): value for value in old}
    after = {canonical_json(value): value for value in new}
    for suffix, values, others in (("REMOVED", before, after), ("ADDED", after, before)):
        changed_values = [value for text, value in values.items() if text not in others]
        if changed_values:
            noun = "value" if len(changed_values) == 1 else "values"
            listed = ", ".join(shorten(value) for value in changed_values[:5])
            more = f" and {len(changed_values) - 5} more" if len(changed_values) > 5 else ""
            yield KeywordChange(
                f"ENUM_VALUE_{suffix}",
                f"enum {'lost' if suffix == 'REMOVED' else 'gained'} the {noun} {listed}{more}",
                *((listed + more, "") if suffix == "REMOVED" else ("", listed + more)),
            )


Comparer = Callable[[str, Any, Any], Iterator[KeywordChange]]

KEYWORD_COMPARERS: Mapping[str, Comparer] = MappingProxyType(
    {
        **dict.fromkeys(BOUNDS, _compare_bound),
        **dict.fromkeys(("const", "multipleOf", "pattern", "format", "default"), _compare_other),
        "uniqueItems": _compare_flag,
        "type": _compare_types,
        "enum": _compare_enum,
    }
)
"""Functions that yield the changes of a keyword, by its name."""
