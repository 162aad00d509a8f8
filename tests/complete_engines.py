"""Complete engines for tests: from a schema as a Python value, with its documents."""

from collections.abc import Mapping
from typing import Any

from referencing import Specification
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.refusals import Refusal
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, Dialect, dialect_of
from sidecheck_server.core.schemas.documents import SchemaRegistry, registry_of

__all__ = ["Library", "engine_for"]


class Library:
    """The documents that schemas may refer to, read once for many schemas."""

    def __init__(self, documents: Mapping[str, Any], default: Dialect = DEFAULT_DIALECT) -> None:
        self.documents = documents
        self.default = default
        self.registry: SchemaRegistry = registry_of(documents, self._specification_of)

    def engine_for(
        self, schema: Any, *, assert_formats: bool = False, **more: Any
    ) -> CompleteEngine:
        """Return the engine for *schema*."""
        return CompleteEngine(
            schema,
            self._dialect_of(schema, self.default),
            self.registry,
            assert_formats=assert_formats,
            dialect_of=self._dialect_of,
            **more,
        )

    def _dialect_of(self, schema: Any, around: Dialect) -> Dialect:
        return dialect_of(schema, around, self.documents.get)

    def _specification_of(self, document: Any) -> Specification[Any]:
        try:
            return self._dialect_of(document, self.default).specification
        except Refusal:
            return Specification.OPAQUE


def engine_for(
    schema: Any,
    *,
    documents: Mapping[str, Any] | None = None,
    default: Dialect = DEFAULT_DIALECT,
    **more: Any,
) -> CompleteEngine:
    """Return the engine for *schema*, which may refer to *documents*."""
    library = Library(documents or {}, default)
    return library.engine_for(schema, **more)
