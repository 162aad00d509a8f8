"""Rules for enums, constants, patterns, formats, defaults and types."""

import re
import warnings
from dataclasses import replace
from typing import Any

from sidecheck_server.core.convert.providers.subset import Patterns
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms import arrays, sibling_keywords, value_types
from sidecheck_server.core.convert.transforms.descriptions import (
    describe_keyword,
    drop_keyword,
    json_text,
    phrase,
)
from sidecheck_server.core.convert.transforms.rules import (
    DROPPING_DEFAULTS,
    Rule,
    TransformContext,
    has,
    lacks_support,
)
from sidecheck_server.core.convert.transforms.value_types import APPLIES_TO, has_type, types_of
from sidecheck_server.core.convert.types import Action, Effect
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.limits import Budget, spend

__all__ = ["RULES", "has_look_around", "supports_pattern"]

_VALUE_COUNTS = {"boolean": 2, "null": 1}
"""Number of values of each finite type."""
_MAX_EXAMPLES = 100
"""Maximum characters of examples in a description."""


def _rewrite_const(node: SchemaNode, context: TransformContext) -> None:
    """Rewrite a constant as an enum of one value where the subset has no constants."""
    keywords = node.keywords
    constant = keywords["const"]
    if context.supports("const") and (_is_scalar(constant) or not context.subset.closed):
        return
    is_listed = "enum" not in keywords or any(
        json_equal(constant, value) for value in keywords["enum"]
    )
    if not is_listed:
        reason = "the enum beside it does not contain it"
        drop_keyword(node, context.log, "const", reason, Effect.WIDENED)
        return
    node.keywords = {
        ("enum" if keyword == "const" else keyword): [constant] if keyword == "const" else value
        for keyword, value in keywords.items()
        if keyword != "enum"
    }
    message = "rewritten as an enum of one value"
    context.log.add(node, "const", Action.REWRITTEN, Effect.EQUIVALENT, message)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, (dict, list))


def _encode_enum(node: SchemaNode, context: TransformContext) -> None:
    """Encode objects and arrays in an enum as JSON text where the subset forbids them."""
    keywords = node.keywords
    values = keywords["enum"]
    if all(map(_is_scalar, values)):
        return
    kept_keywords = {
        keyword: keywords[keyword] for keyword in keywords if _is_type_independent(keyword)
    }
    dropped = [
        keyword
        for keyword in keywords
        if keyword not in kept_keywords and keyword not in ("enum", "type")
    ]
    for keyword in dropped:
        drop_keyword(node, context.log, keyword, "the enum beside it is kept", Effect.WIDENED)
    node.keywords = {
        "type": "string",
        **kept_keywords,
        "enum": [json_text(value) for value in values],
    }
    node.encoding = replace(node.encoding, json_text=True)
    node.notes.append("JSON text")
    message = "the values are given as JSON text"
    context.log.add(node, "enum", Action.ENCODED, Effect.EQUIVALENT, message)


def _is_type_independent(keyword: str) -> bool:
    return keyword in value_types.ANNOTATIONS and keyword not in APPLIES_TO


def _match_types(node: SchemaNode, context: TransformContext) -> None:
    """Leave out the values of types that the node does not allow, which are never valid.

    If no value is left, or only a null that may stand for absence, the types of the values
    replace the types of the node.
    """
    keywords, types = node.keywords, types_of(node)
    name = "enum" if "enum" in keywords else "const"
    values = keywords["enum"] if name == "enum" else [keywords["const"]]
    possible = [value for value in values if any(has_type(value, type_) for type_ in types)]
    if not types or not values or len(possible) == len(values):
        return
    if any(value is not None or types == ["null"] for value in possible):
        keywords["enum"] = possible
        message = "values of other types are left out"
        context.log.add(node, "enum", Action.REWRITTEN, Effect.EQUIVALENT, message)
    else:
        types = value_types.types_of_values(node)
        keywords["type"] = types[0] if len(types) == 1 else types
        message = f"no value in {name} is of the type, which is replaced by that of the values"
        context.log.add(node, "type", Action.REWRITTEN, Effect.WIDENED, message)


def _restrict_enum(node: SchemaNode, context: TransformContext) -> None:
    """Restrict enums to strings where only those are supported."""
    types = types_of(node)
    if not context.supports("enum"):
        describe_keyword(node, context.log, "enum")
    elif context.subset.enum_of_strings:
        _restrict_to_strings(node, context, types)


def _restrict_to_strings(node: SchemaNode, context: TransformContext, types: list[str]) -> None:
    values = node.keywords["enum"]
    strings = [value for value in values if isinstance(value, str) and value]
    others_are_null = len(strings) + sum(value is None for value in values) == len(values)
    if strings and others_are_null and (len(strings) == len(values) or context.subset.nullable):
        return
    if len(types) == 1 and len(values) >= _VALUE_COUNTS.get(types[0], len(values) + 1):
        drop_keyword(node, context.log, "enum", "it lists every value of the type")
        return
    describe_keyword(node, context.log, "enum")


def _describe_format(node: SchemaNode, context: TransformContext) -> None:
    """Describe formats that the subset lacks; formats are annotations."""
    formats = context.subset.formats
    if not context.supports("format") or not (
        formats is None or node.keywords["format"] in formats
    ):
        describe_keyword(node, context.log, "format", effect=Effect.EQUIVALENT)


def _describe_pattern(node: SchemaNode, context: TransformContext) -> None:
    """Describe patterns that the provider cannot compile."""
    pattern, patterns = node.keywords["pattern"], context.subset.patterns
    supported = context.supports("pattern")
    if not (supported and supports_pattern(pattern, patterns, context.log.budget)):
        describe_keyword(node, context.log, "pattern")


def _describe_default(node: SchemaNode, context: TransformContext) -> None:
    """Describe defaults and short examples where they are not supported, or drop them."""
    keywords = node.keywords
    if "default" in keywords and context.drop_defaults:
        drop_keyword(node, context.log, "default", "the option drop_defaults is set")
    elif "default" in keywords and not context.supports("default"):
        describe_keyword(node, context.log, "default", effect=Effect.EQUIVALENT)
    if "examples" in keywords and not context.supports("examples"):
        text = phrase("examples", keywords)
        if keywords["examples"] and len(text) <= _MAX_EXAMPLES:
            describe_keyword(node, context.log, "examples", text, effect=Effect.EQUIVALENT)
        else:
            drop_keyword(node, context.log, "examples", "the provider does not support examples")


_DROPPED_DEFAULT = frozenset({"default", DROPPING_DEFAULTS})
_lacks_values = lacks_support("default", "examples")

RULES: tuple[Rule, ...] = (
    *sibling_keywords.RULES,
    Rule(
        _match_types,
        lambda traits, subset: (
            "type" in traits
            and ("enum" in traits or "const" in traits)
            and (subset.closed or subset.enum_of_strings)
        ),
    ),
    Rule(
        _rewrite_const,
        lambda traits, subset: (
            "const" in traits and (subset.closed or not subset.supports("const"))
        ),
    ),
    Rule(
        _encode_enum,
        lambda traits, subset: "enum" in traits and (subset.closed or subset.enum_of_strings),
    ),
    *value_types.RULES,
    Rule(
        _restrict_enum,
        lambda traits, subset: (
            "enum" in traits and (subset.enum_of_strings or not subset.supports("enum"))
        ),
    ),
    Rule(
        _describe_format,
        lambda traits, subset: (
            "format" in traits and (subset.formats is not None or not subset.supports("format"))
        ),
    ),
    *arrays.BOUND_RULES,
    Rule(_describe_pattern, has("pattern")),
    Rule(
        _describe_default,
        lambda traits, subset: traits >= _DROPPED_DEFAULT or _lacks_values(traits, subset),
    ),
)

# Constructs outside of classes and escaped characters. A class without an end reaches to the end
# of the pattern, which keeps the scan linear.
_CONSTRUCTS = re.compile(
    r"(?P<look_around>\(\?<?[=!])|(?P<irregular>\\[1-9bB]|\\k<)|\\."
    r"|\[(?:\\.|[^\]\\])*+\]?",
    re.DOTALL,
)

_PATTERN = 4_000
"""Steps per compilation of a pattern with Python, for each occurrence in a schema."""
_CHARACTER = 80
"""Steps per character of a pattern: groups, quantifiers and classes take about 2 us."""
_WIDE_CLASS = 80_000
"""Steps per class with characters beyond Latin-1, whose compilation takes about 2 ms."""


_REGULAR = frozenset({Patterns.REGULAR, Patterns.GRAMMAR})
# From ^ to $, with other escapes than shorthand classes only.
_GRAMMAR_PATTERN = re.compile(r"\^(?:[^\\]|\\[^dswDSW])*\$", re.DOTALL)


def supports_pattern(pattern: str, patterns: Patterns, budget: Budget) -> bool:
    """Return whether *pattern* belongs to the class *patterns*.

    Raises:
        Exhausted: the budget is spent.
    """
    wide = not pattern.isascii() or "\\u" in pattern
    spend(
        budget,
        _PATTERN + _CHARACTER * len(pattern) + (_WIDE_CLASS * pattern.count("[") if wide else 0),
    )
    if patterns is not Patterns.PYTHON and has_look_around(pattern):
        return False
    if patterns in _REGULAR and _is_irregular(pattern):
        return False
    if patterns is Patterns.GRAMMAR and not _GRAMMAR_PATTERN.fullmatch(pattern):
        return False
    # Flags are not in ECMA-262 2018, and make Python examine every character of a class.
    return "(?i" not in pattern and _compiles(pattern)


def has_look_around(pattern: str) -> bool:
    """Return whether *pattern* has a look-ahead or a look-behind."""
    return any(match["look_around"] for match in _CONSTRUCTS.finditer(pattern))


def _is_irregular(pattern: str) -> bool:
    """Return whether *pattern* has back-references or word boundaries."""
    return any(match["irregular"] for match in _CONSTRUCTS.finditer(pattern))


def _compiles(pattern: str) -> bool:
    with warnings.catch_warnings():
        # Patterns that Python warns about, such as "[[", are supported all the same.
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError):
            return False
    return True
