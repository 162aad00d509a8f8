"""Lowering of schemas in any dialect to the canonical form.

Each keyword has a rule: a function of the lowering, the builder of the current schema, and
the keyword. A keyword without a rule, or a use that the canonical form cannot express,
raises `CannotLowerError`, and only the complete engine evaluates the schema: no keyword is
ever dropped.

``unevaluatedProperties`` and ``unevaluatedItems`` (2020-12 core, section 11) depend on the
success of adjacent keywords. If these are only ``properties``, ``items`` and similar
keywords, directly or through ``allOf`` and ``$ref``, the evaluated names and items do not
depend on the payload, and the keyword is equivalent to a closed object or array.
"""

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.compiler.unions import Definitions, simplify_unions
from sidecheck_server.core.exact_numbers import ExactNumber
from sidecheck_server.core.schemas.canonical import (
    CannotLowerError,
    Canonical,
    Constant,
    LoweredSchema,
)
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.references import Subschema, Survey
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["EvaluatedProperties", "evaluated_items", "evaluated_properties", "lower_schema"]

_DEEPEST = 4
"""Deepest nesting in one definition; deeper subschemas become separate definitions.

CPython allows 20 nested loops and try blocks and 100 levels of indentation; one level
of schema takes up to two of the former and three of the latter.
"""


def lower_schema(survey: Survey, asserts_format: Callable[[Dialect, str], bool]) -> LoweredSchema:
    """Return the canonical form of a surveyed schema.

    *asserts_format* returns whether a format is asserted in a dialect.

    Raises:
        CannotLowerError: the canonical form cannot express the schema.
    """
    lowering = _Lowering(survey, asserts_format)
    lowering.define(next(iter(survey.reached.values())).schema)
    while lowering.pending:
        name, subschema = lowering.pending.pop()
        lowering.result.definitions[name] = lowering.body(subschema, 0)
    bodies = lowering.result.definitions
    definitions = Definitions(bodies)
    lowering.result.definitions = {
        name: simplify_unions(body, definitions) for name, body in bodies.items()
    }
    return lowering.result


class _SchemaBuilder:
    """Builder of the canonical form of one subschema."""

    def __init__(self, subschema: Subschema, depth: int) -> None:
        self.subschema = subschema
        self.schema = subschema.schema
        self.depth = depth
        self.body: dict[str, Any] = {}
        self.conjuncts: list[Canonical] = []

    def add(self, conjunct: Canonical) -> None:
        """Add *conjunct*, unless it accepts everything."""
        if conjunct is not True and conjunct != {}:
            self.conjuncts.append(conjunct)

    def put(self, keywords: dict[str, Any]) -> None:
        """Add *keywords* together; as a conjunct if one of them is set already."""
        if self.body.keys() & keywords.keys():
            self.conjuncts.append(keywords)
        else:
            self.body |= keywords

    def build(self) -> Canonical:
        """Return the canonical form."""
        if not self.conjuncts:
            return self.body
        if not self.body and len(self.conjuncts) == 1:
            return self.conjuncts[0]
        own = [self.body] if self.body else []
        return {"allOf": [*own, *self.conjuncts]}


class _Lowering:
    """State of the lowering of one schema."""

    def __init__(self, survey: Survey, asserts_format: Callable[[Dialect, str], bool]) -> None:
        self.survey = survey
        self.asserts_format = asserts_format
        self.result = LoweredSchema()
        self.pending: list[tuple[str, Subschema]] = []
        self.names: dict[int, str] = {}

    def define(self, schema: dict[str, JsonValue]) -> Canonical:
        """Return a reference to the definition of *schema*; create it if needed."""
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
        lowered = _SchemaBuilder(subschema, depth)
        for keyword in subschema.schema:
            if keyword in subschema.dialect.keywords:
                rule = _RULES.get(keyword)
                if rule is None:
                    raise CannotLowerError(f"the keyword {keyword}")
                rule(self, lowered, keyword)
        return lowered.build()

    def reference(self, subschema: Subschema, keyword: str) -> Canonical:
        """Return the canonical form of the target of the reference *keyword*."""
        reference = self.survey.references[id(subschema.schema), keyword]
        if not reference.static:
            raise CannotLowerError(f"a {keyword} that depends on the path of evaluation")
        if not isinstance(reference.target, dict):
            return reference.target is True
        return self.define(reference.target)

    def pattern(self, source: str) -> int:
        """Return the number of a pattern; add it if needed."""
        return self.result.patterns.setdefault(source, len(self.result.patterns))

    def format(self, name: str) -> int:
        """Return the number of a format; add it if needed."""
        return self.result.formats.setdefault(name, len(self.result.formats))

    def constant(self, value: JsonValue) -> Any:
        """Return a constant in canonical form."""
        if not isinstance(value, dict | list):
            return _as_literal(value)
        self.result.constants.append(value)
        return Constant(len(self.result.constants) - 1)


_Rule = Callable[[_Lowering, _SchemaBuilder, str], None]


def _skip(_lowering: _Lowering, _builder: _SchemaBuilder, _keyword: str) -> None:
    """Add nothing: the keyword asserts nothing, or the rule of a sibling covers it."""


def _as_literal(value: JsonValue) -> Any:
    """Return the scalar *value* as an object whose `repr` is an exact Python literal.

    Raises:
        CannotLowerError: it is a number that is neither an integer nor a double.
    """
    if not isinstance(value, ExactNumber):
        return value
    if not value.is_integer():
        raise CannotLowerError("a number that no double denotes")
    return int(value)


def _as_is(_lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    builder.body[keyword] = builder.schema[keyword]


def _number(_lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    builder.body[keyword] = _as_literal(builder.schema[keyword])


def _type(_lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    value: Any = builder.schema["type"]
    types = list(value) if isinstance(value, list) else [value]
    if builder.subschema.dialect.draft is Draft.DRAFT_04:
        # In draft 4 an integer is a number written without fraction or exponent
        # (draft-04 core, section 3.5).
        types = ["int" if name == "integer" else name for name in types]
    builder.body["type"] = types


def _enum(lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    values: Any = builder.schema["enum"]
    builder.put({"enum": [lowering.constant(value) for value in values]})


def _const(lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    builder.put({"enum": [lowering.constant(builder.schema["const"])]})


def _inclusive_bound(_lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}[keyword]
    # In draft 4 the exclusive forms are flags (draft-04 validation, 5.1.2 and 5.1.3).
    name = exclusive if builder.schema.get(exclusive) is True else keyword
    builder.body[name] = _as_literal(builder.schema[keyword])


def _exclusive_bound(_lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    if builder.subschema.dialect.draft is not Draft.DRAFT_04:
        builder.body[keyword] = _as_literal(builder.schema[keyword])


def _unique(_lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    if builder.schema["uniqueItems"] is True:
        builder.body["uniqueItems"] = True


def _pattern(lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    builder.body["pattern"] = lowering.pattern(str(builder.schema["pattern"]))


def _format(lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    name = str(builder.schema["format"])
    if lowering.asserts_format(builder.subschema.dialect, name):
        builder.body["format"] = lowering.format(name)


def _subschema(lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    builder.body[keyword] = lowering.lower(builder.schema[keyword], builder.depth + 1)


def _all_of(lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    branches: Any = builder.schema["allOf"]
    for branch in branches:
        builder.add(lowering.lower(branch, builder.depth + 1))


def _union(lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    branches: Any = builder.schema[keyword]
    lowered = [lowering.lower(branch, builder.depth + 1) for branch in branches]
    builder.put({keyword: lowered})


def _if(lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    keywords = [keyword for keyword in ("if", "then", "else") if keyword in builder.schema]
    if len(keywords) > 1:
        builder.put(
            {
                keyword: lowering.lower(builder.schema[keyword], builder.depth + 1)
                for keyword in keywords
            }
        )


def _properties(lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    schemas: Any = builder.schema[keyword]
    builder.body[keyword] = {
        name: lowering.lower(schema, builder.depth + 1) for name, schema in schemas.items()
    }


def _pattern_properties(lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    schemas: Any = builder.schema[keyword]
    builder.body[keyword] = {
        lowering.pattern(source): lowering.lower(schema, builder.depth + 1)
        for source, schema in schemas.items()
    }


def _additional_properties(lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    lowered = lowering.lower(builder.schema[keyword], builder.depth + 1)
    if lowered is not True and lowered != {}:
        builder.body[keyword] = lowered


def _items(lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    if "items" in builder.body:
        return  # The rule of the sibling has lowered it.
    prefix: Any = builder.schema.get("prefixItems")
    rest: Any = builder.schema.get("items")
    if builder.subschema.dialect.draft is not Draft.DRAFT_2020_12:
        is_list = isinstance(rest, list)
        prefix, rest = (rest, builder.schema.get("additionalItems")) if is_list else (None, rest)
    if prefix is None:
        builder.body["items"] = lowering.lower(rest, builder.depth + 1)
        return
    builder.body["items"] = [lowering.lower(item, builder.depth + 1) for item in prefix]
    if rest is not None:
        builder.body["additionalItems"] = lowering.lower(rest, builder.depth + 1)


def _contains(lowering: _Lowering, builder: _SchemaBuilder, _keyword: str) -> None:
    in_force = builder.subschema.dialect.keywords
    least = _as_literal(builder.schema.get("minContains", 1) if "minContains" in in_force else 1)
    most = _as_literal(builder.schema.get("maxContains") if "maxContains" in in_force else None)
    if least == 0 and most is None:
        return
    lowered = {"contains": lowering.lower(builder.schema["contains"], builder.depth + 1)}
    bounds = {"minContains": least} if most is None else {"minContains": least, "maxContains": most}
    builder.put({**lowered, **bounds})


def _dependencies(lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    dependents: Any = builder.schema[keyword]
    lowered = {
        name: dependent
        if isinstance(dependent, list)
        else lowering.lower(dependent, builder.depth + 1)
        for name, dependent in dependents.items()
    }
    if lowered:
        builder.put({"dependencies": lowered})


def _reference(lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    builder.add(lowering.reference(builder.subschema, keyword))


def _unevaluated_properties(lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    evaluated = evaluated_properties(builder.subschema, lowering.survey)
    if evaluated is not None:
        builder.add(
            {
                "properties": dict.fromkeys(evaluated.names, True),
                "patternProperties": {lowering.pattern(p): True for p in evaluated.patterns},
                "additionalProperties": lowering.lower(builder.schema[keyword], builder.depth + 1),
            }
        )


def _unevaluated_items(lowering: _Lowering, builder: _SchemaBuilder, keyword: str) -> None:
    count = evaluated_items(builder.subschema, lowering.survey)
    if count is not None:
        rest = lowering.lower(builder.schema[keyword], builder.depth + 1)
        builder.add({"items": [True] * count, "additionalItems": rest})


_RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        "$ref": _reference,
        "$dynamicRef": _reference,
        "$recursiveRef": _reference,
        "$defs": _skip,
        "definitions": _skip,
        "allOf": _all_of,
        "anyOf": _union,
        "oneOf": _union,
        "not": _subschema,
        "if": _if,
        "then": _skip,
        "else": _skip,
        "dependentSchemas": _dependencies,
        "dependentRequired": _dependencies,
        "dependencies": _dependencies,
        "prefixItems": _items,
        "items": _items,
        "additionalItems": _skip,
        "contains": _contains,
        "minContains": _skip,
        "maxContains": _skip,
        "properties": _properties,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "propertyNames": _subschema,
        "unevaluatedItems": _unevaluated_items,
        "unevaluatedProperties": _unevaluated_properties,
        "type": _type,
        "enum": _enum,
        "const": _const,
        "multipleOf": _number,
        "maximum": _inclusive_bound,
        "exclusiveMaximum": _exclusive_bound,
        "minimum": _inclusive_bound,
        "exclusiveMinimum": _exclusive_bound,
        "maxLength": _number,
        "minLength": _number,
        "pattern": _pattern,
        "maxItems": _number,
        "minItems": _number,
        "uniqueItems": _unique,
        "maxProperties": _number,
        "minProperties": _number,
        "required": _as_is,
        "format": _format,
        "contentSchema": _skip,
    }
)
"""The rule of each keyword."""


# Applicators whose success, and thus whose evaluated locations, depends on the payload.
_CONDITIONAL = frozenset({"anyOf", "oneOf", "if", "dependentSchemas", "dependencies"})


@dataclass(frozen=True, slots=True)
class EvaluatedProperties:
    """Evaluated properties: with one of *names*, or matching one of *patterns*."""

    names: tuple[str, ...]
    patterns: tuple[str, ...]


def evaluated_properties(subschema: Subschema, survey: Survey) -> EvaluatedProperties | None:
    """Return the properties that siblings of ``unevaluatedProperties`` evaluate.

    None if they evaluate all properties.

    Raises:
        CannotLowerError: the result depends on the payload.
    """
    names: dict[str, None] = {}
    patterns: dict[str, None] = {}
    for sibling, in_force in _siblings(subschema, survey, "unevaluatedProperties"):
        own = sibling is subschema
        if "additionalProperties" in in_force or ("unevaluatedProperties" in in_force and not own):
            return None
        for keyword, collected in (("properties", names), ("patternProperties", patterns)):
            value = sibling.schema.get(keyword)
            if keyword in in_force and isinstance(value, dict):
                collected.update(dict.fromkeys(value))
    return EvaluatedProperties(tuple(names), tuple(patterns))


def evaluated_items(subschema: Subschema, survey: Survey) -> int | None:
    """Return the number of leading items evaluated by siblings.

    None if they evaluate all items.

    Raises:
        CannotLowerError: the result depends on the payload.
    """
    count = 0
    for sibling, in_force in _siblings(subschema, survey, "unevaluatedItems"):
        if "contains" in in_force and sibling.dialect.draft is Draft.DRAFT_2020_12:
            # Matching items are evaluated (2020-12 core, section 10.3.1.3).
            raise CannotLowerError("unevaluatedItems beside contains")
        # Before 2020-12, `items` with a list has the meaning of `prefixItems`.
        has_prefix_items = sibling.dialect.draft is Draft.DRAFT_2020_12
        prefix, rest = (
            ("prefixItems", "items") if has_prefix_items else ("items", "additionalItems")
        )
        listed = sibling.schema[prefix] if prefix in in_force else []
        if not isinstance(listed, list):
            return None
        if rest in in_force and (has_prefix_items or listed):
            return None
        if "unevaluatedItems" in in_force and sibling is not subschema:
            return None
        count = max(count, len(listed))
    return count


def _siblings(
    subschema: Subschema, survey: Survey, keyword: str
) -> Iterator[tuple[Subschema, Set[str]]]:
    """Yield *subschema* and all that apply with it, with their keywords in force."""
    stack, seen = [subschema], set[int]()
    while stack:
        sibling = stack.pop()
        if id(sibling.schema) in seen:
            continue
        seen.add(id(sibling.schema))
        if "$ref" in sibling.schema and sibling.dialect.reference_hides_siblings:
            in_force: Set[str] = {"$ref"}
        else:
            in_force = sibling.schema.keys() & sibling.dialect.keywords
        if in_force & _CONDITIONAL:
            raise CannotLowerError(f"{keyword} beside a conditional applicator")
        yield sibling, in_force
        branches = sibling.schema.get("allOf") if "allOf" in in_force else None
        targets = list(branches) if isinstance(branches, list) else []
        for reference_keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if reference_keyword in in_force:
                reference = survey.references[id(sibling.schema), reference_keyword]
                if not reference.static:
                    raise CannotLowerError(f"{keyword} beside a dynamic reference")
                targets.append(reference.target)
        stack.extend(survey.reached[id(target)] for target in targets if isinstance(target, dict))
