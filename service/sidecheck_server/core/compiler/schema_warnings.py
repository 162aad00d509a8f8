"""Warnings about valid schemas that are probably wrong.

They are defaults that their own schema rejects, demands that contradict each other (see
`contradictions`), and declarations of a dialect that have no effect. Subschemas under
``not`` and ``if``, where rejecting may be the purpose, and documents that were sent along
get no warnings.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sidecheck_server.core.compiler.admission import AdmittedSchema
from sidecheck_server.core.compiler.contradictions import find_contradictions
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fault import NO_FAULTS
from sidecheck_server.core.engines.validator import Validator
from sidecheck_server.core.explain.values import format_literal
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import Budget, Exhausted, Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.schemas.references import REFERENCES, Subschema
from sidecheck_server.core.types import as_pointer

__all__ = ["SchemaWarning", "find_schema_warnings"]

_STEPS = 200_000
"""Most steps to find each kind of warning, about five milliseconds."""

_MOST_WARNINGS = 100
"""Most warnings about one schema."""

_LENGTH_OF_POINTERS = 1 << 18
"""The longest pointers in all, in characters: many may begin with the same long name."""


@dataclass(frozen=True, slots=True)
class SchemaWarning:
    """One questionable part of a schema."""

    #: The code of the rule.
    code: str
    #: JSON Pointer into the schema.
    pointer: str
    #: What is questionable, for people.
    message: str


def find_schema_warnings(
    admitted: AdmittedSchema, source: SchemaSource, limits: Limits
) -> tuple[SchemaWarning, ...]:
    """Return the warnings about the schema of *source* that are found within a budget."""
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
    for contradiction in find_contradictions(admitted.survey, limits, budget):
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
    """Yield the declarations of another dialect in subschemas that are no resources.

    ``$schema`` "MUST NOT appear in non-resource root schema objects" (2020-12 core,
    section 8.1.1). One of the dialect around it is harmless.
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
    # The time of backtracking patterns has no bound, and the targets of dynamic references
    # are not known for a subschema alone.
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
    schema = subschema.schema
    hidden = "$ref" in schema and subschema.dialect.reference_hides_siblings
    return "default" in schema and not hidden


def _is_static(admitted: AdmittedSchema) -> bool:
    assert admitted.survey is not None
    return all(reference.static for reference in admitted.survey.references.values())


class _Validators:
    """Validators of the complete engine, one in each resource of a schema."""

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
                # Documents are read when a reference leads to them.
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
