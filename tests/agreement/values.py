"""Names, strings, patterns and numbers for random schemas and payloads.

The names are hostile: alike up to case or punctuation, keywords of JSON Schema, and
what a careless code generator would let through into its code or its templates.

Where jsonschema-rs is known to evaluate wrongly, the material keeps away from it; see
`agreement.known_differences`.
"""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from random import Random
from types import MappingProxyType
from typing import Any

__all__ = [
    "ANCHORS",
    "DIVISORS",
    "FORMATS",
    "INTEGERS",
    "NAMES",
    "NUMBERS",
    "PATTERNS",
    "STRINGS",
    "any_value",
    "names_in",
    "spelling",
]

NAMES = (
    # The names of a row differ in case or punctuation only.
    *("a", "A", "b", "B", "c"),
    *("a-b", "a_b", "a b", "a.b", "a/b", "a~b", "a%b", "ab"),
    *("~0", "~1", "%25", "%2F", "#", "/", "?"),
    *("0", "1", "01", "-1", "1.0"),
    # Text with a meaning in Python, or in templates.
    *("", " ", "\n", "\r", "\t", "\0", "\x7f", "\\", "\\n", "\\\\", '"', "'", '"""', "'''"),
    *("{", "}", "{}", "{0}", "{data}", "{variable}", "{{", "%s", "%(x)s", "$x", "${x}"),
    *("#comment", "a\nraise Invalid", ");raise SystemExit(0)#", '"]=0;d0=len#', "x" * 300),
    *("None", "True", "import", "lambda", "__class__", "__builtins__", "__import__"),
    # Names of the generated code.
    *("data", "data_0", "data__0", "data_i", "data_k", "data_v", "data_c", "d0", "d1", "P0"),
    *("F0", "C0", "budget", "Invalid", "Exhausted", "len", "json_equal", "is_multiple"),
    # Keywords, and names with a special meaning in other languages.
    *("$ref", "$id", "id", "$schema", "$anchor", "$defs", "definitions", "$dynamicRef"),
    *("properties", "patternProperties", "items", "type", "required", "enum", "const"),
    *("if", "then", "not", "default", "allOf", "format", "dependencies"),
    *("__proto__", "constructor", "prototype", "toString", "hasOwnProperty"),
    # Beyond ASCII.
    *("é", "e\u0301", "𝒳", "\u00a0", "\ufeff", "\u200b", "ß", "İ", "日本"),
)
"""Names of properties and definitions."""

ANCHORS = ("a-b", "a_b", "a.b", "A", "a", "data_0", "d0", "definitions", "properties", "x1", "ref")
"""Plain names, of the form that every edition allows."""

STRINGS = (
    *("", "a", "aa", "aaa", "b", "A", "ab", "abc", "a\n", "\n", "x y", "x-1", "a@b.c"),
    *("0", "12", "007", "-3", "1.0", "٣", "é", "e\u0301", "𝒳", "\u00a0", "\x1c", "\ufeff"),
    *("{a}", '"', "\\", "'", "$", "#/definitions/a", "null", "true"),
    # Valid texts of formats, and similar invalid texts.
    *("2026-01-31", "2026-02-30", "2026-01-31T00:00:00Z", "10:00:00Z", "P1D", "127.0.0.1", "::1"),
    *("0b4c8a1e-6f1d-4b53-9d3c-0d8f6a2f7c11", "http://example.com/", "example.com", "/a/b", "[a"),
)

FORMATS = (
    *("date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"),
    *("uri-reference", "json-pointer", "regex", "unheard-of"),
)
"""Names of formats, one of them undefined."""

PATTERNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "^a": ("a", "ab", "a-b", "a\n"),
        "b": ("b", "ab", "a_b"),
        "a$": ("a", "aa", "xa"),
        "^$": ("",),
        "^a*$": ("", "a", "aaa"),
        "^(a|b)+$": ("a", "ab", "bba"),
        "a|b": ("a", "b", "-b-"),
        "[0-9]+": ("0", "a1", "12"),
        "^\\d+$": ("0", "12", "007"),
        "^[a-z]{1,3}$": ("a", "abc", "xy"),
        "^[^a]*$": ("", "b", "é", "\n"),
        "^.{2}$": ("ab", "12", "é𝒳"),
        "^\\w+$": ("a", "data_0", "P0"),
        "^\\W": ("-", "{}", "é"),
        "\\s": (" ", "a b", "\ufeff", "\n"),
        "^\\S+$": ("a", "\x1c", "é"),
        "^\\p{L}+$": ("é", "a", "ß"),
        "^x-": ("x-", "x-1"),
        "^\\$": ("$ref", "$"),
        "[$]": ("$", "a$"),
        "^[\\w.-]+$": ("a.b", "a-b", "1.0"),
        "\\\\": ("\\", "\\n"),
        "\\{": ("{", "{data}"),
        '"': ('"', '"""'),
        "'": ("'", "'''"),
        "^__proto__$": ("__proto__",),
        "^P0$": ("P0",),
        "^(?:é|𝒳)": ("é", "𝒳x"),
        "\\u0061": ("a", "ba"),
        "\\/": ("/", "a/b"),
        "\\bab\\b": ("ab", "x ab"),
        "": ("", "a", "{}"),
    }
)
"""Patterns that match in linear time, each with texts that it matches."""

_DOUBLES = (-0.0, 1.0, 2.0, -1.0, 100.0, 0.1, 0.3, 0.5, 1.5, 2.5, 4.35, 19.99, 1e-7, 1e300)
INTEGERS = (
    *(0, 1, -1, 2, 3, 5, 7, 10, 100),
    *(2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63, 2**64 + 1, 10**20, 10**30),
)
NUMBERS = (*INTEGERS[:9], *_DOUBLES, *INTEGERS[9:], float(2**53))
DIVISORS = (1, 2, 3, 7, 0.1, 0.01, 0.5, 1.5, 2.0, 2.5, 2**53 + 1)


def any_value(random: Random, names: tuple[str, ...] = NAMES, depth: int = 0) -> Any:
    """Return a random JSON value, whose objects have properties called *names*."""
    kind = random.random()
    if depth < 3 and kind < 0.2:
        return [any_value(random, names, depth + 1) for _ in range(random.randrange(4))]
    if depth < 3 and kind < 0.45:
        chosen = random.sample(names, min(len(names), random.randrange(4)))
        return {name: any_value(random, names, depth + 1) for name in chosen}
    if kind < 0.65:
        return random.choice((None, True, False))
    return random.choice(NUMBERS if kind < 0.85 else STRINGS)


def names_in(value: Any) -> Iterator[str]:
    """Yield the names of all properties of the objects in *value*."""
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            yield from current
            stack.extend(current.values())
        elif isinstance(current, list):
            stack.extend(current)


def spelling(value: Any) -> str:
    """Return a text that two values share exactly if they are the same JSON value."""
    return json.dumps(_exact(value), sort_keys=True)


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _exact(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        # A double is written as the shortest decimal that identifies it, not as its exact value.
        return int(Decimal(repr(value)) if type(value) is float else value)
    return value
