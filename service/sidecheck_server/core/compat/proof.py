"""Proofs by jsonschema-rs that one schema admits all values of another.

Answers are three-valued: a schema that the library cannot model gives UNKNOWN, never an
error. A proof has no bound on time, so it runs in a worker.

`prove_covers` first removes the conditions and branches that both forms have in common. A
form is a conjunction: if one form without a common part covers the other without it, it also
covers the other with it. Thus a proof about one property does not depend on many unchanged
conditions, which have too many combinations.

The library tries the constants and names of one schema against the other, with its own
pattern engine and its own numbers. `write_for_library` writes both so that the library
agrees with the validator: numbers that it reads as doubles or integers, and patterns with
classes as ranges of code points. Other engines define `.` and word boundaries differently,
and read `[a&&b]` as an intersection.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any

import jsonschema_rs

from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.exact_numbers import ExactNumber, read_number
from sidecheck_server.core.json_values import canonical_json
from sidecheck_server.core.patterns.codepoints import WORD, Ranges
from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.groups import Group, GroupKind, Quantifier
from sidecheck_server.core.patterns.reading import Assertion, PatternReader
from sidecheck_server.core.schemas.keywords import APPLICATORS, Position
from sidecheck_server.core.types import Draft, JsonValue

__all__ = [
    "Answer",
    "CannotWriteError",
    "Operand",
    "plain_pattern",
    "prove_covers",
    "subtract",
    "write_for_library",
]

_DRAFTS = {
    Draft.DRAFT_04: jsonschema_rs.Draft4,
    Draft.DRAFT_2020_12: jsonschema_rs.Draft202012,
}


_MAX_COMBINATIONS = 1_500
"""Maximum combinations of branches, or constants; a proof of more takes seconds."""

# The library's own errors, and its error for lone surrogates, are instances of ValueError.
_ERRORS = (ValueError, jsonschema_rs.ReferencingError)


class Answer(StrEnum):
    """Answer to the question whether a schema admits all values of another."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


_ANSWERS = {
    str(jsonschema_rs.canonical.Containment.YES): Answer.YES,
    str(jsonschema_rs.canonical.Containment.NO): Answer.NO,
}


@dataclass(frozen=True, slots=True)
class Operand:
    """Schema in the library's own form."""

    #: None if the library rejects it.
    schema: Any
    form: NormalForm

    @classmethod
    def of(cls, form: NormalForm) -> "Operand":
        """Return the operand of *form*, without a schema if proofs may take too long."""
        # Decision 0068: forms that take seconds or crash the library are not given to it.
        # Its stack overflows on some unevaluated keywords of recursive schemas.
        if _count_combinations(form) > _MAX_COMBINATIONS or _is_recursive_unevaluated(form):
            return cls(None, form)
        try:
            text = write_for_library(form.schema, form.draft)
            # Formats are annotations here, and the library asserts them in some drafts.
            schema = jsonschema_rs.canonicalize(
                text,  # type: ignore[arg-type]  # a boolean or an object
                draft=_DRAFTS[form.draft],
                validate_formats=False,
                offline=True,
            )
        except (*_ERRORS, CannotWriteError):
            return cls(None, form)
        return cls(schema, form)


def prove_covers(wider: Operand, narrower: Operand) -> Answer:
    """Return whether *wider* admits every value that *narrower* admits."""
    forms = _remove_common_parts(wider.form, narrower.form)
    if forms is not None and _covers(*map(Operand.of, forms)) is Answer.YES:
        return Answer.YES
    return _covers(wider, narrower)


def _covers(wider: Operand, narrower: Operand) -> Answer:
    if wider.schema is None or narrower.schema is None:
        return Answer.UNKNOWN
    try:
        return _ANSWERS.get(str(wider.schema.covers(narrower.schema)), Answer.UNKNOWN)
    except _ERRORS:
        return Answer.UNKNOWN


def subtract(minuend: Operand, subtrahend: Operand) -> JsonValue:
    """Return a schema of values of *minuend* that *subtrahend* rejects, or None."""
    if minuend.schema is None or subtrahend.schema is None:
        return None
    try:
        difference = minuend.schema.subtract(subtrahend.schema).to_json_schema()
    except _ERRORS:
        return None
    return _json_value(difference)


def _json_value(value: Any) -> JsonValue:
    """Return *value* with decimals, which the library uses for some numbers, replaced."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else read_number(str(value))
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {name: _json_value(item) for name, item in value.items()}
    return value  # type: ignore[no-any-return]  # text, a boolean, a number or null


def _count_combinations(form: NormalForm) -> int:
    """Return the maximum combinations of branches, or constants, for one value."""
    return _Combinations(form.schema).largest


def _is_recursive_unevaluated(form: NormalForm) -> bool:
    """Return whether *form* has unevaluated keywords and recursive definitions."""
    names, _ = _collect_names(form.schema)
    if not names & {"unevaluatedProperties", "unevaluatedItems"}:
        return False
    root = form.schema if isinstance(form.schema, dict) else {}
    definitions: Any = root.get("$defs", {})
    targets = {f"#/$defs/{name}": _collect_names(schema)[1] for name, schema in definitions.items()}
    while leaves := [
        name for name, referenced in targets.items() if not referenced & targets.keys()
    ]:
        for name in leaves:
            del targets[name]
    return bool(targets)


def _collect_names(schema: Any) -> tuple[set[str], set[str]]:
    """Return the keys and the targets of references in *schema*."""
    names: set[str] = set()
    references: set[str] = set()
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            names |= value.keys()
            if isinstance(value.get("$ref"), str):
                references.add(value["$ref"])
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return names, references


class _Combinations:
    """Counter of the branch combinations of subschemas that apply to one value."""

    def __init__(self, root: JsonValue) -> None:
        self._root: dict[str, Any] = root if isinstance(root, dict) else {}
        self._counts: dict[int, int] = {}
        self.largest = 1
        pending: list[Any] = [root]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                constants = value.get("enum")
                number = len(constants) if isinstance(constants, list) else 1
                exclusive = value.get("oneOf")
                # Each branch of oneOf excludes the others.
                pairs = len(exclusive) ** 2 // 2 if isinstance(exclusive, list) else 1
                self.largest = max(self.largest, self._count(value), number, pairs)
                pending += value.values()
            elif isinstance(value, list):
                pending += value

    def _count(self, schema: Any) -> int:
        if not isinstance(schema, dict):
            return 1
        if id(schema) not in self._counts:
            self._counts[id(schema)] = 1  # A cycle adds no combinations.
            count = _PER_CONDITION ** min(_count_conditions(schema), _MAX_CONDITIONS)
            for keyword in ("anyOf", "oneOf"):
                branches = schema.get(keyword)
                if isinstance(branches, list):
                    count *= sum(map(self._count, branches))
            conjuncts = schema.get("allOf")
            parts = [*conjuncts] if isinstance(conjuncts, list) else []
            reference = schema.get("$ref")
            if isinstance(reference, str):
                parts.append(self._target(reference))
            for part in parts:
                count *= self._count(part)
            self._counts[id(schema)] = min(count, _MAX_COUNT)
        return self._counts[id(schema)]

    def _target(self, reference: str) -> Any:
        # A constant may contain an object that looks like a reference.
        steps = reference.split("/")
        return self._root.get(steps[1], {}).get(steps[2]) if len(steps) == 3 else None


_MAX_COUNT = 10**12
_PER_CONDITION = 6
"""Combinations per condition: proofs with five conditions take long, and fail."""
_MAX_CONDITIONS = 12


def _count_conditions(schema: dict[str, Any]) -> int:
    """Return the number of conditions in *schema* itself."""
    maps = (schema.get(name) for name in ("dependentRequired", "dependentSchemas", "dependencies"))
    return ("if" in schema) + sum(
        len(requirements) for requirements in maps if isinstance(requirements, dict)
    )


_DEFINITIONS = ("$defs", "definitions")
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""Keywords whose meaning depends on all other keywords for the same value."""
_DEPENDENCIES = ("dependentRequired", "dependentSchemas", "dependencies")
_CONDITION = ("if", "then", "else")


def _remove_common_parts(
    form: NormalForm, other: NormalForm
) -> tuple[NormalForm, NormalForm] | None:
    """Return both forms without their common parts; None if there are none."""
    if not isinstance(form.schema, dict) or not isinstance(other.schema, dict):
        return None
    if not _UNEVALUATED.isdisjoint({*form.schema, *other.schema}):
        return None
    # Equal references must also have equal targets.
    if _definitions(form.schema) != _definitions(other.schema):
        return None
    common = {*_iterate_parts(form.schema)} & {*_iterate_parts(other.schema)}
    if not common:
        return None
    return (
        replace(form, schema=_remove_parts(form.schema, common)),
        replace(other, schema=_remove_parts(other.schema, common)),
    )


def _definitions(schema: dict[str, Any]) -> list[bytes]:
    return [canonical_json(schema.get(name)) for name in _DEFINITIONS]


def _iterate_parts(schema: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    for branch in schema.get("allOf", ()):
        yield "allOf", canonical_json(branch)
    for name in _DEPENDENCIES:
        for key, value in schema.get(name, {}).items():
            yield name, canonical_json([key, value])
    for name in ("anyOf", "oneOf"):
        if name in schema:
            yield name, canonical_json(schema[name])
    if "if" in schema:
        yield "if", _condition_key(schema)


def _remove_parts(schema: dict[str, Any], common: set[tuple[str, bytes]]) -> dict[str, Any]:
    rest = dict(schema)
    if "allOf" in rest:
        rest["allOf"] = [
            branch for branch in rest["allOf"] if ("allOf", canonical_json(branch)) not in common
        ]
    for name in _DEPENDENCIES:
        if name in rest:
            rest[name] = {
                key: value
                for key, value in rest[name].items()
                if (name, canonical_json([key, value])) not in common
            }
    for name in ("anyOf", "oneOf"):
        if name in rest and (name, canonical_json(rest[name])) in common:
            del rest[name]
    if "if" in rest and ("if", _condition_key(rest)) in common:
        for name in _CONDITION:
            rest.pop(name, None)
    for name in ("allOf", *_DEPENDENCIES):
        if name in rest and not rest[name]:
            del rest[name]
    return rest


def _condition_key(schema: dict[str, Any]) -> bytes:
    return canonical_json({name: schema[name] for name in _CONDITION if name in schema})


_MAPS_OF_SCHEMAS = frozenset({Position.SCHEMA_MAP, Position.SCHEMA_OR_NAMES_MAP})


class CannotWriteError(Exception):
    """The library would interpret a part of the schema differently."""


def write_for_library(schema: JsonValue, draft: Draft) -> JsonValue:
    """Return *schema*, a normal form of *draft*, as the library must read it.

    Raises:
        CannotWriteError: there is no such form.
    """
    if not isinstance(schema, dict):
        return schema
    written: dict[str, Any] = {}
    keywords: dict[str, Any] = schema
    for name, value in keywords.items():
        if name == "pattern":
            written[name] = _write_pattern(value)
        elif name == "patternProperties":
            written[name] = _write_pattern_map(value, draft)
        elif name in APPLICATORS[draft]:
            is_map = APPLICATORS[draft][name] in _MAPS_OF_SCHEMAS
            written[name] = _write_map(value, draft) if is_map else _write_subschemas(value, draft)
        else:
            written[name] = _write_value(value)
    return written


def _write_subschemas(value: Any, draft: Draft) -> Any:
    """Write the subschemas in the *value* of a keyword."""
    if isinstance(value, list):
        return [write_for_library(item, draft) for item in value]
    return write_for_library(value, draft)


def _write_map(value: dict[str, Any], draft: Draft) -> dict[str, Any]:
    return {
        # In draft 4, lists of names occur among the subschemas of `dependencies`.
        name: item if isinstance(item, list) else write_for_library(item, draft)
        for name, item in value.items()
    }


def _write_pattern_map(value: dict[str, Any], draft: Draft) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for pattern, schema in _write_map(value, draft).items():
        plain = _write_pattern(pattern)
        written[plain] = {"allOf": [written[plain], schema]} if plain in written else schema
    return written


def _write_pattern(pattern: str) -> str:
    plain = plain_pattern(pattern)
    if plain is None:
        raise CannotWriteError
    return plain


def _write_value(value: Any) -> Any:
    """Return *value* with numbers that the library reads exactly."""
    if isinstance(value, ExactNumber):
        if not value.is_integer():
            raise CannotWriteError
        return int(value)
    if isinstance(value, list):
        return [_write_value(item) for item in value]
    if isinstance(value, dict):
        return {key: _write_value(item) for key, item in value.items()}
    return value


_MAX_REPETITIONS = 10**9
"""High enough for any pattern, since the pattern is not run here."""


@lru_cache(maxsize=512)
def plain_pattern(pattern: str) -> str | None:
    """Return an equivalent of *pattern* that all engines read alike, or None.

    The result is also a pattern of ECMA-262 with the `u` flag. There is none for patterns with
    back-references: engines differ about references to groups that did not participate.
    """
    writer = _Writer(pattern, _MAX_REPETITIONS)
    try:
        writer.read()
    except PatternError:
        return None
    return None if writer.references else "".join(writer.parts)


def _spell(members: Ranges) -> str:
    """Return a class of *members* without lone surrogates, which JSON cannot contain."""
    ranges = [
        part
        for first, last in members
        for part in ((first, min(last, 0xD7FF)), (max(first, 0xE000), last))
        if part[0] <= part[1]
    ]
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _spell_point(ranges[0][0])
    spellings = (
        _spell_point(first) + ("" if first == last else f"-{_spell_point(last)}")
        for first, last in ranges
    )
    return f"[{''.join(spellings)}]"


def _spell_point(point: int) -> str:
    letter = chr(point)
    return letter if letter.isascii() and letter.isalnum() else f"\\u{{{point:x}}}"


_WORD = _spell(WORD)
_ASSERTIONS = {
    Assertion.START: "^",
    Assertion.END: "$",
    Assertion.BOUNDARY: f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    Assertion.NO_BOUNDARY: f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
_OPENINGS = {
    GroupKind.AHEAD: "(?=",
    GroupKind.NOT_AHEAD: "(?!",
    GroupKind.BEHIND: "(?<=",
    GroupKind.NOT_BEHIND: "(?<!",
}


class _Writer(PatternReader):
    """Reader that writes the pattern again, with explicit classes."""

    def __init__(self, source: str, max_repetitions: int) -> None:
        super().__init__(source, max_repetitions)
        self.parts: list[str] = []

    def add_characters(self, members: Ranges) -> None:
        self.parts.append(_spell(members))

    def add_assertion(self, assertion: Assertion) -> None:
        self.parts.append(_ASSERTIONS[assertion])

    def add_reference(self, start: int, target: str) -> None:
        """Write nothing: the reader keeps the reference."""

    def add_quantifier(self, quantifier: Quantifier) -> None:
        self.parts.append(quantifier.source)

    def add_alternative(self) -> None:
        self.parts.append("|")

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        # Without references, capturing has no effect.
        self.parts.append(_OPENINGS.get(kind, "(?:"))
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:  # noqa: ARG002  (overrides)
        self.parts.append(")")
