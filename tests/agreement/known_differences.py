"""Where jsonschema-rs 0.60 is known to judge wrongly, and the engines rightly.

The random material keeps away from these by construction: nothing that the judges
say is ever ignored. A row that jsonschema-rs has come to judge rightly fails its
test, and the material can then be widened.
"""

from dataclasses import dataclass
from typing import Any

from agreement.editions import EDITIONS, Edition, edition_named
from sidecheck_server.core.schemas.keywords import Draft

__all__ = ["KNOWN_DIFFERENCES", "KnownDifference", "is_avoided"]


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """One payload that jsonschema-rs judges wrongly, and how the material avoids its like."""

    name: str
    edition: Edition
    schema: Any
    payload: Any
    #: The right verdict, with the clause that says so.
    valid: bool
    clause: str
    #: How the material keeps away from it.
    avoided: str


KNOWN_DIFFERENCES = (
    KnownDifference(
        "an integer beyond 2^63 and the double that equals it",
        EDITIONS[-1],
        {"const": 2**64},
        2.0**64,
        True,
        "2020-12 core, section 4.2.2: numbers are equal if their mathematical values are",
        "no double of the material is equal or near to an integer of it beyond 2^53",
    ),
    KnownDifference(
        "an integer between two doubles beyond 2^64",
        EDITIONS[-1],
        {"maximum": 2.0**64},
        2**64 + 1,
        False,
        "2020-12 validation, section 6.2.2: less than or exactly equal",
        "no double of the material is equal or near to an integer of it beyond 2^53",
    ),
    KnownDifference(
        "a double beyond 2^64 taken by its shortest text and not by its value",
        EDITIONS[-1],
        {"const": 10**30},
        1e30,
        False,
        "2020-12 core, section 4.2.2; 1e30 as a double is 1000000000000000019884624838656",
        "no double of the material is equal or near to an integer of it beyond 2^53",
    ),
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
    """Return whether *schema* is of a kind that the judges may rightly differ about.

    It has what the table avoids, or gives one identifier twice, the effect of which
    is left open (2020-12 core, section 8.2.2).
    """
    keys: set[str] = set()
    identifiers: list[Any] = []
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if value.get("$ref") == "":
                return True
            keys |= value.keys()
            identifiers += [value[name] for name in _IDENTIFIERS if name in value]
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    together = {"contains", "unevaluatedItems"} <= keys
    names = [name for name in identifiers if isinstance(name, str)]
    repeated = len(set(names)) < len(names)
    return repeated or (together and edition.draft is Draft.DRAFT_2019_09)


_IDENTIFIERS = ("$id", "id", "$anchor", "$dynamicAnchor")
