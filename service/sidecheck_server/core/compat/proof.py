"""Proofs that one schema admits all that another admits, found by jsonschema-rs.

Its answers are three-valued; whatever it cannot model is unknown here, never an error. It has
no bound on time, so it runs in a worker.

Before a proof is sought, the conditions and choices that two forms have in common are left
out. A form is a conjunction: if one without a common part admits all that the other admits
without it, the same is true with it. So a proof about one property need not be one about
many conditions that did not change, whose combinations are too many.

The library tries the constants and names of one schema against the other, by an engine for
patterns and by numbers of its own. Both are written so that it finds what the validator
finds: numbers that it reads as doubles or integers, and patterns whose classes are spelled
as ranges of code points. Other engines have another idea of `.` and of what bounds a word,
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


_MOST_COMBINATIONS = 1_500
"""Choices of branches, or constants, beyond which a proof takes seconds."""

# Its own errors, and that of lone surrogates, are value errors.
_ERRORS = (ValueError, jsonschema_rs.ReferencingError)


class Answer(StrEnum):
    """Whether a schema admits all that another admits."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


_ANSWERS = {
    str(jsonschema_rs.canonical.Containment.YES): Answer.YES,
    str(jsonschema_rs.canonical.Containment.NO): Answer.NO,
}


@dataclass(frozen=True, slots=True)
class Operand:
    """A schema in the library's own form."""

    #: None if the library rejects it.
    schema: Any
    form: NormalForm

    @classmethod
    def of(cls, form: NormalForm) -> "Operand":
        """Return the operand of *form*; it is none if proofs about it may take too long."""
        # The library's stack overflows on some unevaluated keywords of recursive schemas.
        if _count_combinations(form) > _MOST_COMBINATIONS or _is_recursive_unevaluated(form):
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
    forms = _without_common_parts(wider.form, narrower.form)
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
    """Return a schema of what *minuend* admits and *subtrahend* rejects, or None."""
    if minuend.schema is None or subtrahend.schema is None:
        return None
    try:
        difference = minuend.schema.subtract(subtrahend.schema).to_json_schema()
    except _ERRORS:
        return None
    return _json_value(difference)


def _json_value(value: Any) -> JsonValue:
    """Return *value* without decimals, which the library has for some numbers."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else read_number(str(value))
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {name: _json_value(item) for name, item in value.items()}
    return value  # type: ignore[no-any-return]  # text, a boolean, a number or null


def _count_combinations(form: NormalForm) -> int:
    """Return how many choices of branches, or constants, one place of *form* has, at most."""
    return _Combinations(form.schema).largest


def _is_recursive_unevaluated(form: NormalForm) -> bool:
    """Return whether *form* has unevaluated keywords, and a definition that leads to itself."""
    names, _ = _names_in(form.schema)
    if not names & {"unevaluatedProperties", "unevaluatedItems"}:
        return False
    root = form.schema if isinstance(form.schema, dict) else {}
    definitions: Any = root.get("$defs", {})
    targets = {f"#/$defs/{name}": _names_in(schema)[1] for name, schema in definitions.items()}
    while leaves := [name for name, found in targets.items() if not found & targets.keys()]:
        for name in leaves:
            del targets[name]
    return bool(targets)


def _names_in(schema: Any) -> tuple[set[str], set[str]]:
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
    """Counts the choices of branches of the subschemas that apply to one place together."""

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
            self._counts[id(schema)] = 1  # What leads back to itself adds nothing.
            count = _PER_CONDITION ** min(_conditions(schema), _MOST_CONDITIONS)
            for keyword in ("anyOf", "oneOf"):
                branches = schema.get(keyword)
                if isinstance(branches, list):
                    count *= sum(map(self._count, branches))
            together = schema.get("allOf")
            parts = [*together] if isinstance(together, list) else []
            reference = schema.get("$ref")
            if isinstance(reference, str):
                parts.append(self._target(reference))
            for part in parts:
                count *= self._count(part)
            self._counts[id(schema)] = min(count, _LARGEST_COUNT)
        return self._counts[id(schema)]

    def _target(self, reference: str) -> Any:
        # What looks like a reference in a constant is none.
        steps = reference.split("/")
        return self._root.get(steps[1], {}).get(steps[2]) if len(steps) == 3 else None


_LARGEST_COUNT = 10**12
_PER_CONDITION = 6
"""How many choices a condition counts as: proofs with five of them take long, and fail."""
_MOST_CONDITIONS = 12


def _conditions(schema: dict[str, Any]) -> int:
    """Return how many conditions *schema* has of its own."""
    maps = (schema.get(name) for name in ("dependentRequired", "dependentSchemas", "dependencies"))
    return ("if" in schema) + sum(len(each) for each in maps if isinstance(each, dict))


_DEFINITIONS = ("$defs", "definitions")
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""Keywords whose meaning depends on all others of the same place."""
_MAPS_OF_DEPENDENTS = ("dependentRequired", "dependentSchemas", "dependencies")
_CONDITION = ("if", "then", "else")


def _without_common_parts(
    one: NormalForm, other: NormalForm
) -> tuple[NormalForm, NormalForm] | None:
    """Return both forms without what they have in common; None if that is nothing."""
    if not isinstance(one.schema, dict) or not isinstance(other.schema, dict):
        return None
    if not _UNEVALUATED.isdisjoint({*one.schema, *other.schema}):
        return None
    # What is referred to must be the same, too.
    if _definitions(one.schema) != _definitions(other.schema):
        return None
    common = {*_parts(one.schema)} & {*_parts(other.schema)}
    if not common:
        return None
    return (
        replace(one, schema=_without(one.schema, common)),
        replace(other, schema=_without(other.schema, common)),
    )


def _definitions(schema: dict[str, Any]) -> list[bytes]:
    return [canonical_json(schema.get(name)) for name in _DEFINITIONS]


def _parts(schema: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    for branch in schema.get("allOf", ()):
        yield "allOf", canonical_json(branch)
    for name in _MAPS_OF_DEPENDENTS:
        for key, value in schema.get(name, {}).items():
            yield name, canonical_json([key, value])
    for name in ("anyOf", "oneOf"):
        if name in schema:
            yield name, canonical_json(schema[name])
    if "if" in schema:
        yield "if", _condition(schema)


def _without(schema: dict[str, Any], common: set[tuple[str, bytes]]) -> dict[str, Any]:
    rest = dict(schema)
    if "allOf" in rest:
        rest["allOf"] = [
            branch for branch in rest["allOf"] if ("allOf", canonical_json(branch)) not in common
        ]
    for name in _MAPS_OF_DEPENDENTS:
        if name in rest:
            rest[name] = {
                key: value
                for key, value in rest[name].items()
                if (name, canonical_json([key, value])) not in common
            }
    for name in ("anyOf", "oneOf"):
        if name in rest and (name, canonical_json(rest[name])) in common:
            del rest[name]
    if "if" in rest and ("if", _condition(rest)) in common:
        for name in _CONDITION:
            rest.pop(name, None)
    for name in ("allOf", *_MAPS_OF_DEPENDENTS):
        if name in rest and not rest[name]:
            del rest[name]
    return rest


def _condition(schema: dict[str, Any]) -> bytes:
    return canonical_json({name: schema[name] for name in _CONDITION if name in schema})


_MAPS_OF_SCHEMAS = frozenset({Position.SCHEMA_MAP, Position.SCHEMA_OR_NAMES_MAP})


class CannotWriteError(Exception):
    """The library would read a part of the schema in another way."""


def write_for_library(schema: JsonValue, draft: Draft) -> JsonValue:
    """Return *schema*, a normal form of *draft*, with another text for the same meaning.

    Raises:
        CannotWriteError: there is no such text.
    """
    if not isinstance(schema, dict):
        return schema
    written: dict[str, Any] = {}
    keywords: dict[str, Any] = schema
    for name, value in keywords.items():
        if name == "pattern":
            written[name] = _plain(value)
        elif name == "patternProperties":
            written[name] = _by_pattern(value, draft)
        elif name in APPLICATORS[draft]:
            is_map = APPLICATORS[draft][name] in _MAPS_OF_SCHEMAS
            written[name] = _map(value, draft) if is_map else _below(value, draft)
        else:
            written[name] = _exact(value)
    return written


def _below(value: Any, draft: Draft) -> Any:
    """Write the subschemas in the *value* of a keyword that has some."""
    if isinstance(value, list):
        return [write_for_library(item, draft) for item in value]
    return write_for_library(value, draft)


def _map(value: dict[str, Any], draft: Draft) -> dict[str, Any]:
    return {
        # Names that a property depends on are beside subschemas in draft 4.
        name: item if isinstance(item, list) else write_for_library(item, draft)
        for name, item in value.items()
    }


def _by_pattern(value: dict[str, Any], draft: Draft) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for pattern, schema in _map(value, draft).items():
        plain = _plain(pattern)
        written[plain] = {"allOf": [written[plain], schema]} if plain in written else schema
    return written


def _plain(pattern: str) -> str:
    plain = plain_pattern(pattern)
    if plain is None:
        raise CannotWriteError
    return plain


def _exact(value: Any) -> Any:
    """Return *value*, of a keyword, in numbers that the library reads as they are."""
    if isinstance(value, ExactNumber):
        if not value.is_integer():
            raise CannotWriteError
        return int(value)
    if isinstance(value, list):
        return [_exact(item) for item in value]
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    return value


_MAX_REPETITIONS = 10**9
"""No bound: the pattern is not run here."""


@lru_cache(maxsize=512)
def plain_pattern(pattern: str) -> str | None:
    """Return a pattern that matches what *pattern* matches, or None if there is none.

    It is one of ECMA-262 with the `u` flag too. There is none for back-references: to
    one of a group that did not participate, engines differ.
    """
    writer = _Writer(pattern, _MAX_REPETITIONS)
    try:
        writer.read()
    except PatternError:
        return None
    return None if writer.references else "".join(writer.parts)


def _spell(members: Ranges) -> str:
    """Return a class of *members*. JSON has no lone surrogates, nor have other engines."""
    ranges = [
        part
        for first, last in members
        for part in ((first, min(last, 0xD7FF)), (max(first, 0xE000), last))
        if part[0] <= part[1]
    ]
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _spell_point(ranges[0][0])
    spelled = (
        _spell_point(first) + ("" if first == last else f"-{_spell_point(last)}")
        for first, last in ranges
    )
    return f"[{''.join(spelled)}]"


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
    """Writes the pattern that it reads."""

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
        # Without references, it does not matter what captures.
        self.parts.append(_OPENINGS.get(kind, "(?:"))
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:  # noqa: ARG002  (overrides)
        self.parts.append(")")
