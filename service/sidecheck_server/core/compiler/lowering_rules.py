"""Rules of lowering: what each keyword becomes in the canonical form.

A rule is a function of the lowering, the schema being lowered, and the keyword. The
table `RULES` has all keywords that can be lowered.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from sidecheck_server.core.compiler.evaluated_locations import evaluated_items, evaluated_properties
from sidecheck_server.core.exact_numbers import ExactNumber
from sidecheck_server.core.schemas.canonical import CannotLowerError, Canonical
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.references import Subschema, Survey
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["RULES", "LoweredSchema", "Lowering", "as_literal"]


class Lowering(Protocol):
    """The lowering of one schema, as the rules use it."""

    survey: Survey
    assert_formats: Callable[[Dialect, str], bool]

    def lower(self, schema: JsonValue, depth: int) -> Canonical:
        """Return *schema* in canonical form, *depth* levels below its definition."""

    def reference(self, subschema: Subschema, keyword: str) -> Canonical:
        """Return the canonical form of the target of the reference *keyword*."""

    def pattern(self, source: str) -> int:
        """Return the number of a pattern, which is added if needed."""

    def format(self, name: str) -> int:
        """Return the number of a format, which is added if needed."""

    def constant(self, value: JsonValue) -> Any:
        """Return a constant in canonical form."""


class LoweredSchema:
    """The canonical form of one subschema, while the rules add to it."""

    def __init__(self, subschema: Subschema, depth: int) -> None:
        self.subschema = subschema
        self.schema = subschema.schema
        self.depth = depth
        self.body: dict[str, Any] = {}
        self.conjuncts: list[Canonical] = []

    def add(self, conjunct: Canonical) -> None:
        """Add *conjunct* to the demands."""
        if conjunct is not True and conjunct != {}:
            self.conjuncts.append(conjunct)

    def put(self, keywords: dict[str, Any]) -> None:
        """Add *keywords*, which belong together; as a conjunct if one is set already."""
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


_Rule = Callable[[Lowering, LoweredSchema, str], None]


def _skip(_lowering: Lowering, _out: LoweredSchema, _keyword: str) -> None:
    """Add nothing: the keyword asserts nothing, or is lowered with a sibling."""


def as_literal(value: JsonValue) -> Any:
    """Return *value*, which is no container, so that its `repr` is Python of the same value.

    Raises:
        CannotLowerError: it is a number that neither an integer nor a double is.
    """
    if not isinstance(value, ExactNumber):
        return value
    if not value.is_integer():
        raise CannotLowerError("a number that no double denotes")
    return int(value)


def _as_is(_lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    out.body[keyword] = out.schema[keyword]


def _number(_lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    out.body[keyword] = as_literal(out.schema[keyword])


def _type(_lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    value: Any = out.schema["type"]
    types = list(value) if isinstance(value, list) else [value]
    if out.subschema.dialect.draft is Draft.DRAFT_04:
        # In draft 4 an integer is a number written without fraction or exponent
        # (draft-04 core, section 3.5).
        types = ["int" if name == "integer" else name for name in types]
    out.body["type"] = types


def _enum(lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    values: Any = out.schema["enum"]
    out.put({"enum": [lowering.constant(value) for value in values]})


def _const(lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    out.put({"enum": [lowering.constant(out.schema["const"])]})


def _minimum(_lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}[keyword]
    # In draft 4 the exclusive forms are flags (draft-04 validation, 5.1.2 and 5.1.3).
    name = exclusive if out.schema.get(exclusive) is True else keyword
    out.body[name] = as_literal(out.schema[keyword])


def _exclusive(_lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    if out.subschema.dialect.draft is not Draft.DRAFT_04:
        out.body[keyword] = as_literal(out.schema[keyword])


def _unique(_lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    if out.schema["uniqueItems"] is True:
        out.body["uniqueItems"] = True


def _pattern(lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    out.body["pattern"] = lowering.pattern(str(out.schema["pattern"]))


def _format(lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    name = str(out.schema["format"])
    if lowering.assert_formats(out.subschema.dialect, name):
        out.body["format"] = lowering.format(name)


def _subschema(lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    out.body[keyword] = lowering.lower(out.schema[keyword], out.depth + 1)


def _all_of(lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    branches: Any = out.schema["allOf"]
    for branch in branches:
        out.add(lowering.lower(branch, out.depth + 1))


def _union(lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    branches: Any = out.schema[keyword]
    lowered = [lowering.lower(branch, out.depth + 1) for branch in branches]
    out.put({keyword: lowered})


def _if(lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    keywords = [keyword for keyword in ("if", "then", "else") if keyword in out.schema]
    if len(keywords) > 1:
        out.put(
            {keyword: lowering.lower(out.schema[keyword], out.depth + 1) for keyword in keywords}
        )


def _properties(lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    schemas: Any = out.schema[keyword]
    out.body[keyword] = {
        name: lowering.lower(schema, out.depth + 1) for name, schema in schemas.items()
    }


def _pattern_properties(lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    schemas: Any = out.schema[keyword]
    out.body[keyword] = {
        lowering.pattern(source): lowering.lower(schema, out.depth + 1)
        for source, schema in schemas.items()
    }


def _additional_properties(lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    lowered = lowering.lower(out.schema[keyword], out.depth + 1)
    if lowered is not True and lowered != {}:
        out.body[keyword] = lowered


def _items(lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    if "items" in out.body:
        return  # Lowered already, with its sibling.
    prefix: Any = out.schema.get("prefixItems")
    rest: Any = out.schema.get("items")
    if out.subschema.dialect.draft is not Draft.DRAFT_2020_12:
        is_list = isinstance(rest, list)
        prefix, rest = (rest, out.schema.get("additionalItems")) if is_list else (None, rest)
    if prefix is None:
        out.body["items"] = lowering.lower(rest, out.depth + 1)
        return
    out.body["items"] = [lowering.lower(item, out.depth + 1) for item in prefix]
    if rest is not None:
        out.body["additionalItems"] = lowering.lower(rest, out.depth + 1)


def _contains(lowering: Lowering, out: LoweredSchema, _keyword: str) -> None:
    in_force = out.subschema.dialect.keywords
    least = as_literal(out.schema.get("minContains", 1) if "minContains" in in_force else 1)
    most = as_literal(out.schema.get("maxContains") if "maxContains" in in_force else None)
    if least == 0 and most is None:
        return
    lowered = {"contains": lowering.lower(out.schema["contains"], out.depth + 1)}
    bounds = {"minContains": least} if most is None else {"minContains": least, "maxContains": most}
    out.put({**lowered, **bounds})


def _dependencies(lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    dependents: Any = out.schema[keyword]
    lowered = {
        name: dependent if isinstance(dependent, list) else lowering.lower(dependent, out.depth + 1)
        for name, dependent in dependents.items()
    }
    if lowered:
        out.put({"dependencies": lowered})


def _reference(lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    out.add(lowering.reference(out.subschema, keyword))


def _unevaluated_properties(lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    evaluated = evaluated_properties(out.subschema, lowering.survey)
    if evaluated is not None:
        out.add(
            {
                "properties": dict.fromkeys(evaluated.names, True),
                "patternProperties": {lowering.pattern(p): True for p in evaluated.patterns},
                "additionalProperties": lowering.lower(out.schema[keyword], out.depth + 1),
            }
        )


def _unevaluated_items(lowering: Lowering, out: LoweredSchema, keyword: str) -> None:
    count = evaluated_items(out.subschema, lowering.survey)
    if count is not None:
        rest = lowering.lower(out.schema[keyword], out.depth + 1)
        out.add({"items": [True] * count, "additionalItems": rest})


RULES: Mapping[str, _Rule] = MappingProxyType(
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
        "maximum": _minimum,
        "exclusiveMaximum": _exclusive,
        "minimum": _minimum,
        "exclusiveMinimum": _exclusive,
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
