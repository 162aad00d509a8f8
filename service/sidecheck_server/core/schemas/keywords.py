"""Table of the keywords of JSON Schema: their drafts, vocabularies and subschemas.

The table is the only definition of the positions of subschemas, so that a ``$ref`` inside
``const`` or a property named ``default`` is never mistaken for a keyword. All code that
walks schemas uses it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["APPLICATORS", "KEYWORDS", "Keyword", "Position", "keywords_of", "subschemas"]


class Position(Enum):
    """Position of the subschemas in the value of a keyword."""

    NONE = "none"
    SCHEMA = "schema"
    SCHEMAS = "array of schemas"
    SCHEMA_MAP = "object whose values are schemas"
    SCHEMA_OR_SCHEMAS = "schema or array of schemas"
    SCHEMA_OR_NAMES_MAP = "object whose values are schemas or arrays of names"


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword with its vocabulary, the drafts that have it, and its subschemas."""

    name: str
    #: The last segment of the vocabulary's URI.
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
    # Renamed to $defs in 2019-09, which still reserves the old name.
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
    # Split in two in 2019-09, which recommends continued support (2019-09 validation,
    # appendix A).
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
"""Keywords of each draft by name; all other keywords are annotations."""

APPLICATORS: Mapping[Draft, Mapping[str, Position]] = MappingProxyType(
    {
        draft: MappingProxyType(
            {row.name: row.position for row in rows.values() if row.position is not Position.NONE}
        )
        for draft, rows in KEYWORDS.items()
    }
)
"""Keywords of each draft that have subschemas, and the positions of these in their values."""


def keywords_of(draft: Draft, vocabularies: frozenset[str]) -> frozenset[str]:
    """Return the names of the keywords in *vocabularies* of *draft*.

    The core vocabulary is always in force (2020-12 core, section 8.1.2).
    """
    active = vocabularies | {"core"}
    if "format-assertion" in active:
        active |= {"format-annotation"}
    return frozenset(row.name for row in KEYWORDS[draft].values() if row.vocabulary in active)


def subschemas(
    schema: Mapping[str, JsonValue], draft: Draft
) -> list[tuple[tuple[str | int, ...], JsonValue]]:
    """Return the direct subschemas of *schema*, each with the path to it.

    Every value at the position of a subschema is included; only validation against the
    meta-schema decides whether it is a schema.
    """
    applicators = APPLICATORS[draft]
    children: list[tuple[tuple[str | int, ...], JsonValue]] = []
    for name, value in schema.items():
        position = applicators.get(name)
        if position is None:
            continue
        if position is Position.SCHEMA or (
            position is Position.SCHEMA_OR_SCHEMAS and not isinstance(value, list)
        ):
            children.append(((name,), value))
        elif isinstance(value, list):
            children += [((name, index), item) for index, item in enumerate(value)]
        elif isinstance(value, dict):
            children += [
                ((name, key), item)
                for key, item in value.items()
                if position is Position.SCHEMA_MAP or not isinstance(item, list)
            ]
    return children
