"""Validation of schemas against the meta-schema of their dialect."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice

from sidecheck_server.core.compiler.generation import generate_code
from sidecheck_server.core.compiler.lowering import lower_schema
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fast import FastEngine
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import Exhausted, Limits, limit_exceeded_error
from sidecheck_server.core.schemas.dialects import (
    DEFAULT_DIALECT,
    DIALECTS,
    STANDARD_DIALECTS,
    Dialect,
)
from sidecheck_server.core.schemas.references import survey_schema
from sidecheck_server.core.schemas.resources import PUBLISHED, DialectOf, Resources
from sidecheck_server.core.types import JsonValue, Violation

__all__ = ["check_against_meta_schema"]

_MOST_VIOLATIONS = 20

# The size of a schema bounds the work of validating it against a published meta-schema.
_UNBOUNDED = Limits(steps=1 << 60)


def check_against_meta_schema(
    schema: JsonValue,
    dialect: Dialect,
    documents: Mapping[str, JsonValue],
    dialect_of: DialectOf,
    place: str = "",
) -> None:
    """Check that *schema* is valid against the meta-schema of *dialect*, itself admitted.

    A meta-schema that was sent along can only demand more than the published one of the
    draft that it builds on: the engines rely on the latter, so both are checked.

    *place* names the location of *schema* in a larger schema.

    Raises:
        RequestError: INVALID_SCHEMA, with the violations; LIMIT_EXCEEDED if a
            meta-schema that was sent along takes too many steps.
    """
    standard = STANDARD_DIALECTS[dialect.draft]
    if not _published_engine(standard.uri).is_valid(schema):
        try:
            violations = _find_violations(schema, PUBLISHED[standard.uri], {}, dialect_of)
        except Exhausted:
            violations = ()
        raise _invalid_schema_error(standard, place, violations)
    if dialect.own_meta_schema is not None:
        try:
            violations = _find_violations(schema, dialect.own_meta_schema, documents, dialect_of)
        except Exhausted:
            raise limit_exceeded_error(
                "steps",
                Limits().steps,
                f"validating the schema against its meta-schema {dialect.uri[:128]} takes too long",
            ) from None
        if violations:
            raise _invalid_schema_error(dialect, place, violations)


def _find_violations(
    schema: JsonValue,
    meta_schema: JsonValue,
    documents: Mapping[str, JsonValue],
    dialect_of: DialectOf,
) -> tuple[Violation, ...]:
    engine = CompleteEngine(
        meta_schema,
        dialect_of(meta_schema, DEFAULT_DIALECT),
        documents,
        assert_formats=False,
        dialect_of=dialect_of,
    )
    violations: list[Violation] = []
    try:
        violations.extend(
            islice(explain(engine.faults(schema), hide_values=False), _MOST_VIOLATIONS)
        )
    except Exhausted:
        if not violations:
            raise
    return tuple(violations)


def _invalid_schema_error(
    dialect: Dialect, place: str, violations: tuple[Violation, ...]
) -> RequestError:
    first = violations[0] if violations else None
    detail = f": {first.message} (at {first.instance_location or 'the root'})" if first else ""
    location = f" at {place}" if place else ""
    return RequestError(
        ErrorReason.INVALID_SCHEMA,
        f"the schema{location} is invalid against the meta-schema of {dialect.name}{detail}",
        {"dialect": dialect.uri, "pointer": first.instance_location if first else ""},
        violations,
    )


@lru_cache(maxsize=len(DIALECTS))
def _published_engine(uri: str) -> FastEngine:
    dialect = DIALECTS[uri]
    resources = Resources(PUBLISHED[uri], dialect, {}, _same_dialect)
    lowered = lower_schema(
        survey_schema(resources, _accept, _UNBOUNDED), lambda _dialect, _name: False
    )
    return FastEngine(generate_code(lowered, _UNBOUNDED), dialect.name, _UNBOUNDED)


def _same_dialect(_schema: JsonValue, parent: Dialect) -> Dialect:
    return parent


def _accept(_subschema: object) -> None:
    """Accept: the published meta-schemas are valid against themselves."""
