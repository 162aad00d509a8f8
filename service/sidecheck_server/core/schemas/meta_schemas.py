"""Meta-schemas: whether a schema is one, by the schema of its dialect."""

from collections.abc import Callable
from functools import lru_cache
from itertools import islice

from jsonschema_specifications import REGISTRY as PUBLISHED

from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fast import FastEngine
from sidecheck_server.core.engines.generation import generate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.dialects import DIALECTS, Dialect
from sidecheck_server.core.schemas.documents import SchemaRegistry
from sidecheck_server.core.schemas.lowering import lower
from sidecheck_server.core.schemas.references import survey
from sidecheck_server.core.words import JsonValue

__all__ = ["is_schema", "refuse_invalid_schema"]

_PROBLEMS = 20
_UNBOUNDED = Limits(steps=1 << 60)


def is_schema(value: JsonValue, dialect: Dialect) -> bool:
    """Whether *value* keeps the published meta-schema that *dialect* builds on."""
    published = next(known for known in DIALECTS.values() if known.draft is dialect.draft)
    return _meta_engine(published.uri).is_valid(value)


def refuse_invalid_schema(
    schema: JsonValue,
    dialect: Dialect,
    registry: SchemaRegistry,
    dialect_of: Callable[[JsonValue, Dialect], Dialect],
    place: str = "",
) -> None:
    """Check *schema* against the meta-schema of *dialect*.

    *place* says where it stands if it is a part of something larger.

    Raises:
        Refusal: INVALID_SCHEMA, with a problem for every fault.
    """
    if dialect.own_meta_schema is None:
        # A meta-schema's work is bounded by the size of the schema, which is.
        if _meta_engine(dialect.uri).is_valid(schema):
            return
        meta = PUBLISHED.contents(dialect.uri)
    else:
        meta = dialect.own_meta_schema
    of_meta = dialect_of(meta, dialect)
    engine = CompleteEngine(meta, of_meta, registry, assert_formats=False, dialect_of=dialect_of)
    problems = tuple(islice(engine.violations(schema), _PROBLEMS))
    if not problems and dialect.own_meta_schema is not None:
        return
    first = problems[0] if problems else None
    said = f": {first.message} (at {first.instance_pointer or 'the root'})" if first else ""
    where = f" at {place}" if place else ""
    raise Refusal(
        Reason.INVALID_SCHEMA,
        f"the schema{where} breaks the meta-schema of {dialect.name}{said}",
        {"dialect": dialect.uri, "pointer": first.instance_pointer if first else ""},
        problems,
    )


@lru_cache(maxsize=len(DIALECTS))
def _meta_engine(uri: str) -> FastEngine:
    dialect = DIALECTS[uri]
    surveyed = survey(PUBLISHED.contents(uri), dialect, PUBLISHED, _same_dialect, _pass, _UNBOUNDED)
    lowered = lower(surveyed, lambda _dialect, _name: False)
    return FastEngine(generate(lowered, _UNBOUNDED, counted=False), dialect.name, _UNBOUNDED)


def _same_dialect(_schema: JsonValue, around: Dialect) -> Dialect:
    return around


def _pass(_subschema: object) -> None:
    """Accept: the published meta-schemas are valid under themselves."""
