"""Lints of schemas: keywords and values without effect, or with an unintended one.

They hold for every target, since JSON Schema ignores unknown keywords.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.formats import FORMATS
from sidecheck_server.core.formats.rules import format_checker
from sidecheck_server.core.json_values import canonical_json, has_type
from sidecheck_server.core.limits import Budget, Limits, spend
from sidecheck_server.core.portability.facts import Path, ToolView
from sidecheck_server.core.portability.one_of_overlap import find_overlap
from sidecheck_server.core.schemas.keywords import KEYWORDS
from sidecheck_server.core.schemas.walker import SchemaLocation, declared_draft
from sidecheck_server.core.types import Draft, Severity, Violation, as_pointer

__all__ = ["REQUIREMENTS", "find_lints"]

REQUIREMENTS = {
    "KEYWORD_MISSPELT": "Every keyword is spelt as in its specification.",
    "OPENAPI_KEYWORD": "A schema uses no keyword of OpenAPI, which JSON Schema ignores.",
    "FORMAT_UNKNOWN": "Every format is one that JSON Schema defines.",
    "ENUM_VALUE_UNREACHABLE": 'Every value of an enum has a type that "type" admits.',
    "DATE_TIME_WITHOUT_OFFSET": "An example of a date-time has an offset (RFC 3339, 5.6).",
    "PARAMETER_WITHOUT_TYPE": "The schema of a parameter says what it accepts.",
    "ONE_OF_BRANCHES_OVERLAP": 'No value is valid against two branches of "oneOf".',
}
"""Requirement of each lint, by its code."""

_OPENAPI = "https://spec.openapis.org/oas/v3.0.3#schema-object"
_OPENAPI_REMEDIES = {
    "nullable": 'write "type": [..., "null"]',
    "discriminator": 'write a "const" for the property in each branch',
    "example": 'write "examples": [...]',
    "xml": "leave it out",
    "externalDocs": 'link it in the "description"',
}
_SUBSCHEMA = 200
"""Steps of the lints of one subschema."""
_UNKNOWN_KEYWORD = 4_000
"""Steps of searching the nearest keyword."""

_ANNOTATIONS = frozenset(
    {
        "$anchor", "$comment", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema",
        "$vocabulary", "contentEncoding", "contentMediaType", "contentSchema", "default",
        "deprecated", "description", "examples", "format", "id", "readOnly", "title", "writeOnly",
    }
)  # fmt: skip
_KNOWN = {draft: frozenset(KEYWORDS[draft]) | _ANNOTATIONS for draft in Draft}
_EVERY_KEYWORD = sorted(frozenset().union(*_KNOWN.values()))


def find_lints(view: ToolView, budget: Budget, limits: Limits) -> Iterator[Violation]:
    """Yield the lints of both schemas of a tool, as violations.

    *limits* bound the evaluation of samples.

    Raises:
        Exhausted: *budget* is spent.
    """
    overlap_budget = [_OVERLAPS]
    for name, locations in (("inputSchema", view.inputs), ("outputSchema", view.outputs)):
        draft = declared_draft(locations[0].schema) if locations else Draft.DRAFT_2020_12
        for location in locations:
            spend(budget, _SUBSCHEMA)
            path = (name, *location.path)
            yield from _keyword_lints(location.schema, path, draft, budget)
            yield from _value_lints(location.schema, path)
            overlaps = list(_overlapping_branches(location.schema, path, budget))
            yield from overlaps or _overlapping_samples(
                locations[0].schema, location, path, (overlap_budget, limits)
            )
    yield from _untyped_parameters(view)


def _lint(
    path: Path,
    code: str,
    message: str,
    keyword: str,
    severity: Severity = Severity.WARNING,
    **rest: Any,
) -> Violation:
    return Violation(as_pointer(path), "", keyword, code, message, severity, **rest)


def _keyword_lints(
    schema: dict[str, Any], path: Path, draft: Draft, budget: Budget
) -> Iterator[Violation]:
    for keyword in schema:
        if keyword in _KNOWN[draft]:
            continue
        if keyword in _OPENAPI_REMEDIES:
            message = (
                f'"{keyword}" is a keyword of OpenAPI and has no effect in JSON Schema; '
                f"{_OPENAPI_REMEDIES[keyword]}"
            )
            yield _lint((*path, keyword), "OPENAPI_KEYWORD", message, keyword, spec_url=_OPENAPI)
            continue
        if keyword.startswith(("x-", "$")) or keyword in _EVERY_KEYWORD:
            continue
        spend(budget, _UNKNOWN_KEYWORD)
        nearest = find_nearest(keyword, _EVERY_KEYWORD)
        if nearest:
            message = f'"{keyword}" is not a keyword and has no effect; did you mean "{nearest}"?'
            yield _lint((*path, keyword), "KEYWORD_MISSPELT", message, keyword, suggestion=nearest)


def _value_lints(schema: dict[str, Any], path: Path) -> Iterator[Violation]:
    name = schema.get("format")
    if isinstance(name, str) and name not in FORMATS:
        message = (
            f'the format "{name[:64]}" is not defined by JSON Schema, and asserts nothing; state '
            "the limits with keywords, such as minimum and maximum"
        )
        yield _lint((*path, "format"), "FORMAT_UNKNOWN", message, "format", Severity.INFO)
    types, values = schema.get("type"), schema.get("enum")
    if isinstance(types, str):
        types = [types]
    if isinstance(types, list) and isinstance(values, list):
        names = [name for name in types if isinstance(name, str)]
        for index, value in enumerate(values):
            if names and not any(has_type(value, name, Draft.DRAFT_2020_12) for name in names):
                message = (
                    f"this value of the enum has a type that is not {' or '.join(names)}, so it is "
                    "never valid; write it with that type, or add its type"
                )
                yield _lint((*path, "enum", index), "ENUM_VALUE_UNREACHABLE", message, "enum")
    if name == "date-time":
        yield from _naive_date_times(schema, path)


def _naive_date_times(schema: dict[str, Any], path: Path) -> Iterator[Violation]:
    check = format_checker("date-time", "2020-12")
    examples = schema.get("examples")
    values: list[tuple[Path, Any]] = [
        (("default",), schema.get("default")),
        (("const",), schema.get("const")),
    ]
    if isinstance(examples, list):
        values += [(("examples", index), value) for index, value in enumerate(examples)]
    for place, value in values:
        if isinstance(value, str) and check and not check(value) and check(f"{value}Z"):
            message = (
                "a date-time without an offset does not have the format date-time (RFC 3339, "
                "section 5.6); end it with Z or an offset such as +02:00"
            )
            yield _lint((*path, *place), "DATE_TIME_WITHOUT_OFFSET", message, "format")


def _overlapping_branches(
    schema: dict[str, Any], path: Path, budget: Budget
) -> Iterator[Violation]:
    """Yield the branches of oneOf that certainly overlap with an earlier one.

    That is so if both are the same, or if both restrict nothing but types, and share one.
    """
    branches = schema.get("oneOf")
    if not isinstance(branches, list):
        return
    texts: dict[bytes, int] = {}
    typed: dict[int, frozenset[str]] = {}
    for index, branch in enumerate(branches):
        text = canonical_json(branch)
        spend(budget, len(text) + _BRANCH_PAIR * len(typed))
        types = _only_types(branch)
        other = texts.get(text)
        if other is None and types is not None:
            other = next((number for number, known in typed.items() if known & types), None)
        if other is not None:
            yield _overlap(path, index, other, "some values are")
        texts.setdefault(text, index)
        if types is not None:
            typed[index] = types


def _overlap(path: Path, index: int, other: int, values: str) -> Violation:
    message = (
        f"{values} valid against this branch and branch {other} of oneOf, which rejects that; "
        'write "anyOf", or tell the branches apart by a "const"'
    )
    return _lint((*path, "oneOf", index), "ONE_OF_BRANCHES_OVERLAP", message, "oneOf")


def _overlapping_samples(
    root: dict[str, Any],
    location: SchemaLocation,
    path: Path,
    bounds: tuple[Budget, Limits],
) -> Iterator[Violation]:
    """Yield the first branch of oneOf for which a sample is valid against an earlier one, too."""
    if isinstance(location.schema.get("oneOf"), list):
        overlap = find_overlap(root, location, *bounds)
        if overlap is not None:
            sample = overlap.payload.decode()
            shown = sample if len(sample) <= _MAX_SAMPLE else f"{sample[:_MAX_SAMPLE]}…"
            yield _overlap(path, overlap.branch, overlap.other, f"{shown} is")


_OVERLAPS = 4_000_000
"""Steps of all searches for overlaps in a tool; further branches are not searched."""
_MAX_SAMPLE = 100
"""Characters of a sample in a message."""
_BRANCH_PAIR = 10
"""Steps of comparing the types of two branches."""
_TEXTS = frozenset({"title", "description", "type"})


def _only_types(branch: Any) -> frozenset[str] | None:
    """Return the types of *branch* if it restricts nothing else, or None."""
    if not isinstance(branch, dict) or not branch.keys() <= _TEXTS or "type" not in branch:
        return None
    types = branch["type"]
    listed = types if isinstance(types, list) else [types]
    names = frozenset(name for name in listed if isinstance(name, str))
    # Integers are numbers.
    return names | {"integer"} if "number" in names else names


def _untyped_parameters(view: ToolView) -> Iterator[Violation]:
    properties = view.root.get("properties")
    if not isinstance(properties, dict):
        return
    for name, schema in properties.items():
        if isinstance(schema, dict) and schema.keys() <= {"title", "description", "default"}:
            message = (
                "the schema of the parameter accepts any value, so that models must guess; write "
                'its "type"'
            )
            path = ("inputSchema", "properties", name)
            yield _lint(path, "PARAMETER_WITHOUT_TYPE", message, "type", Severity.INFO)
