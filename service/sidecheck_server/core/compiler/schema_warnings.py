"""Warnings about valid schemas that are probably wrong.

Warnings are given for defaults that their own schema rejects, for constraints that
contradict each other, and for declarations of a dialect that have no effect. Documents, and
subschemas under ``not`` and ``if``, which may reject values on purpose, get no warnings.

Contradictions are searched only among constraints that always apply together: the keywords
of a subschema, and of its targets through ``$ref`` and ``allOf``. So every reported
contradiction is certain, but some stay unreported: no affordable procedure is known that
decides whether a schema accepts any value.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.compiler.admission import AdmittedSchema
from sidecheck_server.core.engines.complete import CompleteEngine, Validator
from sidecheck_server.core.engines.fault import NO_FAULTS
from sidecheck_server.core.engines.text_checks import TextChecks
from sidecheck_server.core.explain.values import format_literal, quote
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.json_values import has_type, is_number
from sidecheck_server.core.limits import Budget, Exhausted, Limits, spend
from sidecheck_server.core.patterns import PatternError
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.schemas.references import REFERENCES, Subschema, Survey
from sidecheck_server.core.types import as_pointer

__all__ = ["SchemaWarning", "find_schema_warnings"]

_STEPS = 200_000
"""Most steps of the search for each kind of warning, about five milliseconds."""

_MOST_WARNINGS = 100
"""Most warnings about one schema."""

_LENGTH_OF_POINTERS = 1 << 18
"""Total length of all pointers, in characters: many may begin with the same long name."""


@dataclass(frozen=True, slots=True)
class SchemaWarning:
    """One questionable part of a schema."""

    #: The code of the rule.
    code: str
    #: JSON Pointer into the schema.
    pointer: str
    #: Description of the problem, for people.
    message: str


def find_schema_warnings(
    admitted: AdmittedSchema, source: SchemaSource, limits: Limits
) -> tuple[SchemaWarning, ...]:
    """Return the warnings about the schema of *source* that a limited search finds."""
    if admitted.survey is None:
        return ()
    warnings: list[SchemaWarning] = []
    length = 0
    for find in (_find_contradictions, _find_ignored_dialects, _find_rejected_defaults):
        try:
            for warning in find(admitted, source, limits, [_STEPS]):
                length += len(warning.pointer)
                if len(warnings) >= _MOST_WARNINGS or length > _LENGTH_OF_POINTERS:
                    return tuple(warnings)
                warnings.append(warning)
        except (Exhausted, RecursionError):
            continue  # Warnings of this kind may be incomplete.
    return tuple(warnings)


def _find_contradictions(
    admitted: AdmittedSchema, _source: SchemaSource, limits: Limits, budget: Budget
) -> Iterator[SchemaWarning]:
    assert admitted.survey is not None
    for contradiction in _contradictions_in(admitted.survey, limits, budget):
        pointer = _pointer_to(contradiction.subschema)
        if pointer is not None:
            yield SchemaWarning(
                contradiction.code,
                pointer + as_pointer(contradiction.path),
                contradiction.message,
            )


def _find_ignored_dialects(
    admitted: AdmittedSchema, _source: SchemaSource, _limits: Limits, _budget: Budget
) -> Iterator[SchemaWarning]:
    """Yield declarations of another dialect in subschemas that are not resources.

    ``$schema`` "MUST NOT appear in non-resource root schema objects" (2020-12 core,
    section 8.1.1). Repeating the dialect of the resource is harmless.
    """
    assert admitted.survey is not None
    for subschema in admitted.survey.reached.values():
        schema, dialect = subschema.schema, subschema.dialect
        declared = schema.get("$schema")
        if not isinstance(declared, str) or schema is subschema.resource.contents:
            continue
        if declared.removesuffix("#") == dialect.uri or (pointer := _pointer_to(subschema)) is None:
            continue
        yield SchemaWarning(
            "DIALECT_IGNORED",
            f"{pointer}/$schema",
            f"$schema has no effect in a subschema without {dialect.id_keyword}, so "
            f"{dialect.name} applies; with one, the subschema would be in the dialect that it "
            "declares",
        )


def _find_rejected_defaults(
    admitted: AdmittedSchema, source: SchemaSource, limits: Limits, budget: Budget
) -> Iterator[SchemaWarning]:
    """Yield the defaults that are invalid against their own subschemas.

    "It is RECOMMENDED that a default value be valid against the associated schema"
    (2020-12 validation, section 9.2).
    """
    survey = admitted.survey
    assert survey is not None
    with_default = [subschema for subschema in survey.reached.values() if _has_default(subschema)]
    # Backtracking patterns have no time bound, and the targets of dynamic references depend
    # on the path of evaluation, which a subschema alone does not have.
    if not with_default or admitted.backtracking or not _is_static(admitted):
        return
    validators = _Validators(admitted, source, limits, budget)
    for subschema in with_default:
        default = subschema.schema["default"]
        faults = validators.validator_for(subschema).descend(default, subschema.schema)
        if faults is NO_FAULTS or (pointer := _pointer_to(subschema)) is None:
            continue
        first = next(explain(faults, hide_values=False), None)
        if first is not None:
            location = f" at {first.instance_location[:100]}" if first.instance_location else ""
            yield SchemaWarning(
                "DEFAULT_REFUSED",
                f"{pointer}/default",
                f"the default {format_literal(default)} is invalid against its own schema"
                f"{location}: {first.message}",
            )


def _has_default(subschema: Subschema) -> bool:
    return "default" in subschema.schema and not _hides_siblings(subschema)


def _is_static(admitted: AdmittedSchema) -> bool:
    assert admitted.survey is not None
    return all(reference.static for reference in admitted.survey.references.values())


class _Validators:
    """Validators of the complete engine, one for each resource of a schema."""

    def __init__(
        self, admitted: AdmittedSchema, source: SchemaSource, limits: Limits, budget: Budget
    ) -> None:
        context = admitted.context
        engine = CompleteEngine(
            context.schema,
            context.dialect,
            context.documents,
            assert_formats=source.assert_formats,
            dialect_of=context.dialect_of,
            limits=limits,
        )
        self._root, self._schema = engine.at_root(budget)
        self._by_resource: dict[int, Validator] = {}

    def validator_for(self, subschema: Subschema) -> Validator:
        """Return the validator in the resource of *subschema*."""
        contents = subschema.resource.contents
        if contents is self._schema:
            return self._root
        validator = self._by_resource.get(id(contents))
        if validator is None:
            scope = self._root.scope
            resource = scope.resources.rooted_at(contents)
            if resource is None:
                # A document becomes a resource when a reference to it is resolved.
                _, resource = scope.resources.resolve(subschema.resource.uri, scope.resource)
            scope = scope.within(resource)
            validator = self._by_resource[id(contents)] = self._root.within(scope)
        return validator


_BY_REFERENCE = tuple(f"/{keyword} -> " for keyword in REFERENCES)
_CONDITIONS = ("/not", "/if")


def _pointer_to(subschema: Subschema) -> str | None:
    """Return the pointer to *subschema*, or None if it gets no warnings."""
    steps: list[str] = []
    current: Subschema | None = subschema
    while current is not None:
        if current.step in _CONDITIONS or current.step.startswith(_BY_REFERENCE):
            return None
        steps.append(current.step)
        current = current.parent
    return "".join(reversed(steps))


# Steps for a subschema, and for looking up a name in one.
_SUBSCHEMA = 100
_NAME = 20


@dataclass(frozen=True, slots=True)
class _Contradiction:
    """A constraint that no value can meet."""

    #: The code of the schema warning.
    code: str
    subschema: Subschema
    #: The path of the constraint in the subschema.
    path: tuple[str | int, ...]
    message: str


def _contradictions_in(survey: Survey, limits: Limits, budget: Budget) -> Iterator[_Contradiction]:
    """Yield the contradictions in a surveyed schema.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    required = _RequiredSearch(survey, limits, budget)
    for subschema in survey.reached.values():
        schema = subschema.schema
        if _CHECKED_KEYWORDS.isdisjoint(schema) or _hides_siblings(subschema):
            continue
        spend(budget, _SUBSCHEMA)
        yield from _compare_bounds(subschema)
        yield from _compare_constants(subschema)
        yield from required.search(subschema)


def _hides_siblings(subschema: Subschema) -> bool:
    return "$ref" in subschema.schema and subschema.dialect.reference_hides_siblings


def _value(subschema: Subschema, keyword: str) -> Any:
    """Return the value of *keyword* in *subschema*, or None if not in force."""
    value = subschema.schema.get(keyword)
    return value if value is not None and keyword in subschema.dialect.keywords else None


_BOUNDS = (
    ("minLength", "maxLength", "the length of a string"),
    ("minItems", "maxItems", "the number of items"),
    ("minProperties", "maxProperties", "the number of properties"),
    ("minContains", "maxContains", "the number of items that match `contains`"),
    ("minimum", "maximum", "a number"),
)
_CHECKED_KEYWORDS = frozenset(
    {"required", "enum", "const", "exclusiveMinimum", "exclusiveMaximum", "allOf", "$ref"}
).union(lower for lower, _, _ in _BOUNDS)


def _compare_bounds(subschema: Subschema) -> Iterator[_Contradiction]:
    """Yield lower bounds that exceed the upper bounds."""
    for lower, upper, quantity in _BOUNDS:
        low, high = _value(subschema, lower), _value(subschema, upper)
        if is_number(low) and is_number(high) and low > high:
            message = (
                f"{quantity} cannot be at least {format_literal(low)} "
                f"and at most {format_literal(high)}"
            )
            yield _Contradiction("BOUNDS_IMPOSSIBLE", subschema, (lower,), message)
            return
    # In draft 4 the exclusive bounds are booleans, and is_number rejects them.
    above, below = _value(subschema, "exclusiveMinimum"), _value(subschema, "exclusiveMaximum")
    low, high = _value(subschema, "minimum"), _value(subschema, "maximum")
    for lower, least, upper, most in (
        ("exclusiveMinimum", above, "exclusiveMaximum", below),
        ("exclusiveMinimum", above, "maximum", high),
        ("minimum", low, "exclusiveMaximum", below),
    ):
        if is_number(least) and is_number(most) and least >= most:
            message = (
                f"no number meets {lower} {format_literal(least)} "
                f"and {upper} {format_literal(most)}"
            )
            yield _Contradiction("BOUNDS_IMPOSSIBLE", subschema, (lower,), message)
            return


def _compare_constants(subschema: Subschema) -> Iterator[_Contradiction]:
    """Yield ``enum`` and ``const`` if none of their values has the required type."""
    types = _value(subschema, "type")
    names = [types] if isinstance(types, str) else types
    if not isinstance(names, list):
        return
    draft = subschema.dialect.draft
    values = _value(subschema, "enum")
    if isinstance(values, list) and values and not _any_has_type(values, names, draft):
        message = f"none of the values has the required type, {_join_types(names)}"
        yield _Contradiction("VALUES_IMPOSSIBLE", subschema, ("enum",), message)
    if "const" in subschema.schema and "const" in subschema.dialect.keywords:
        value = subschema.schema["const"]
        if not _any_has_type([value], names, draft):
            message = (
                f"{format_literal(value)} does not have the required type, {_join_types(names)}"
            )
            yield _Contradiction("VALUES_IMPOSSIBLE", subschema, ("const",), message)


def _any_has_type(values: list[Any], names: list[Any], draft: Any) -> bool:
    return any(has_type(value, str(name), draft) for value in values for name in names)


def _join_types(names: list[Any]) -> str:
    return " or ".join(str(name)[:20] for name in names[:7])


class _RequiredSearch:
    """Search for required properties that are forbidden."""

    def __init__(self, survey: Survey, limits: Limits, budget: Budget) -> None:
        self._survey = survey
        self._budget = budget
        self._checks = TextChecks(replace(limits, allow_backtracking=False), assert_formats=False)
        self._closures: dict[int, tuple[Subschema, ...]] = {}

    def search(self, subschema: Subschema) -> Iterator[_Contradiction]:
        """Yield the names that *subschema* both requires and forbids."""
        if not _admits_objects(subschema):
            return
        closure = self._closure(subschema)
        for owner in closure:
            names = _value(owner, "required")
            for index, name in enumerate(names if isinstance(names, list) else ()):
                if not isinstance(name, str):
                    continue
                forbidding = self._find_forbidding(name, subschema, closure)
                if forbidding is not None and not self._is_in_a_part(subschema, owner, forbidding):
                    yield _Contradiction(
                        "REQUIRED_IMPOSSIBLE",
                        subschema,
                        ("required", index) if owner is subschema else (),
                        f"the property {quote(name)} is required but cannot be present: "
                        f"{_reason(forbidding, name)}",
                    )

    def _is_in_a_part(self, subschema: Subschema, owner: Subschema, forbidding: Subschema) -> bool:
        """Return whether a part of *subschema* contains and reports the contradiction."""
        both = {id(owner.schema), id(forbidding.schema)}
        return any(
            both <= {id(member.schema) for member in self._closure(part)}
            for part in self._parts(subschema)
        )

    def _find_forbidding(
        self, name: str, subschema: Subschema, closure: tuple[Subschema, ...]
    ) -> Subschema | None:
        """Return the member of *closure* that forbids the property *name*, or None."""
        spend(self._budget, _NAME * len(closure))
        for member in closure:
            properties = _value(member, "properties")
            if isinstance(properties, dict) and name in properties:
                if _is_false(properties[name]):
                    return member
            elif _is_false(_value(member, "additionalProperties")) and not self._admits_by_pattern(
                member, name
            ):
                return member
        if _is_false(_value(subschema, "unevaluatedProperties")) and all(
            self._leaves_unevaluated(member, subschema, name) for member in closure
        ):
            return subschema
        return None

    def _leaves_unevaluated(self, member: Subschema, subschema: Subschema, name: str) -> bool:
        """Return whether *member* certainly does not evaluate the property *name*."""
        if any(keyword in member.schema for keyword in _MAY_EVALUATE):
            return False
        if member is not subschema and "unevaluatedProperties" in member.schema:
            return False
        if any(keyword in member.schema for keyword in ("$dynamicRef", "$recursiveRef")):
            return False
        properties = _value(member, "properties")
        declared = isinstance(properties, dict) and name in properties
        return not declared and not self._admits_by_pattern(member, name)

    def _admits_by_pattern(self, member: Subschema, name: str) -> bool:
        """Return whether a pattern of *member* admits, or may admit, *name*."""
        patterns = _value(member, "patternProperties")
        for pattern, schema in patterns.items() if isinstance(patterns, dict) else ():
            try:
                if not _is_false(schema) and self._checks.matches(pattern, name, self._budget):
                    return True
            except PatternError:
                return True
        return False

    def _closure(self, subschema: Subschema) -> tuple[Subschema, ...]:
        """Return *subschema* and all subschemas that always apply with it."""
        closure = self._closures.get(id(subschema.schema))
        if closure is None:
            members = {id(subschema.schema): subschema}
            pending = [subschema]
            while pending:
                for part in self._parts(pending.pop()):
                    if id(part.schema) not in members:
                        spend(self._budget, _SUBSCHEMA)
                        members[id(part.schema)] = part
                        pending.append(part)
            closure = self._closures[id(subschema.schema)] = tuple(members.values())
        return closure

    def _parts(self, subschema: Subschema) -> Iterator[Subschema]:
        """Yield the subschemas that ``$ref`` and ``allOf`` of *subschema* apply."""
        reference = self._survey.references.get((id(subschema.schema), "$ref"))
        if reference is not None and reference.static:
            target = self._survey.reached.get(id(reference.target))
            if target is not None:
                yield target
        if not _hides_siblings(subschema):
            branches = _value(subschema, "allOf")
            for branch in branches if isinstance(branches, list) else ():
                part = self._survey.reached.get(id(branch))
                if part is not None:
                    yield part


_MAY_EVALUATE = (
    *("additionalProperties", "anyOf", "oneOf", "if"),
    *("dependentSchemas", "dependencies"),
)


def _is_false(schema: Any) -> bool:
    """Return whether *schema* rejects every value."""
    if isinstance(schema, dict):
        return schema.get("not") in ({}, True) and "$ref" not in schema
    return schema is False


def _admits_objects(subschema: Subschema) -> bool:
    types = _value(subschema, "type")
    return types is None or types == "object" or (isinstance(types, list) and "object" in types)


def _reason(forbidding: Subschema, name: str) -> str:
    properties = _value(forbidding, "properties")
    if isinstance(properties, dict) and name in properties:
        return "its own schema rejects every value"
    return "the object allows only the properties that it names"
