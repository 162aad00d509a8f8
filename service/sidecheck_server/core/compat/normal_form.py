"""Normal form of schemas: their assertions, in one document.

The form has the keywords of 2020-12 that assert or contain assertions, without annotations,
identifiers and formats; every reference is ``#/$defs/NAME``. Thus schemas of different
dialects can be compared, and an annotation of a dialect is never taken for an assertion.
Draft 4 defines integers differently, so its forms keep its own keywords.

With `Reading.ASSUME_CLOSED`, the form closes objects that declare properties. It closes the
subschemas that apply to one object together, since each alone would reject the properties
that the others declare. Conditions (``not``, ``if``, ``contains``, ``propertyNames``) stay
open.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.compat.changes import Reading
from sidecheck_server.core.compat.keyword_writers import Mode, write_keywords
from sidecheck_server.core.compat.rules import is_neutral
from sidecheck_server.core.compiler.admission import AdmittedSchema
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.schemas.dialects import STANDARD_DIALECTS
from sidecheck_server.core.schemas.references import REFERENCES, Subschema, Survey
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["CannotCompareError", "NormalForm", "normalize_schema"]

_SUBSCHEMA = 120
"""Steps per written subschema."""

_MAX_DEFINITIONS = 500
_MAX_DEPTH = 200
"""Bounds of a form; beyond them, a proof may overflow the stack of the library.

The largest schema of several thousand public tools reaches a tenth of either.
"""


class CannotCompareError(Exception):
    """The normal form cannot express a schema, for *reason*."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class NormalForm:
    """Schema in normal form."""

    schema: JsonValue
    #: Draft 4 or 2020-12.
    draft: Draft
    #: Whether the form closes objects that the schema leaves open.
    closes: bool = False
    #: Whether closing can only narrow the form; below ``oneOf``, closing may widen it.
    only_narrows: bool = True

    @property
    def dialect_uri(self) -> str:
        """The URI of its dialect."""
        return STANDARD_DIALECTS[self.draft].uri


def normalize_schema(
    admitted: AdmittedSchema, draft: Draft, reading: Reading, budget: Budget
) -> NormalForm:
    """Return the form of *admitted* with the keywords of *draft*.

    *draft* is draft 4 if both compared schemas are of draft 4, and 2020-12 otherwise.

    Raises:
        CannotCompareError: the form cannot express the schema.
        Exhausted: *budget* is spent.
    """
    schema = admitted.context.schema
    if admitted.survey is None:
        return NormalForm(bool(schema), draft)
    return _Writer(admitted, draft, budget).write(reading)


class _Writer:
    def __init__(self, admitted: AdmittedSchema, draft: Draft, budget: Budget) -> None:
        assert admitted.survey is not None
        self._root = admitted.context.schema
        self._survey = admitted.survey
        self._draft = draft
        self._budget = budget
        #: Names of definitions, by the identity of the target and its mode.
        self._names: dict[tuple[int, Mode], str] = {}
        self._pending: list[tuple[str, Subschema, Mode]] = []
        self._definitions = "definitions" if draft is Draft.DRAFT_04 else "$defs"
        self._depth = 0
        self._closes = False
        self._first_mode = Mode.OPEN
        self._has_one_of = False

    def write(self, reading: Reading) -> NormalForm:
        mode = Mode.OPEN if reading is Reading.AS_WRITTEN else Mode.WHOLE
        self._first_mode = mode
        root = self._write(self._root, mode)
        definitions: dict[str, JsonValue] = {}
        while self._pending:
            name, target, target_mode = self._pending.pop()
            definitions[name] = self._write_object(target, target_mode)
        if definitions and isinstance(root, dict):
            root[self._definitions] = dict(sorted(definitions.items()))
        only_narrows = not (self._closes and self._has_one_of)
        return NormalForm(root, self._draft, self._closes, only_narrows)

    def _write(self, value: JsonValue, mode: Mode) -> JsonValue:
        if not isinstance(value, dict):
            return self._boolean(admits=value is not False)
        subschema = self._survey.reached.get(id(value))
        if subschema is None:
            raise CannotCompareError("it has a subschema whose dialect is not known")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise CannotCompareError("it nests too deeply")
        written = self._write_object(subschema, mode)
        self._depth -= 1
        return written

    def _boolean(self, *, admits: bool) -> JsonValue:
        if self._draft is Draft.DRAFT_04:
            return {} if admits else {"not": {}}
        return admits

    def _write_object(self, subschema: Subschema, mode: Mode) -> dict[str, JsonValue]:
        schema = subschema.schema
        spend(self._budget, _SUBSCHEMA + 4 * len(schema))
        references = list(self._find_targets(subschema))
        hides = "$ref" in schema and subschema.dialect.reference_hides_siblings
        keywords = {} if hides else self._keywords_in_force(subschema)
        # A single reference, or a union alone, leaves closing to its subschemas.
        is_combined = (
            len(references) > 1
            or not _OBJECT_KEYWORDS.isdisjoint(keywords)
            or (bool(references) and not _CHOICES.isdisjoint(keywords))
        )
        inner_mode = Mode.PART if mode is Mode.WHOLE and is_combined else mode
        written = write_keywords(self, keywords, inner_mode, subschema)
        self._add_references(written, references, inner_mode)
        if inner_mode is Mode.PART and mode is Mode.WHOLE:
            self._close(written, subschema)
        return written

    def _keywords_in_force(self, subschema: Subschema) -> dict[str, JsonValue]:
        dialect = subschema.dialect
        keywords = {
            name: value
            for name, value in subschema.schema.items()
            if name in dialect.keywords and not is_neutral(name, value)
        }
        if "format" in keywords and dialect.asserts_format:
            raise CannotCompareError("its dialect asserts formats")
        if (dialect.draft is Draft.DRAFT_04) is not (self._draft is Draft.DRAFT_04):
            raise CannotCompareError("draft 4 occurs together with another draft")
        if (
            dialect.draft is Draft.DRAFT_2019_09
            and "contains" in keywords
            and self._uses_unevaluated_items()
        ):
            raise CannotCompareError("it uses contains and unevaluatedItems of 2019-09")
        return keywords

    def _uses_unevaluated_items(self) -> bool:
        return any(
            "unevaluatedItems" in subschema.schema for subschema in self._survey.reached.values()
        )

    def _find_targets(self, subschema: Subschema) -> Iterator[JsonValue]:
        for keyword in REFERENCES:
            if keyword not in subschema.schema or keyword not in subschema.dialect.keywords:
                continue
            reference = self._survey.references.get((id(subschema.schema), keyword))
            if reference is None or not reference.static:
                raise CannotCompareError(f"the target of {keyword} depends on the path to it")
            yield reference.target

    def _add_references(
        self, written: dict[str, Any], targets: list[JsonValue], mode: Mode
    ) -> None:
        schemas: list[JsonValue] = []
        for target in targets:
            if isinstance(target, dict):
                name = self._name_definition(self._survey.reached[id(target)], mode)
                schemas.append({"$ref": f"#/{self._definitions}/{name}"})
            else:
                schemas.append(self._boolean(admits=target is not False))
        if not schemas:
            return
        if not written and len(schemas) == 1 and isinstance(schemas[0], dict):
            written |= schemas[0]
        else:
            written.setdefault("allOf", [])[:0] = schemas

    def _name_definition(self, target: Subschema, mode: Mode) -> str:
        key = (id(target.schema), mode)
        if key not in self._names:
            if len(self._names) >= _MAX_DEFINITIONS:
                raise CannotCompareError("it refers to too many subschemas")
            last = re.sub(r"[^A-Za-z0-9_]", "_", target.step.rpartition("/")[2])[:40]
            suffix = f"-{mode}" if mode not in ("", self._first_mode) else ""
            base = (last or "root") + suffix
            names = set(self._names.values())
            name, number = base, 1
            while name in names:
                number += 1
                name = f"{base}-{number}"
            self._names[key] = name
            self._pending.append((name, target, mode))
        return self._names[key]

    def _close(self, written: dict[str, Any], subschema: Subschema) -> None:
        spend(self._budget, _SUBSCHEMA)
        known = _find_object(self._survey, subschema, self._budget)
        if known.is_explicit or not known.declares:
            return
        self._closes = True
        self._move_reference(written)
        anything = self._boolean(admits=True)
        for keyword, names in (
            ("properties", known.names),
            ("patternProperties", known.patterns),
        ):
            declared = written.get(keyword, {})
            merged = {**declared, **{name: anything for name in names if name not in declared}}
            if merged:
                written[keyword] = merged
        written["additionalProperties"] = False

    def _move_reference(self, written: dict[str, Any]) -> None:
        """Move a reference into ``allOf``, since in draft 4 it would hide its siblings."""
        if "$ref" in written:
            written["allOf"] = [{"$ref": written.pop("$ref")}]

    def write_condition(self, value: JsonValue) -> JsonValue:
        """Write a subschema that only states a condition."""
        return self._write(value, Mode.OPEN)

    def write_child(self, value: JsonValue, mode: Mode) -> JsonValue:
        """Write a subschema for a child of the value of its parent, which has *mode*."""
        return self._write(value, Mode.OPEN if mode is Mode.OPEN else Mode.WHOLE)

    def write_in_place(self, value: JsonValue, mode: Mode) -> JsonValue:
        """Write a subschema for the same value as its parent, which has *mode*."""
        return self._write(value, mode)

    def record_one_of(self) -> None:
        """Record that the schema uses ``oneOf``."""
        self._has_one_of = True


_OBJECT_KEYWORDS = frozenset(
    {
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "dependentSchemas",
        "dependentRequired",
        "dependencies",
        "required",
        "allOf",
        "then",
        "else",
    }
)
"""Keywords that may declare properties which sibling branches do not declare."""

_CHOICES = frozenset({"anyOf", "oneOf"})


_OBJECT_SUBSCHEMA = 40


@dataclass(slots=True)
class _KnownProperties:
    """Properties that the subschemas for one object declare.

    `core.repair.unknown_properties` uses the same notion, but takes an object with empty
    ``properties`` for one that has no properties, as arguments do.
    """

    names: dict[str, None] = field(default_factory=dict)
    patterns: dict[str, None] = field(default_factory=dict)
    #: Whether an unconditional subschema declares a property.
    declares: bool = False
    #: Whether a subschema itself states how to treat undeclared properties.
    is_explicit: bool = False


def _find_object(survey: Survey, subschema: Subschema, budget: Budget) -> _KnownProperties:
    """Return the properties that *subschema* and its in-place subschemas declare.

    Raises:
        Exhausted: *budget* is spent.
    """
    known = _KnownProperties()
    pending, visited = [(subschema, True)], set[tuple[int, bool]]()
    while pending:
        current, always = pending.pop()
        if (id(current.schema), always) in visited:
            continue
        visited.add((id(current.schema), always))
        spend(budget, _OBJECT_SUBSCHEMA)
        pending += [(target, always) for target in _reference_targets(survey, current)]
        if "$ref" in current.schema and current.dialect.reference_hides_siblings:
            continue
        keywords = {
            name: value
            for name, value in current.schema.items()
            if name in current.dialect.keywords
        }
        _add_properties(known, keywords)
        known.declares |= always and bool(keywords.get("properties"))
        pending += [
            (survey.reached[id(value)], always and name == "allOf")
            for name, value in _in_place_subschemas(keywords)
            if isinstance(value, dict) and id(value) in survey.reached
        ]
    return known


def _reference_targets(survey: Survey, subschema: Subschema) -> Iterator[Subschema]:
    for keyword in REFERENCES:
        reference = survey.references.get((id(subschema.schema), keyword))
        if reference is not None and isinstance(reference.target, dict):
            yield survey.reached[id(reference.target)]


def _add_properties(known: _KnownProperties, keywords: dict[str, Any]) -> None:
    known.is_explicit |= "additionalProperties" in keywords or "unevaluatedProperties" in keywords
    for name in ("properties", "dependentSchemas", "dependentRequired", "dependencies"):
        known.names |= dict.fromkeys(keywords.get(name, ()))
    known.names |= dict.fromkeys(keywords.get("required") or ())
    for name in ("dependentRequired", "dependencies"):
        for names in keywords.get(name, {}).values():
            if isinstance(names, list):
                known.names |= dict.fromkeys(names)
    known.patterns |= dict.fromkeys(keywords.get("patternProperties", ()))


def _in_place_subschemas(keywords: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the in-place subschemas in *keywords*, each with its keyword."""
    for name in ("allOf", "anyOf", "oneOf"):
        yield from ((name, branch) for branch in keywords.get(name, ()))
    if "if" in keywords:
        yield from ((name, keywords[name]) for name in ("then", "else") if name in keywords)
    for name in ("dependentSchemas", "dependencies"):
        yield from ((name, schema) for schema in keywords.get(name, {}).values())
