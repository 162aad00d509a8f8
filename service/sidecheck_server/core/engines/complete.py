"""The complete engine: decides where the fast engine may not, and explains every "no".

It is built from jsonschema's parts: a validator class for each dialect, whose
keywords are functions that yield faults. Three of the class's methods are ours:

- ``evolve``, because jsonschema's own looks up every ``$schema`` that it meets in a
  global table and goes on with the stock class of that dialect, and with it ``re``
  and unbounded messages. The dialect is a matter of the resource, which the scope
  knows.
- ``descend``, because jsonschema's own makes a new validator at every step, and
  loses the path to a subschema ``false``.
- ``is_type``, for the reason that `json_types` tells.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema.validators import create
from referencing import Registry

from sidecheck_server.core.budget import Budget, Exhausted
from sidecheck_server.core.engines.charges import APPLYING
from sidecheck_server.core.engines.checks import Checks
from sidecheck_server.core.engines.complete_applicators import applicators_of
from sidecheck_server.core.engines.complete_assertions import assertions_of
from sidecheck_server.core.engines.fault import NOTHING, Fault
from sidecheck_server.core.engines.json_types import has_type
from sidecheck_server.core.engines.readings import Judge, Reading, Readings, reading_of
from sidecheck_server.core.engines.scope import Scope, scope_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import STANDARD, Dialect
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.schemas.resources import DialectOf, Resources
from sidecheck_server.core.types import JsonValue

__all__ = ["CompleteEngine"]

_LIMITS = Limits()
_EMPTY = Registry()
"""Without a registry jsonschema would fetch."""


class CompleteEngine:
    """Says whether payloads are valid under one schema, and why not.

    *schema*, of *dialect*, was admitted: it obeys its meta-schema, and its references
    lead somewhere within *registry*. *dialect_of* tells the dialect that a resource
    declares, given the one around it. Neither may change afterwards.

    One judgement takes at most the steps of the budget that it is given, or those of *limits*;
    beyond that, both methods raise Exhausted. What nests too deep for the interpreter
    raises RecursionError.
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
    ) -> None:
        self._schema = schema
        self._resources = Resources(schema, dialect, documents, dialect_of)
        self._checks = Checks(
            assert_formats=assert_formats,
            pattern_length=limits.pattern_length,
            allow_backtracking=limits.allow_backtracking,
        )
        self._readings = Readings()
        self._max_steps = limits.steps

    def is_valid(self, payload: JsonValue, budget: Budget | None = None) -> bool:
        """Return whether *payload* is valid; it is not changed."""
        return next(self.faults(payload, budget), None) is None

    def faults(self, payload: JsonValue, budget: Budget | None = None) -> Iterator[Fault]:
        """Yield what is wrong with *payload*, each when it is asked for."""
        validator, schema = self.at_root([self._max_steps] if budget is None else budget)
        yield from validator.descend(payload, schema)

    def at_root(self, budget: Budget) -> tuple[Any, JsonValue]:
        """Return the validator that stands where evaluation begins, and the whole schema.

        For who applies subschemas in an order of his own; all of it spends *budget*.
        """
        root = self._resources.root
        known = self._readings.under(root.dialect)
        scope = Scope(self._resources, self._checks, self._readings, budget, root, (root,), known)
        return _standing_in(scope), self._schema


@lru_cache(maxsize=64)
def _validator_class(draft: Draft, keywords: frozenset[str]) -> Any:
    """Return the class that judges by *keywords* as *draft* reads them."""
    known = {**assertions_of(draft), **applicators_of(draft)}
    dialect = STANDARD[draft]
    validator_class = create(
        meta_schema={dialect.id_keyword: dialect.uri},
        validators={name: known[name] for name in known if name in keywords},
    )
    validator_class.descend = _descend
    validator_class.evolve = _evolve
    validator_class.is_type = _is_type
    return validator_class


def _standing_in(scope: Scope) -> Any:
    """Return the validator that judges by the dialect of *scope*."""
    validator_class = _validator_class(scope.dialect.draft, scope.dialect.keywords)
    # The schema is given to `descend`.
    return validator_class(True, registry=_EMPTY, _resolver=scope)  # noqa: FBT003


def _evolve(validator: Any, **changes: Any) -> Any:
    """Return the validator for *changes*, always one of ours; replaces jsonschema's."""
    return _standing_in(changes.get("_resolver", scope_of(validator)))


def _is_type(validator: Any, value: Any, name: str) -> bool:
    """Return whether *value* is of the type *name*; replaces jsonschema's."""
    return has_type(value, name, scope_of(validator).dialect.draft)


def _descend(
    validator: Any,
    instance: Any,
    schema: Any,
    path: str | int | None = None,
    schema_path: str | int | None = None,
    resolver: Scope | None = None,
) -> Iterable[Fault]:
    """Return the faults of *instance* under *schema*; replaces jsonschema's.

    It judges up to the first fault at once, and by the rest when that is
    asked for: where there is no fault, there is no generator either.
    """
    if schema is True:
        return NOTHING
    scope: Scope = resolver or validator._resolver  # noqa: SLF001  (scope_of, without a call)
    reading = _OF_FALSE if schema is False else scope.known.get(id(schema))
    if reading is None or reading.identified:
        scope = scope.enter(schema)
    if scope is not validator._resolver:  # noqa: SLF001
        validator = _standing_in(scope)
        reading = _OF_FALSE if schema is False else scope.known.get(id(schema))
    if reading is None:
        reading = reading_of(schema, validator.VALIDATORS, scope.dialect)
        scope.known[id(schema)] = reading
    budget = scope.budget
    budget[0] -= reading.charge
    if budget[0] < 0:
        raise Exhausted
    placed = iter(reading.keywords)
    for keyword, value, judge in placed:
        found = judge(validator, value, instance, schema)
        if found is not NOTHING:
            where = (path, schema_path)
            return _told(where, (validator, instance, schema), (keyword, value, found), placed)
    return NOTHING


def _told(
    where: tuple[str | int | None, str | int | None],
    judged: tuple[Any, Any, Any],
    first: tuple[str, Any, Iterable[Fault]],
    placed: Iterator[tuple[str, Any, Judge]],
) -> Iterator[Fault]:
    """Yield the faults that the *first* keyword found, then those of the ones after it."""
    path, schema_path = where
    validator, instance, schema = judged
    keyword, value, found = first
    scope = scope_of(validator)
    # One loop and no more generators than needed: each costs depth of payload.
    while True:
        for fault in found:
            fault.settle(keyword, value, instance, schema, scope)
            # What `if` yields comes from `then` or `else`, which stand beside it.
            if keyword and keyword != "if":
                fault.schema_path.append(keyword)
            if schema_path is not None:
                fault.schema_path.append(schema_path)
            if path is not None:
                fault.path.append(path)
            yield fault
        following = next(placed, None)
        if following is None:
            return
        keyword, value, judge = following
        found = judge(validator, value, instance, schema)


def _refuse(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> Iterable[Fault]:
    """Return the fault of any value under the schema ``false``."""
    return (Fault(),)


_OF_FALSE = Reading(APPLYING, (("", False, _refuse),), identified=False)
