"""Complete engines for schemas and documents from Python values."""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, Dialect, dialect_of
from sidecheck_server.core.types import Violation

__all__ = ["Library", "engine_for", "violations"]


class Library:
    """Documents for references of schemas, read once for many schemas."""

    def __init__(self, documents: Mapping[str, Any], default: Dialect = DEFAULT_DIALECT) -> None:
        self.documents = documents
        self.default = default

    def engine_for(
        self, schema: Any, *, assert_formats: bool = False, **options: Any
    ) -> CompleteEngine:
        """Return the engine for *schema*."""
        return CompleteEngine(
            schema,
            self._dialect_of(schema, self.default),
            self.documents,
            assert_formats=assert_formats,
            dialect_of=self._dialect_of,
            **options,
        )

    def _dialect_of(self, schema: Any, parent: Dialect) -> Dialect:
        return dialect_of(schema, parent, self.documents.get)


def violations(
    engine: CompleteEngine, payload: Any, *, hide_values: bool = False
) -> Iterator[Violation]:
    """Yield the violations of *payload* by *engine*."""
    return explain(engine.faults(payload), hide_values=hide_values)


def engine_for(
    schema: Any,
    *,
    documents: Mapping[str, Any] | None = None,
    default: Dialect = DEFAULT_DIALECT,
    **options: Any,
) -> CompleteEngine:
    """Return the engine for *schema*, which may refer to *documents*."""
    library = Library(documents or {}, default)
    return library.engine_for(schema, **options)
