"""Remarks: what is odd about a schema although it is valid.

A schema may have a default that it refuses itself, and demands that contradict each
other (see `contradictions`). Nothing is said of what stands under ``not`` and ``if``, where
refusing may be the purpose, nor of documents that are sent along.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.budget import Budget, Exhausted
from sidecheck_server.core.compiler.admission import Admitted
from sidecheck_server.core.compiler.contradictions import contradictions
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fault import NOTHING
from sidecheck_server.core.engines.scope import scope_of
from sidecheck_server.core.explain.values import literal
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.references import REFERENCES, Subschema
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import as_pointer

__all__ = ["SchemaWarning", "schema_warnings"]

_STEPS = 200_000
"""How much work it may take to look for each kind of remark, about five milliseconds."""

_MOST = 100
"""How many there are of one schema."""

_LONGEST = 1 << 18
"""The length of their pointers together: many places may stand below one long name."""


@dataclass(frozen=True, slots=True)
class SchemaWarning:
    """Something odd about a schema."""

    #: The code of the rule that says it.
    code: str
    #: Where, as a JSON Pointer into the schema.
    pointer: str
    #: What it is, for a person.
    message: str


def schema_warnings(
    admitted: Admitted, source: SchemaSource, limits: Limits
) -> tuple[SchemaWarning, ...]:
    """Return the remarks on the schema of *source*, as many as a moment allows."""
    if admitted.survey is None:
        return ()
    found: list[SchemaWarning] = []
    length = 0
    for looking in (_contradictions, _refused_defaults):
        try:
            for remark in looking(admitted, source, limits, [_STEPS]):
                length += len(remark.pointer)
                if len(found) >= _MOST or length > _LONGEST:
                    return tuple(found)
                found.append(remark)
        except (Exhausted, RecursionError):
            continue  # The rest is left out.
    return tuple(found)


def _contradictions(
    admitted: Admitted, _source: SchemaSource, limits: Limits, budget: Budget
) -> Iterator[SchemaWarning]:
    assert admitted.survey is not None
    for odd in contradictions(admitted.survey, limits, budget):
        at = _pointer(odd.here)
        if at is not None:
            yield SchemaWarning(odd.code, at + as_pointer(odd.path), odd.message)


def _refused_defaults(
    admitted: Admitted, source: SchemaSource, limits: Limits, budget: Budget
) -> Iterator[SchemaWarning]:
    """Yield the defaults that their own subschemas refuse.

    "It is RECOMMENDED that a default value be valid against the associated schema"
    (2020-12 validation, section 9.2).
    """
    survey = admitted.survey
    assert survey is not None
    having = [here for here in survey.reached.values() if _has_default(here)]
    # Nothing bounds the time of a backtracking pattern; and what depends on the way of
    # evaluation is not known of a subschema alone.
    if not having or admitted.backtracking or not _is_static(admitted):
        return
    judges = _Judges(admitted, source, limits, budget)
    for here in having:
        default = here.schema["default"]
        faults = judges.of(here).descend(default, here.schema)
        if faults is NOTHING or (at := _pointer(here)) is None:
            continue
        first = next(explain(faults, hide_values=False), None)
        if first is not None:
            place = f" at {first.instance_location[:100]}" if first.instance_location else ""
            said = f"the default {literal(default)} is refused by its own schema{place}"
            yield SchemaWarning("DEFAULT_REFUSED", f"{at}/default", f"{said}: {first.message}")


def _has_default(here: Subschema) -> bool:
    schema = here.schema
    return "default" in schema and not ("$ref" in schema and here.dialect.reference_hides_siblings)


def _is_static(admitted: Admitted) -> bool:
    assert admitted.survey is not None
    return all(reference.static for reference in admitted.survey.references.values())


class _Judges:
    """Validators of the complete engine that stand in the resource of a subschema."""

    def __init__(
        self, admitted: Admitted, source: SchemaSource, limits: Limits, budget: Budget
    ) -> None:
        context = admitted.context
        engine = CompleteEngine(
            context.schema,
            context.dialect,
            context.documents,
            assert_formats=source.assert_formats,
            dialect_of=context.dialect_of,
            limits=limits,
        )
        self._root: Any
        self._root, self._schema = engine.at_root(budget)
        self._by_resource: dict[int, Any] = {}

    def of(self, here: Subschema) -> Any:
        """Return the validator of the subschema *here*."""
        contents = here.resource.contents
        if contents is self._schema:
            return self._root
        validator = self._by_resource.get(id(contents))
        if validator is None:
            scope = scope_of(self._root)
            resource = scope.resources.rooted_at(contents)
            if resource is None:
                # A document that nothing has led to yet is read when something does.
                _, resource = scope.resources.resolve(here.resource.uri, scope.resource)
            scope = scope.within(resource)
            validator = self._by_resource[id(contents)] = self._root.evolve(_resolver=scope)
        return validator


_BY_REFERENCE = tuple(f"/{keyword} -> " for keyword in REFERENCES)
_ASKING = ("/not", "/if")


def _pointer(here: Subschema) -> str | None:
    """Return where *here* stands, or None where nothing is to be said of it."""
    steps: list[str] = []
    one: Subschema | None = here
    while one is not None:
        if one.step in _ASKING or one.step.startswith(_BY_REFERENCE):
            return None
        steps.append(one.step)
        one = one.above
    return "".join(reversed(steps))
