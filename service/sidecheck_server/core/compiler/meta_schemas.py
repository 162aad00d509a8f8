"""Validation of schemas against the meta-schema of their dialect."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.compiler.generation import generate_code
from sidecheck_server.core.compiler.lowering import lower_schema
from sidecheck_server.core.compiler.schema_faults import MOST_FAULTS, SchemaFault
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
from sidecheck_server.core.schemas.keywords import subschemas
from sidecheck_server.core.schemas.references import Subschema, survey_schema
from sidecheck_server.core.schemas.resources import PUBLISHED, DialectOf, Resource, Resources
from sidecheck_server.core.types import Draft, JsonValue, Violation, as_pointer, pointer_steps

__all__ = ["find_meta_schema_faults"]

# The size of a schema bounds the work of validating it against a published meta-schema.
_UNBOUNDED = Limits(steps=1 << 60)


def find_meta_schema_faults(
    schema: JsonValue,
    subschema: Subschema,
    resources: Resources,
    documents: Mapping[str, JsonValue],
    dialect_of: DialectOf,
    *,
    explained: bool,
) -> Iterator[SchemaFault]:
    """Yield the faults of *schema* against the meta-schema of its dialect.

    The meta-schema was admitted before. If it was sent as a document, the published
    meta-schema of its draft is checked too, because the engines rely on it. Embedded
    resources of other dialects count as valid: their own meta-schemas apply to them
    (2020-12 core, section 9.3.3).

    *subschema* locates *schema*. Unless *explained*, one fault stands for all.

    Raises:
        RequestError: LIMIT_EXCEEDED if evaluating a meta-schema sent as a document takes too
            many steps.
    """
    dialect = subschema.dialect
    standard = STANDARD_DIALECTS[dialect.draft]
    own_part, embedded = _without_other_dialects(schema, subschema.resource, resources)
    violations: Iterable[Violation]
    if not _published_engine(standard.uri).is_valid(own_part):
        try:
            violations = (
                _find_violations(own_part, PUBLISHED[standard.uri], {}, dialect_of)
                if explained
                else ()
            )
        except Exhausted:
            violations = ()
        if not violations:
            yield SchemaFault(subschema, "", _invalid_schema_error(standard, subschema.place))
        for violation in violations:
            yield _fault(standard, subschema, _with_hint(violation, schema, dialect))
    elif dialect.own_meta_schema is not None:
        try:
            violations = _find_violations(own_part, dialect.own_meta_schema, documents, dialect_of)
        except Exhausted:
            raise limit_exceeded_error(
                "steps",
                Limits().steps,
                f"validating the schema against its meta-schema {dialect.uri[:128]} takes too long",
            ) from None
        for violation in violations:
            if violation.instance_location not in embedded:
                yield _fault(dialect, subschema, violation)


def _without_other_dialects(
    schema: JsonValue, resource: Resource, resources: Resources
) -> tuple[JsonValue, frozenset[str]]:
    """Replace embedded resources of other dialects by ``{}``; return the pointers too.

    *schema* is in *resource*. Every published meta-schema accepts ``{}``.
    """
    if not resources.has_several_dialects or not isinstance(schema, dict):
        return schema, frozenset()
    paths: list[tuple[str | int, ...]] = []
    stack: list[tuple[JsonValue, tuple[str | int, ...]]] = [(schema, ())]
    while stack:
        parent, path = stack.pop()
        if not isinstance(parent, dict):
            continue
        for steps, child in subschemas(parent, resource.dialect.draft):
            inner = resources.rooted_at(child) if isinstance(child, dict) else None
            if inner is not None and (
                inner.error is not None or inner.dialect.uri != resource.dialect.uri
            ):
                paths.append((*path, *steps))
            else:
                stack.append((child, (*path, *steps)))
    remaining: JsonValue = schema
    for path in paths:
        remaining = _with_empty_schema(remaining, path)
    return remaining, frozenset(map(as_pointer, paths))


def _with_empty_schema(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return *value* with ``{}`` at *path*, copying the containers along the path."""
    if not path:
        return {}
    copy = value.copy()
    copy[path[0]] = _with_empty_schema(value[path[0]], path[1:])
    return copy


def _find_violations(
    schema: JsonValue,
    meta_schema: JsonValue,
    documents: Mapping[str, JsonValue],
    dialect_of: DialectOf,
) -> tuple[Violation, ...]:
    """Return the violations of *schema*, at most ``MOST_FAULTS + 1``.

    Raises:
        Exhausted: finding the first one takes too many steps.
    """
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
            islice(explain(engine.faults(schema), hide_values=False), MOST_FAULTS + 1)
        )
    except Exhausted:
        if not violations:
            raise
    return tuple(violations)


def _fault(dialect: Dialect, subschema: Subschema, violation: Violation) -> SchemaFault:
    error = _invalid_schema_error(dialect, subschema.place, violation)
    return SchemaFault(subschema, violation.instance_location, error, violation)


def _invalid_schema_error(
    dialect: Dialect, place: str, violation: Violation | None = None
) -> RequestError:
    detail = ""
    if violation is not None:
        detail = f": {violation.message} (at {violation.instance_location or 'the root'})"
    location = f" at {place}" if place else ""
    return RequestError(
        ErrorReason.INVALID_SCHEMA,
        f"the schema{location} is invalid against the meta-schema of {dialect.name}{detail}",
        {"dialect": dialect.uri, "pointer": violation.instance_location if violation else ""},
    )


_LIST_OF_ITEMS = "since 2020-12, `prefixItems` has one schema for each position"
_EXCLUSIVE = "since draft-06, it is the bound itself, and stands in place of `{}`"
_NAMES = "`required` is a list of names, beside `properties`"

_HINTS: Mapping[tuple[str, type], tuple[Draft, str]] = MappingProxyType(
    {
        # 2020-12 core, appendix "ChangeLog": items.
        ("items", list): (Draft.DRAFT_2020_12, _LIST_OF_ITEMS),
        # Draft-06 release notes, "Backwards-Incompatible Changes".
        ("exclusiveMinimum", bool): (Draft.DRAFT_06, _EXCLUSIVE.format("minimum")),
        ("exclusiveMaximum", bool): (Draft.DRAFT_06, _EXCLUSIVE.format("maximum")),
        # Draft-04 validation, section 5.4.3; in draft-03 it was a flag of the property.
        ("required", bool): (Draft.DRAFT_04, _NAMES),
    }
)
"""Uses of keywords that a later draft changed: that draft and a hint, by keyword and type of its
value."""


def _with_hint(violation: Violation, schema: JsonValue, dialect: Dialect) -> Violation:
    """Append a hint to *violation* if the keyword is used as in an earlier draft."""
    steps = pointer_steps(violation.instance_location)
    keyword = steps[-1] if steps else ""
    for kind in (list, bool):
        since, hint = _HINTS.get((keyword, kind), (None, ""))
        if since is not None and dialect.draft.value >= since.value:
            value = _value_at(schema, steps)
            if type(value) is kind:
                return replace(violation, message=f"{violation.message}; {hint}")
    return violation


def _value_at(value: Any, steps: list[str]) -> Any:
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


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
