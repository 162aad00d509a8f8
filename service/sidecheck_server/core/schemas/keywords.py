"""The keywords of JSON Schema: in which dialects they stand, and where subschemas are.

This table is the one place that knows at which positions of a schema there are
subschemas, so that a ``$ref`` inside ``const`` or a property named ``default`` is
never mistaken for a keyword. Everything that walks schemas walks by it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from sidecheck_server.core.types import JsonValue

__all__ = ["KEYWORDS", "Draft", "Keyword", "Position", "keywords_of", "subschemas"]


class Draft(Enum):
    """The published releases of JSON Schema that are supported, in order of time."""

    DRAFT_04 = 4
    DRAFT_06 = 6
    DRAFT_07 = 7
    DRAFT_2019_09 = 8
    DRAFT_2020_12 = 9


class Position(Enum):
    """Where a keyword's value holds subschemas."""

    NONE = "none"
    SCHEMA = "schema"
    SCHEMAS = "array of schemas"
    SCHEMA_MAP = "object whose values are schemas"
    SCHEMA_OR_SCHEMAS = "schema or array of schemas"
    SCHEMA_OR_NAMES_MAP = "object whose values are schemas or arrays of names"


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword: its vocabulary, the drafts that have it, its subschemas."""

    name: str
    #: The last segment of the vocabulary's URI; "" before vocabularies were.
    vocabulary: str
    since: Draft = Draft.DRAFT_04
    until: Draft = Draft.DRAFT_2020_12
    position: Position = Position.NONE


_D4, _D6, _D7, _D19, _D20 = Draft

_TABLE = (
    # Core (2020-12 core, section 8)
    Keyword("$ref", "core"),
    Keyword("$recursiveRef", "core", _D19, _D19),
    Keyword("$dynamicRef", "core", _D20),
    Keyword("$defs", "core", _D19, position=Position.SCHEMA_MAP),
    # Renamed to $defs in 2019-09, which keeps the old name readable.
    Keyword("definitions", "core", position=Position.SCHEMA_MAP),
    # Applicators (2020-12 core, section 10)
    Keyword("allOf", "applicator", position=Position.SCHEMAS),
    Keyword("anyOf", "applicator", position=Position.SCHEMAS),
    Keyword("oneOf", "applicator", position=Position.SCHEMAS),
    Keyword("not", "applicator", position=Position.SCHEMA),
    Keyword("if", "applicator", _D7, position=Position.SCHEMA),
    Keyword("then", "applicator", _D7, position=Position.SCHEMA),
    Keyword("else", "applicator", _D7, position=Position.SCHEMA),
    Keyword("dependentSchemas", "applicator", _D19, position=Position.SCHEMA_MAP),
    # Split in two in 2019-09, which asks implementations to go on reading it
    # (2019-09 validation, appendix A).
    Keyword("dependencies", "applicator", position=Position.SCHEMA_OR_NAMES_MAP),
    Keyword("prefixItems", "applicator", _D20, position=Position.SCHEMAS),
    Keyword("items", "applicator", until=_D19, position=Position.SCHEMA_OR_SCHEMAS),
    Keyword("items", "applicator", _D20, position=Position.SCHEMA),
    Keyword("additionalItems", "applicator", until=_D19, position=Position.SCHEMA),
    Keyword("contains", "applicator", _D6, position=Position.SCHEMA),
    Keyword("properties", "applicator", position=Position.SCHEMA_MAP),
    Keyword("patternProperties", "applicator", position=Position.SCHEMA_MAP),
    Keyword("additionalProperties", "applicator", position=Position.SCHEMA),
    Keyword("propertyNames", "applicator", _D6, position=Position.SCHEMA),
    # Unevaluated (a part of the applicators in 2019-09)
    Keyword("unevaluatedItems", "applicator", _D19, _D19, Position.SCHEMA),
    Keyword("unevaluatedProperties", "applicator", _D19, _D19, Position.SCHEMA),
    Keyword("unevaluatedItems", "unevaluated", _D20, position=Position.SCHEMA),
    Keyword("unevaluatedProperties", "unevaluated", _D20, position=Position.SCHEMA),
    # Validation (2020-12 validation, section 6)
    Keyword("type", "validation"),
    Keyword("enum", "validation"),
    Keyword("const", "validation", _D6),
    Keyword("multipleOf", "validation"),
    Keyword("maximum", "validation"),
    Keyword("exclusiveMaximum", "validation"),
    Keyword("minimum", "validation"),
    Keyword("exclusiveMinimum", "validation"),
    Keyword("maxLength", "validation"),
    Keyword("minLength", "validation"),
    Keyword("pattern", "validation"),
    Keyword("maxItems", "validation"),
    Keyword("minItems", "validation"),
    Keyword("uniqueItems", "validation"),
    Keyword("maxContains", "validation", _D19),
    Keyword("minContains", "validation", _D19),
    Keyword("maxProperties", "validation"),
    Keyword("minProperties", "validation"),
    Keyword("required", "validation"),
    Keyword("dependentRequired", "validation", _D19),
    # Format (2020-12 validation, section 7)
    Keyword("format", "format", until=_D19),
    Keyword("format", "format-annotation", _D20),
    # Content: annotations (2020-12 validation, section 8)
    Keyword("contentSchema", "content", _D19, position=Position.SCHEMA),
)


def _by_draft() -> Iterator[tuple[Draft, Mapping[str, Keyword]]]:
    for draft in Draft:
        rows = [row for row in _TABLE if row.since.value <= draft.value <= row.until.value]
        yield draft, MappingProxyType({row.name: row for row in rows})


KEYWORDS: Mapping[Draft, Mapping[str, Keyword]] = MappingProxyType(dict(_by_draft()))
"""The keywords of each draft by name. What is not here is an annotation."""


def keywords_of(draft: Draft, vocabularies: frozenset[str]) -> frozenset[str]:
    """Return the names of the keywords that *vocabularies* of *draft* bring.

    The core vocabulary is always in force (2020-12 core, section 8.1.2).
    """
    active = vocabularies | {"core"}
    if "format-assertion" in active:
        active |= {"format-annotation"}
    return frozenset(row.name for row in KEYWORDS[draft].values() if row.vocabulary in active)


def subschemas(
    schema: Mapping[str, JsonValue], draft: Draft
) -> Iterator[tuple[tuple[str | int, ...], JsonValue]]:
    """Yield the direct subschemas of an object *schema* with the path to each.

    What stands at a subschema's position is yielded whatever it is; only the
    meta-schema knows whether it is a schema.
    """
    table = KEYWORDS[draft]
    for name, value in schema.items():
        row = table.get(name)
        if row is None or row.position is Position.NONE:
            continue
        if row.position is Position.SCHEMA or (
            row.position is Position.SCHEMA_OR_SCHEMAS and not isinstance(value, list)
        ):
            yield (name,), value
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield (name, index), item
        elif isinstance(value, dict):
            for key, item in value.items():
                if row.position is Position.SCHEMA_MAP or not isinstance(item, list):
                    yield (name, key), item
