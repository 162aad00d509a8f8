"""The complete engine: supports every schema, and reports the faults of a payload."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from sidecheck_server.core.engines.fault import NO_FAULTS, Fault
from sidecheck_server.core.engines.keyword_functions import applicators_of, assertions_of
from sidecheck_server.core.engines.scope import (
    KeywordFunction,
    PreparedSchema,
    PreparedSchemas,
    Scope,
    prepare_schema,
)
from sidecheck_server.core.engines.text_checks import TextChecks
from sidecheck_server.core.engines.weights import APPLICATION_STEPS
from sidecheck_server.core.json_values import has_type
from sidecheck_server.core.limits import Budget, Exhausted, Limits
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.resources import DialectOf, Resources
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["CompleteEngine", "Validator"]


class Validator:
    """Applies subschemas in one scope.

    Keyword functions, including jsonschema's, take it as their first argument; it has the
    methods of `jsonschema.protocols.Validator` that they call. jsonschema's own validators
    are not used, for three reasons:

    - They look up every ``$schema`` in a global table and continue with the standard class
      of that dialect, which uses ``re`` and unbounded messages. In this project the dialect
      is a property of the resource, which the scope holds.
    - They create a validator at every step, and lose the path to a subschema ``false``.
    - Their type checks are unsafe at the recursion limit, see `json_values.has_type`.
    """

    # Decision 0074: only public parts of jsonschema are used: the functions in `VALIDATORS`.

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        #: The scope of the subschemas.
        self.scope = scope

    def within(self, scope: Scope) -> "Validator":
        """Return the validator in *scope*."""
        return self if scope is self.scope else Validator(scope)

    def is_type(self, value: Any, name: str) -> bool:
        """Return whether *value* has the type *name*."""
        return has_type(value, name, self.scope.dialect.draft)

    def descend(
        self,
        instance: Any,
        schema: Any,
        path: str | int | None = None,
        schema_path: str | int | None = None,
    ) -> Iterable[Fault]:
        """Return the faults of *instance* under *schema*, a subschema in the scope.

        Keywords up to the first failing one are evaluated at once, the others lazily, so
        that a valid instance needs no generator.

        Raises:
            Exhausted: the budget has too few steps; iterating over the faults raises it too.
        """
        if schema is True:
            return NO_FAULTS
        validator = self
        scope = self.scope
        prepared = _FALSE_SCHEMA if schema is False else scope.prepared_subschemas.get(id(schema))
        if prepared is None or prepared.has_identifier:
            scope = scope.enter(schema)
            if scope is not self.scope:
                validator = Validator(scope)
                prepared = scope.prepared_subschemas.get(id(schema))
        if prepared is None:
            dialect = scope.dialect
            functions = _functions_of(dialect.draft, dialect.keywords)
            prepared = prepare_schema(schema, functions, dialect)
            scope.prepared_subschemas[id(schema)] = prepared
        budget = scope.budget
        budget[0] -= prepared.steps
        if budget[0] < 0:
            raise Exhausted
        keywords = iter(prepared.keywords)
        for keyword, value, function in keywords:
            faults = function(validator, value, instance, schema)
            if faults is not NO_FAULTS:
                paths = (path, schema_path)
                return _yield_faults(
                    paths, (validator, instance, schema), (keyword, value, faults), keywords
                )
        return NO_FAULTS


@lru_cache(maxsize=64)
def _functions_of(draft: Draft, keywords: frozenset[str]) -> Mapping[str, KeywordFunction]:
    """Return the functions of *keywords* in *draft*, by keyword."""
    functions = {**assertions_of(draft), **applicators_of(draft)}
    return MappingProxyType({name: functions[name] for name in functions if name in keywords})


def _yield_faults(
    paths: tuple[str | int | None, str | int | None],
    subject: tuple[Validator, Any, Any],
    first: tuple[str, Any, Iterable[Fault]],
    remaining: Iterator[tuple[str, Any, KeywordFunction]],
) -> Iterator[Fault]:
    """Yield the faults of the *first* failing keyword, then of *remaining* ones."""
    path, schema_path = paths
    validator, instance, schema = subject
    keyword, value, faults = first
    scope = validator.scope
    # A single loop, because further generators would reduce the possible depth of payloads.
    while True:
        for fault in faults:
            fault.settle(keyword, value, instance, schema, scope)
            # The faults of `if` are those of `then` or `else`, its siblings.
            if keyword and keyword != "if":
                fault.schema_path.append(keyword)
            if schema_path is not None:
                fault.schema_path.append(schema_path)
            if path is not None:
                fault.path.append(path)
            yield fault
        following = next(remaining, None)
        if following is None:
            return
        keyword, value, function = following
        faults = function(validator, value, instance, schema)


def _reject(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> Iterable[Fault]:
    """Return the fault of any value under the schema ``false``."""
    return (Fault(),)


_FALSE_SCHEMA: Final = PreparedSchema(
    APPLICATION_STEPS, (("", False, _reject),), has_identifier=False
)


_LIMITS = Limits()


class CompleteEngine:
    """Decides whether payloads are valid against one schema, and reports the faults.

    *schema*, in *dialect*, must be admitted: it is valid against its meta-schema, and its
    references resolve within the schema, *documents* and the published meta-schemas.
    *dialect_of* returns the dialect that a resource declares, given the dialect around it.
    Schema and documents must not change afterwards. Other engines may share *checks*.

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
        """Return whether *payload* is valid; never change it."""
        return next(self.faults(payload, budget), None) is None

    def faults(self, payload: JsonValue, budget: Budget | None = None) -> Iterator[Fault]:
        """Yield the faults of *payload* lazily."""
        validator, schema = self.at_root([self._max_steps] if budget is None else budget)
        yield from validator.descend(payload, schema)

    def at_root(self, budget: Budget) -> tuple[Validator, JsonValue]:
        """Return the validator at the root of the schema, and the schema.

        Callers use it to apply subschemas in their own order; it charges *budget*.
        """
        root = self._resources.root
        subschemas = self._prepared.of_dialect(root.dialect)
        scope = Scope(
            self._resources, self._checks, self._prepared, budget, root, (root,), subschemas
        )
        return Validator(scope), self._schema
