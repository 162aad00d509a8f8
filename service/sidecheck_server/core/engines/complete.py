"""The complete engine: supports every schema, and reports the faults of a payload."""

from collections.abc import Iterator, Mapping

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.scope import PreparedSchemas, Scope
from sidecheck_server.core.engines.text_checks import TextChecks
from sidecheck_server.core.engines.validator import Validator
from sidecheck_server.core.limits import Budget, Limits
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.resources import DialectOf, Resources
from sidecheck_server.core.types import JsonValue

__all__ = ["CompleteEngine"]

_LIMITS = Limits()


class CompleteEngine:
    """Decides whether payloads are valid against one schema, and reports why not.

    *schema*, of *dialect*, was admitted: it is valid against its meta-schema, and its
    references resolve within it, *documents* and the published meta-schemas.
    *dialect_of* returns the dialect that a resource declares, given the one around it.
    Schema and documents must not change afterwards. Patterns and formats are those of
    *checks*, which other engines may share.

    Raises:
        Exhausted: (each method) the budget, by default the limit of steps, is spent.
        RecursionError: (each method) payload and schema nest too deeply for the
            interpreter's stack.
    """

    def __init__(
        self,
        schema: JsonValue,
        dialect: Dialect,
        documents: Mapping[str, JsonValue],
        *,
        assert_formats: bool,
        dialect_of: DialectOf,
        limits: Limits = _LIMITS,
        checks: TextChecks | None = None,
    ) -> None:
        self._schema = schema
        self._resources = Resources(schema, dialect, documents, dialect_of)
        self._checks = checks or TextChecks(limits, assert_formats=assert_formats)
        self._prepared = PreparedSchemas()
        self._max_steps = limits.steps

    def is_valid(self, payload: JsonValue, budget: Budget | None = None) -> bool:
        """Return whether *payload*, which is not changed, is valid."""
        return next(self.faults(payload, budget), None) is None

    def faults(self, payload: JsonValue, budget: Budget | None = None) -> Iterator[Fault]:
        """Yield the faults of *payload* lazily."""
        validator, schema = self.at_root([self._max_steps] if budget is None else budget)
        yield from validator.descend(payload, schema)

    def at_root(self, budget: Budget) -> tuple[Validator, JsonValue]:
        """Return the validator at the root of the schema, and the schema.

        It is for callers that apply subschemas in their own order, and spends *budget*.
        """
        root = self._resources.root
        known = self._prepared.of_dialect(root.dialect)
        scope = Scope(self._resources, self._checks, self._prepared, budget, root, (root,), known)
        return Validator(scope), self._schema
