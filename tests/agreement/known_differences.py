"""Known wrong verdicts of jsonschema-rs 0.60, for which the engines are correct.

The generators avoid these cases by construction, so that every disagreement is reported. The
test of a row fails once jsonschema-rs is correct; then the generators can cover it.
"""

from dataclasses import dataclass
from typing import Any

from agreement.editions import EDITIONS, Edition, edition_named
from sidecheck_server.core.types import Draft

__all__ = ["KNOWN_DIFFERENCES", "KnownDifference", "is_avoided", "never_together"]


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A payload with a wrong verdict of jsonschema-rs."""

    name: str
    edition: Edition
    schema: Any
    payload: Any
    #: The correct verdict, and the clause of the specification that requires it.
    valid: bool
    clause: str
    #: The restriction of the generators that avoids it.
    avoided: str


KNOWN_DIFFERENCES = (
    KnownDifference(
        "the dot and a line separator",
        EDITIONS[-1],
        {"pattern": "^.$"},
        "\u2028",
        False,
        "ECMA-262, section 22.2.2.7: the dot matches all but line terminators",
        "no text of the material has U+2028 or U+2029",
    ),
    KnownDifference(
        "unevaluatedItems beside contains in 2019-09",
        edition_named("2019-09"),
        {"contains": True, "unevaluatedItems": False},
        [1],
        False,
        "2019-09 core, section 9.3.1.3: items and additionalItems evaluate; contains does not",
        "no schema of 2019-09 has both keywords",
    ),
    KnownDifference(
        "unevaluatedProperties beside dependencies since 2019-09",
        EDITIONS[-1],
        {"unevaluatedProperties": False, "dependencies": {"a": {"properties": {"a": True}}}},
        {"a": 1},
        True,
        "2020-12 core, section 11.3: what any applicator evaluates in place; 2019-09 validation,"
        " appendix A: `dependencies` may go on working as one",
        "no schema since 2019-09 has both keywords",
    ),
    KnownDifference(
        "a static reference to an anchor that is also dynamic",
        EDITIONS[-1],
        {
            "$dynamicAnchor": "n",
            "$ref": "http://example.com/a#n",
            "$defs": {"a": {"$id": "http://example.com/a", "$dynamicAnchor": "n", "type": "null"}},
        },
        1,
        False,
        "2020-12 core, section 8.2.2: to $ref, $dynamicAnchor is an $anchor",
        "if two resources have a dynamic anchor, $ref does not use its name",
    ),
    KnownDifference(
        "the dynamic scope around a resource that is entered without a reference",
        EDITIONS[-1],
        {
            "type": "object",
            "$dynamicAnchor": "n",
            "properties": {
                "a": {
                    "$id": "http://example.com/a",
                    "$defs": {"n": {"$dynamicAnchor": "n"}},
                    "items": {"$dynamicRef": "#n"},
                }
            },
        },
        {"a": [1]},
        False,
        "2020-12 core, section 7.1: the dynamic scope begins where evaluation does",
        "beside dynamic anchors, only definitions are resources",
    ),
    KnownDifference(
        "the dynamic scope around a resource that an empty fragment leads to",
        edition_named("2019-09"),
        {
            "type": "array",
            "$recursiveAnchor": True,
            "items": {"$ref": "http://example.com/a#"},
            "$defs": {
                "a": {
                    "$id": "http://example.com/a",
                    "$recursiveAnchor": True,
                    "$recursiveRef": "#",
                }
            },
        },
        [1],
        False,
        "2019-09 core, section 8.2.4.2: the outermost resource in the dynamic scope",
        "beside dynamic anchors, no reference with a URI ends in an empty fragment",
    ),
    KnownDifference(
        "an empty reference",
        EDITIONS[-1],
        {"type": "array", "items": {"$ref": ""}},
        [1],
        False,
        "RFC 3986, section 4.4: an empty reference leads to the document that it stands in",
        "schemas with an empty reference are not asked about",
    ),
)


def is_avoided(edition: Edition, schema: Any) -> bool:
    """Return whether the validators may legitimately differ on *schema*.

    It has keywords that the table avoids, or repeats an identifier, whose effect is
    undefined (2020-12 core, section 8.2.2).
    """
    keys: set[str] = set()
    identifiers: list[Any] = []
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if any(value.get(name) == "" for name in ("$ref", "$dynamicRef", "$recursiveRef")):
                return True
            keys |= value.keys()
            identifiers += [value[name] for name in _IDENTIFIERS if name in value]
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    together = any(
        all(keys & set(keywords) for keywords in groups) for groups in never_together(edition)
    )
    names = [name for name in identifiers if isinstance(name, str)]
    repeated = len(set(names)) < len(names)
    return repeated or together


def never_together(edition: Edition) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return pairs of groups of keywords: no schema of *edition* has keywords of both."""
    pairs: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    if edition.draft is Draft.DRAFT_2019_09:
        pairs.append((("contains",), ("unevaluatedItems",)))
    if edition.since(Draft.DRAFT_2019_09):
        pairs.append((("dependencies",), ("unevaluatedItems", "unevaluatedProperties")))
    return pairs


_IDENTIFIERS = ("$id", "id", "$anchor", "$dynamicAnchor")
