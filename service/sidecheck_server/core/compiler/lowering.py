"""Lowering of schemas in any dialect to the canonical form.

Each keyword is lowered by its rule. A keyword without a rule, or a use of one that the
canonical form cannot express, raises `CannotLowerError`, and the schema is left to the
complete engine: no keyword is ever dropped.
"""

from collections.abc import Callable
from typing import Any

from sidecheck_server.core.compiler.lowering_rules import RULES, LoweredSchema, as_literal
from sidecheck_server.core.compiler.unions import simplify_unions
from sidecheck_server.core.compiler.value_bounds import Definitions
from sidecheck_server.core.schemas.canonical import CannotLowerError, Canonical, Constant, Lowered
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.references import Subschema, Survey
from sidecheck_server.core.types import JsonValue

__all__ = ["lower_schema"]

_DEEPEST = 4
"""Subschemas nested deeper than this become definitions of their own.

CPython allows 20 nested loops and try blocks and 100 levels of indentation; one level
of schema takes up to two of the former and three of the latter.
"""


def lower_schema(survey: Survey, assert_formats: Callable[[Dialect, str], bool]) -> Lowered:
    """Return the canonical form of a surveyed schema.

    *assert_formats* returns whether a format is asserted in a dialect.

    Raises:
        CannotLowerError: the canonical form cannot express the schema.
    """
    lowering = _Lowering(survey, assert_formats)
    lowering.define(next(iter(survey.reached.values())).schema)
    while lowering.pending:
        name, subschema = lowering.pending.pop()
        lowering.result.definitions[name] = lowering.body(subschema, 0)
    bodies = lowering.result.definitions
    known = Definitions(bodies)
    lowering.result.definitions = {
        name: simplify_unions(body, known) for name, body in bodies.items()
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
        """Return a reference to the definition of *schema*, which is created if needed."""
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

    def body(self, subschema: Subschema, depth: int) -> Canonical:
        if "$ref" in subschema.schema and subschema.dialect.reference_hides_siblings:
            return self.reference(subschema, "$ref")
        lowered = LoweredSchema(subschema, depth)
        for keyword in subschema.schema:
            if keyword in subschema.dialect.keywords:
                rule = RULES.get(keyword)
                if rule is None:
                    raise CannotLowerError(f"the keyword {keyword}")
                rule(self, lowered, keyword)
        return lowered.build()

    def reference(self, subschema: Subschema, keyword: str) -> Canonical:
        reference = self.survey.references[id(subschema.schema), keyword]
        if not reference.static:
            raise CannotLowerError(f"a {keyword} that depends on the path of evaluation")
        if not isinstance(reference.target, dict):
            return reference.target is True
        return self.define(reference.target)

    def pattern(self, source: str) -> int:
        return self.result.patterns.setdefault(source, len(self.result.patterns))

    def format(self, name: str) -> int:
        return self.result.formats.setdefault(name, len(self.result.formats))

    def constant(self, value: JsonValue) -> Any:
        if not isinstance(value, dict | list):
            return as_literal(value)
        self.result.constants.append(value)
        return Constant(len(self.result.constants) - 1)
