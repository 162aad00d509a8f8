"""The rules of lowering: what each keyword becomes in the canonical form.

A rule is a function of the lowering under way, the canonical form that grows, and the
keyword. Its table, `RULES`, is the list of what can be lowered at all.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from sidecheck_server.core.compiler.evaluated_locations import evaluated_items, evaluated_properties
from sidecheck_server.core.schemas.canonical import Canonical
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.schemas.references import Subschema, Survey
from sidecheck_server.core.types import JsonValue

__all__ = ["RULES", "Growing", "Lowering"]


class Lowering(Protocol):
    """A lowering under way."""

    survey: Survey
    assert_formats: Callable[[Dialect, str], bool]

    def lower(self, schema: JsonValue, depth: int) -> Canonical:
        """Return *schema* in canonical form, *depth* levels below its definition."""

    def reference(self, here: Subschema, keyword: str) -> Canonical:
        """Return what the reference *keyword* of *here* leads to."""

    def pattern(self, source: str) -> int:
        """Return the number of a pattern."""

    def format(self, name: str) -> int:
        """Return the number of a format."""

    def constant(self, value: JsonValue) -> Any:
        """Return a constant as it stands in the canonical form."""


class Growing:
    """The canonical form of one subschema while it grows."""

    def __init__(self, here: Subschema, depth: int) -> None:
        self.here = here
        self.schema = here.schema
        self.depth = depth
        self.body: dict[str, Any] = {}
        self.conjuncts: list[Canonical] = []

    def add(self, conjunct: Canonical) -> None:
        """Demand *conjunct* too."""
        if conjunct is not True and conjunct != {}:
            self.conjuncts.append(conjunct)

    def put(self, keywords: dict[str, Any]) -> None:
        """Demand *keywords*, which belong together, beside what is there if they fit."""
        if self.body.keys() & keywords.keys():
            self.conjuncts.append(keywords)
        else:
            self.body |= keywords

    def joined(self) -> Canonical:
        """Return the whole."""
        if not self.conjuncts:
            return self.body
        if not self.body and len(self.conjuncts) == 1:
            return self.conjuncts[0]
        own = [self.body] if self.body else []
        return {"allOf": [*own, *self.conjuncts]}


_Rule = Callable[[Lowering, Growing, str], None]


def _nothing(_lowering: Lowering, _out: Growing, _keyword: str) -> None:
    """Have no effect on a verdict, or have it where a neighbour is lowered."""


def _as_is(_lowering: Lowering, out: Growing, keyword: str) -> None:
    out.body[keyword] = out.schema[keyword]


def _type(_lowering: Lowering, out: Growing, _keyword: str) -> None:
    named: Any = out.schema["type"]
    types = list(named) if isinstance(named, list) else [named]
    if out.here.dialect.draft is Draft.DRAFT_04:
        # In draft 4 an integer is a number written without fraction or exponent
        # (draft-04 core, section 3.5).
        types = ["int" if name == "integer" else name for name in types]
    out.body["type"] = types


def _enum(lowering: Lowering, out: Growing, _keyword: str) -> None:
    values: Any = out.schema["enum"]
    out.put({"enum": [lowering.constant(value) for value in values]})


def _const(lowering: Lowering, out: Growing, _keyword: str) -> None:
    out.put({"enum": [lowering.constant(out.schema["const"])]})


def _minimum(_lowering: Lowering, out: Growing, keyword: str) -> None:
    exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}[keyword]
    # In draft 4 the exclusive forms are flags (draft-04 validation, 5.1.2 and 5.1.3).
    name = exclusive if out.schema.get(exclusive) is True else keyword
    out.body[name] = out.schema[keyword]


def _exclusive(_lowering: Lowering, out: Growing, keyword: str) -> None:
    if out.here.dialect.draft is not Draft.DRAFT_04:
        out.body[keyword] = out.schema[keyword]


def _unique(_lowering: Lowering, out: Growing, _keyword: str) -> None:
    if out.schema["uniqueItems"] is True:
        out.body["uniqueItems"] = True


def _pattern(lowering: Lowering, out: Growing, _keyword: str) -> None:
    out.body["pattern"] = lowering.pattern(str(out.schema["pattern"]))


def _format(lowering: Lowering, out: Growing, _keyword: str) -> None:
    name = str(out.schema["format"])
    if lowering.assert_formats(out.here.dialect, name):
        out.body["format"] = lowering.format(name)


def _one(lowering: Lowering, out: Growing, keyword: str) -> None:
    out.body[keyword] = lowering.lower(out.schema[keyword], out.depth + 1)


def _all_of(lowering: Lowering, out: Growing, _keyword: str) -> None:
    branches: Any = out.schema["allOf"]
    for branch in branches:
        out.add(lowering.lower(branch, out.depth + 1))


def _union(lowering: Lowering, out: Growing, keyword: str) -> None:
    branches: Any = out.schema[keyword]
    lowered = [lowering.lower(branch, out.depth + 1) for branch in branches]
    out.put({keyword: lowered})


def _if(lowering: Lowering, out: Growing, _keyword: str) -> None:
    parts = [name for name in ("if", "then", "else") if name in out.schema]
    if len(parts) > 1:
        out.put({name: lowering.lower(out.schema[name], out.depth + 1) for name in parts})


def _properties(lowering: Lowering, out: Growing, keyword: str) -> None:
    members: Any = out.schema[keyword]
    out.body[keyword] = {
        name: lowering.lower(schema, out.depth + 1) for name, schema in members.items()
    }


def _pattern_properties(lowering: Lowering, out: Growing, keyword: str) -> None:
    members: Any = out.schema[keyword]
    out.body[keyword] = {
        lowering.pattern(source): lowering.lower(schema, out.depth + 1)
        for source, schema in members.items()
    }


def _additional_properties(lowering: Lowering, out: Growing, keyword: str) -> None:
    lowered = lowering.lower(out.schema[keyword], out.depth + 1)
    if lowered is not True and lowered != {}:
        out.body[keyword] = lowered


def _items(lowering: Lowering, out: Growing, _keyword: str) -> None:
    if "items" in out.body:
        return  # Lowered along with its neighbour.
    first: Any = out.schema.get("prefixItems")
    rest: Any = out.schema.get("items")
    if out.here.dialect.draft is not Draft.DRAFT_2020_12:
        listed = isinstance(rest, list)
        first, rest = (rest, out.schema.get("additionalItems")) if listed else (None, rest)
    if first is None:
        out.body["items"] = lowering.lower(rest, out.depth + 1)
        return
    out.body["items"] = [lowering.lower(item, out.depth + 1) for item in first]
    if rest is not None:
        out.body["additionalItems"] = lowering.lower(rest, out.depth + 1)


def _contains(lowering: Lowering, out: Growing, _keyword: str) -> None:
    in_force = out.here.dialect.keywords
    least: Any = out.schema.get("minContains", 1) if "minContains" in in_force else 1
    most: Any = out.schema.get("maxContains") if "maxContains" in in_force else None
    if least == 0 and most is None:
        return
    lowered = {"contains": lowering.lower(out.schema["contains"], out.depth + 1)}
    bounds = {"minContains": least} if most is None else {"minContains": least, "maxContains": most}
    out.put({**lowered, **bounds})


def _dependencies(lowering: Lowering, out: Growing, keyword: str) -> None:
    members: Any = out.schema[keyword]
    lowered = {
        name: needed if isinstance(needed, list) else lowering.lower(needed, out.depth + 1)
        for name, needed in members.items()
    }
    if lowered:
        out.put({"dependencies": lowered})


def _reference(lowering: Lowering, out: Growing, keyword: str) -> None:
    out.add(lowering.reference(out.here, keyword))


def _unevaluated_properties(lowering: Lowering, out: Growing, keyword: str) -> None:
    found = evaluated_properties(out.here, lowering.survey)
    if found is not None:
        out.add(
            {
                "properties": dict.fromkeys(found.names, True),
                "patternProperties": {lowering.pattern(p): True for p in found.patterns},
                "additionalProperties": lowering.lower(out.schema[keyword], out.depth + 1),
            }
        )


def _unevaluated_items(lowering: Lowering, out: Growing, keyword: str) -> None:
    count = evaluated_items(out.here, lowering.survey)
    if count is not None:
        rest = lowering.lower(out.schema[keyword], out.depth + 1)
        out.add({"items": [True] * count, "additionalItems": rest})


RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        "$ref": _reference,
        "$dynamicRef": _reference,
        "$recursiveRef": _reference,
        "$defs": _nothing,
        "definitions": _nothing,
        "allOf": _all_of,
        "anyOf": _union,
        "oneOf": _union,
        "not": _one,
        "if": _if,
        "then": _nothing,
        "else": _nothing,
        "dependentSchemas": _dependencies,
        "dependentRequired": _dependencies,
        "dependencies": _dependencies,
        "prefixItems": _items,
        "items": _items,
        "additionalItems": _nothing,
        "contains": _contains,
        "minContains": _nothing,
        "maxContains": _nothing,
        "properties": _properties,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "propertyNames": _one,
        "unevaluatedItems": _unevaluated_items,
        "unevaluatedProperties": _unevaluated_properties,
        "type": _type,
        "enum": _enum,
        "const": _const,
        "multipleOf": _as_is,
        "maximum": _minimum,
        "exclusiveMaximum": _exclusive,
        "minimum": _minimum,
        "exclusiveMinimum": _exclusive,
        "maxLength": _as_is,
        "minLength": _as_is,
        "pattern": _pattern,
        "maxItems": _as_is,
        "minItems": _as_is,
        "uniqueItems": _unique,
        "maxProperties": _as_is,
        "minProperties": _as_is,
        "required": _as_is,
        "format": _format,
        "contentSchema": _nothing,
    }
)
