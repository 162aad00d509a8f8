"""Meta-schemas: whether a schema is one, by the schema of its dialect."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice

from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.compiler.generation import generate
from sidecheck_server.core.compiler.lowering import lower
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fast import FastEngine
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, DIALECTS, STANDARD, Dialect
from sidecheck_server.core.schemas.published import PUBLISHED
from sidecheck_server.core.schemas.references import survey
from sidecheck_server.core.schemas.resources import DialectOf, Resources
from sidecheck_server.core.types import JsonValue, Violation

__all__ = ["refuse_invalid_schema"]

_PROBLEMS = 20
# A published meta-schema's work is bounded by the size of the schema, which is.
_UNBOUNDED = Limits(steps=1 << 60)


def refuse_invalid_schema(
    schema: JsonValue,
    dialect: Dialect,
    documents: Mapping[str, JsonValue],
    dialect_of: DialectOf,
    place: str = "",
) -> None:
    """Check *schema* against the meta-schema of *dialect*, which was admitted itself.

    A meta-schema that was sent along can only demand more than the published one of
    the draft that it builds on, which is what the engines rely on.

    *place* says where it stands if it is a part of something larger.

    Raises:
        Refusal: INVALID_SCHEMA, with a problem for every fault; LIMIT_EXCEEDED if a
            meta-schema that was sent along takes too many steps.
    """
    standard = STANDARD[dialect.draft]
    if not _meta_engine(standard.uri).is_valid(schema):
        try:
            problems = _problems(schema, PUBLISHED[standard.uri], {}, dialect_of)
        except Exhausted:
            problems = ()
        raise _invalid(standard, place, problems)
    if dialect.own_meta_schema is not None:
        try:
            problems = _problems(schema, dialect.own_meta_schema, documents, dialect_of)
        except Exhausted:
            what = f"judging the schema by its meta-schema {dialect.uri[:128]} takes too long"
            raise exceeded("steps", Limits().steps, what) from None
        if problems:
            raise _invalid(dialect, place, problems)


def _problems(
    schema: JsonValue, meta: JsonValue, documents: Mapping[str, JsonValue], dialect_of: DialectOf
) -> tuple[Violation, ...]:
    engine = CompleteEngine(
        meta,
        dialect_of(meta, DEFAULT_DIALECT),
        documents,
        assert_formats=False,
        dialect_of=dialect_of,
    )
    found: list[Violation] = []
    try:
        found.extend(islice(explain(engine.faults(schema), hide_values=False), _PROBLEMS))
    except Exhausted:
        if not found:
            raise
    return tuple(found)


def _invalid(dialect: Dialect, place: str, problems: tuple[Violation, ...]) -> RequestError:
    first = problems[0] if problems else None
    said = f": {first.message} (at {first.instance_location or 'the root'})" if first else ""
    where = f" at {place}" if place else ""
    return RequestError(
        ErrorReason.INVALID_SCHEMA,
        f"the schema{where} breaks the meta-schema of {dialect.name}{said}",
        {"dialect": dialect.uri, "pointer": first.instance_location if first else ""},
        problems,
    )


@lru_cache(maxsize=len(DIALECTS))
def _meta_engine(uri: str) -> FastEngine:
    dialect = DIALECTS[uri]
    resources = Resources(PUBLISHED[uri], dialect, {}, _same_dialect)
    lowered = lower(survey(resources, _accept, _UNBOUNDED), lambda _dialect, _name: False)
    return FastEngine(generate(lowered, _UNBOUNDED), dialect.name, _UNBOUNDED)


def _same_dialect(_schema: JsonValue, around: Dialect) -> Dialect:
    return around


def _accept(_subschema: object) -> None:
    """Accept: the published meta-schemas are valid under themselves."""
