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

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema.validators import create
from referencing import Registry

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.engines.charges import Charges
from sidecheck_server.core.engines.checks import Checks
from sidecheck_server.core.engines.complete_applicators import applicators_of
from sidecheck_server.core.engines.complete_assertions import assertions_of
from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.json_types import has_type
from sidecheck_server.core.engines.scope import Scope, scope_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import STANDARD, Dialect
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.schemas.resources import DialectOf, Resources
from sidecheck_server.core.words import JsonValue

__all__ = ["CompleteEngine"]

_STEPS = Limits().steps


class CompleteEngine:
    """Says whether payloads are valid under one schema, and why not.

    *schema*, of *dialect*, was admitted: it obeys its meta-schema, and its references
    lead somewhere within *registry*. *dialect_of* tells the dialect that a resource
    declares, given the one around it. Neither may change afterwards.

    One judgement takes at most the steps of the budget that it is given, or *max_steps*;
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
        max_steps: int = _STEPS,
        allow_backtracking: bool = False,
    ) -> None:
        self._schema = schema
        self._resources = Resources(schema, dialect, documents, dialect_of)
        self._checks = Checks(assert_formats=assert_formats, allow_backtracking=allow_backtracking)
        self._charges = Charges()
        self._max_steps = max_steps

    def is_valid(self, payload: JsonValue, budget: Budget | None = None) -> bool:
        """Return whether *payload* is valid; it is not changed."""
        return next(self.faults(payload, budget), None) is None

    def faults(self, payload: JsonValue, budget: Budget | None = None) -> Iterator[Fault]:
        """Yield what is wrong with *payload*, each when it is asked for."""
        validator, schema = self.at_root([self._max_steps] if budget is None else budget)
        faults: Iterator[Fault] = validator.descend(payload, schema)
        return faults

    def at_root(self, budget: Budget) -> tuple[Any, JsonValue]:
        """Return the validator that stands where evaluation begins, and the whole schema.

        For who applies subschemas in an order of his own; all of it spends *budget*.
        """
        root = self._resources.root
        scope = Scope(self._resources, self._checks, self._charges, budget, root, (root,))
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
    # The schema is given to `descend`. Without a registry jsonschema would fetch.
    return validator_class(True, registry=Registry(), _resolver=scope)  # noqa: FBT003


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
) -> Iterator[Fault]:
    """Yield the faults of *instance* under *schema*; replaces jsonschema's."""
    if schema is True:
        return
    if schema is False:
        placed: Any = (("", False),)
        scope = resolver or scope_of(validator)
    else:
        scope = (resolver or scope_of(validator)).enter(schema)
        if scope is not scope_of(validator):
            validator = _standing_in(scope)
        hides = scope.dialect.reference_hides_siblings and "$ref" in schema
        placed = (("$ref", schema["$ref"]),) if hides else schema.items()
    spend(scope.budget, scope.charges.of(schema))
    # One loop and no more generators than needed: each costs depth of payload.
    for keyword, value in placed:
        judge = _refuse if schema is False else validator.VALIDATORS.get(keyword)
        if judge is None:
            continue
        for fault in judge(validator, value, instance, schema):
            fault.settle(keyword, value, instance, schema, scope)
            # What `if` yields comes from `then` or `else`, which stand beside it.
            if keyword and keyword != "if":
                fault.schema_path.appendleft(keyword)
            if schema_path is not None:
                fault.schema_path.appendleft(schema_path)
            if path is not None:
                fault.path.appendleft(path)
            yield fault


def _refuse(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> Iterator[Fault]:
    """Yield the fault of any value under the schema ``false``."""
    yield Fault()
