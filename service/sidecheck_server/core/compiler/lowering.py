"""Lowering: from a schema of any dialect to the canonical form.

Only what stands in the table of rules is lowered. A keyword that has no rule, or a
use of one that the canonical form cannot express, raises `CannotLowerError`, and the
schema goes to the complete engine: what is not understood is never left out.
"""

from collections.abc import Callable
from typing import Any

from sidecheck_server.core.compiler.lowering_rules import RULES, Growing
from sidecheck_server.core.compiler.unions import without_trying
from sidecheck_server.core.compiler.value_bounds import Definitions
from sidecheck_server.core.schemas.canonical import CannotLowerError, Canonical, Constant, Lowered
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.references import Subschema, Survey
from sidecheck_server.core.types import JsonValue

__all__ = ["lower"]

_DEEPEST = 4
"""A subschema nested deeper than this becomes a definition of its own.

CPython allows 20 nested loops and try blocks and 100 levels of indentation; one
level of schema costs up to two of the former and three of the latter.
"""


def lower(survey: Survey, assert_formats: Callable[[Dialect, str], bool]) -> Lowered:
    """Return the canonical form of a surveyed schema.

    *assert_formats* tells whether a format is to be asserted in a dialect.

    Raises:
        CannotLowerError: the canonical form cannot express the schema.
    """
    lowering = _Lowering(survey, assert_formats)
    lowering.define(next(iter(survey.reached.values())).schema)
    while lowering.pending:
        name, here = lowering.pending.pop()
        lowering.result.definitions[name] = lowering.body(here, 0)
    bodies = lowering.result.definitions
    known = Definitions(bodies)
    lowering.result.definitions = {
        name: without_trying(body, known) for name, body in bodies.items()
    }
    return lowering.result


class _Lowering:
    def __init__(self, survey: Survey, assert_formats: Callable[[Dialect, str], bool]) -> None:
        self.survey = survey
        self.assert_formats = assert_formats
        self.result = Lowered()
        self.pending: list[tuple[str, Subschema]] = []
        self.names: dict[int, str] = {}

    def define(self, schema: dict[str, JsonValue]) -> Canonical:
        """Return a reference to the definition of *schema*, which is made if need be."""
        name = self.names.get(id(schema))
        if name is None:
            name = self.names[id(schema)] = f"d{len(self.names)}"
            self.pending.append((name, self.survey.reached[id(schema)]))
        return {"$ref": f"#/definitions/{name}"}

    def lower(self, schema: JsonValue, depth: int) -> Canonical:
        """Return *schema* in canonical form, *depth* levels below its definition."""
        if not isinstance(schema, dict):
            return schema is True
        if depth > _DEEPEST:
            return self.define(schema)
        return self.body(self.survey.reached[id(schema)], depth)

    def body(self, here: Subschema, depth: int) -> Canonical:
        if "$ref" in here.schema and here.dialect.reference_hides_siblings:
            return self.reference(here, "$ref")
        out = Growing(here, depth)
        for keyword in here.schema:
            if keyword in here.dialect.keywords:
                rule = RULES.get(keyword)
                if rule is None:
                    raise CannotLowerError(f"the keyword {keyword}")
                rule(self, out, keyword)
        return out.joined()

    def reference(self, here: Subschema, keyword: str) -> Canonical:
        reference = self.survey.references[id(here.schema), keyword]
        if not reference.static:
            raise CannotLowerError(f"a {keyword} that depends on the way of evaluation")
        if not isinstance(reference.target, dict):
            return reference.target is True
        return self.define(reference.target)

    def pattern(self, source: str) -> int:
        return self.result.patterns.setdefault(source, len(self.result.patterns))

    def format(self, name: str) -> int:
        return self.result.formats.setdefault(name, len(self.result.formats))

    def constant(self, value: JsonValue) -> Any:
        if not isinstance(value, dict | list):
            return value
        self.result.constants.append(value)
        return Constant(len(self.result.constants) - 1)
