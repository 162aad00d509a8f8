"""Subset of JSON Schema that a provider supports."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TypeVar

from sidecheck_server.core.schemas.keywords import KEYWORDS
from sidecheck_server.core.types import Draft

__all__ = [
    "ALL_KEYWORDS",
    "Patterns",
    "References",
    "SchemaLimits",
    "Subset",
    "intersect_subsets",
]

Member = TypeVar("Member")

_ANNOTATIONS = frozenset(
    {
        "$comment",
        "contentEncoding",
        "contentMediaType",
        "default",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    }
)
"""Keywords that assert nothing (2020-12 validation, sections 8 and 9)."""

# `Subset.references` describes the support of these.
_REFERENCES = frozenset({"$defs", "$dynamicRef", "$ref", "definitions"})
# Accepted for compatibility, but not a keyword of 2020-12 (2020-12 core, appendix C).
_LEGACY = frozenset({"dependencies"})

ALL_KEYWORDS = (frozenset(KEYWORDS[Draft.DRAFT_2020_12]) | _ANNOTATIONS) - _REFERENCES - _LEGACY
"""The assertions, applicators and annotations of 2020-12."""


class References(Enum):
    """Where ``$ref`` is allowed."""

    #: Nowhere; targets are inlined.
    NOWHERE = "nowhere"
    #: Without sibling keywords.
    ALONE = "alone"
    #: With sibling keywords.
    ANYWHERE = "anywhere"


class Patterns(Enum):
    """Regular expressions that ``pattern`` and ``patternProperties`` may contain."""

    #: Patterns that Python's ``re`` compiles.
    PYTHON = "python"
    #: Patterns that also have no look-around.
    WITHOUT_LOOK_AROUND = "without look-around"
    #: Patterns that also have no back-references and no word boundaries.
    REGULAR = "regular"
    #: Of those, the ones from ``^`` to ``$`` without shorthand classes: grammars for decoding.
    GRAMMAR = "grammar"


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Limits on the size of one schema; None is no limit."""

    #: Declared properties, in all objects together.
    properties: int | None = None
    #: Objects and arrays on the path to a property, including the root.
    depth: int | None = None
    #: Characters of names of properties and definitions and of values of enum and const.
    text: int | None = None
    #: Values of all enums together.
    enum_values: int | None = None
    #: Characters of the values of one enum of more than 250 strings.
    enum_text: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """Subset of JSON Schema that a provider supports; conversion sends nothing else."""

    #: Supported keywords of 2020-12, including annotations; None is `ALL_KEYWORDS`.
    #: `references` describes the support of ``$ref`` and ``$defs``.
    keywords: frozenset[str] | None = None
    #: Keywords that are supported below the root only.
    not_at_root: frozenset[str] = frozenset()
    references: References = References.ANYWHERE
    #: Whether a reference may lead back to a node above it.
    recursion: bool = True
    #: Whether ``true`` and ``false`` are schemas.
    boolean_schemas: bool = True
    #: Whether ``type`` may be a list.
    type_lists: bool = True
    #: Whether ``nullable: true`` (OpenAPI 3.0), rather than a type, admits null.
    nullable: bool = False
    #: Whether types are in upper case.
    upper_case_types: bool = False
    #: Whether every schema must have ``type``, ``anyOf``, ``enum`` or ``$ref``.
    typed: bool = False
    #: Whether the root must have ``properties``.
    properties_at_root: bool = False
    #: Whether every array must have ``items``.
    items: bool = False
    #: Whether an object below the root may declare no properties.
    empty_objects: bool = True
    #: Whether ``enum`` is limited to strings of one character or more.
    enum_of_strings: bool = False
    #: Whether ``anyOf`` is allowed without sibling keywords only, even ``description``.
    any_of_alone: bool = False
    #: Supported values of ``format``; None is any.
    formats: frozenset[str] | None = None
    #: Supported values of ``minItems``; None is any.
    min_items: frozenset[int] | None = None
    patterns: Patterns = Patterns.PYTHON
    #: Whether the first properties of the objects of a union must have different names, or
    #: different constants.
    distinct_first_properties: bool = False
    #: Whether every object must have ``additionalProperties: false``.
    closed: bool = False
    #: Whether every property must be required.
    all_required: bool = False
    limits: SchemaLimits = field(default_factory=SchemaLimits)

    def supports(self, keyword: str) -> bool:
        """Return whether the subset has *keyword*, which is not about references."""
        return self.keywords is None or keyword in self.keywords


def intersect_subsets(subsets: Iterable[Subset]) -> Subset:
    """Return the subset of what all *subsets* support."""
    result = Subset()
    for subset in subsets:
        result = _intersect(result, subset)
    return result


_NARROWED_BY_FALSE = ("boolean_schemas", "empty_objects", "recursion", "type_lists")
_NARROWED_BY_TRUE = (
    "all_required",
    "any_of_alone",
    "closed",
    "distinct_first_properties",
    "enum_of_strings",
    "items",
    "nullable",
    "properties_at_root",
    "typed",
    "upper_case_types",
)


def _intersect(left: Subset, right: Subset) -> Subset:
    flags = {name: getattr(left, name) and getattr(right, name) for name in _NARROWED_BY_FALSE}
    flags |= {name: getattr(left, name) or getattr(right, name) for name in _NARROWED_BY_TRUE}
    return Subset(
        keywords=_common(left.keywords, right.keywords),
        not_at_root=left.not_at_root | right.not_at_root,
        references=min(left.references, right.references, key=list(References).index),
        formats=_common(left.formats, right.formats),
        min_items=_common(left.min_items, right.min_items),
        patterns=max(left.patterns, right.patterns, key=list(Patterns).index),
        limits=SchemaLimits(
            **{
                limit.name: min(
                    (
                        value
                        for limits in (left.limits, right.limits)
                        if (value := getattr(limits, limit.name)) is not None
                    ),
                    default=None,
                )
                for limit in fields(SchemaLimits)
            }
        ),
        **flags,
    )


def _common(
    left: frozenset[Member] | None, right: frozenset[Member] | None
) -> frozenset[Member] | None:
    """Return the intersection of two sets; None is the set of everything."""
    if left is None or right is None:
        return right if left is None else left
    return left & right
