"""Values and texts.

Faults against the published schema of a type have one rule for each keyword. They are found
by validating a value against the schema of its type. Faults of JSON texts are found by
decoding.
"""

from sidecheck_server.core.mcp.rules.rule import Clause, Group, RuleSet, type_clause
from sidecheck_server.core.types import Severity

__all__ = ["KEYWORD_RULES"]

_SCHEMA = type_clause()
# Messages follow JSON-RPC, which uses JSON unchanged.
_JSON_RPC = Clause("basic", "messages", before=(("2024-11-05", "basic/messages", ""),))


KEYWORD_RULES = RuleSet(Group.VALUES, on="*")
"""Rules of the published schemas."""

for _code, _requirement in (
    ("TYPE", "A value MUST have the JSON type that the schema of its type demands."),
    ("REQUIRED", "An object MUST have the required properties of its type."),
    ("CONST", "A property with one allowed value MUST have that value."),
    ("ENUM", "A property with a list of allowed values MUST have one of them."),
    ("MINIMUM", "A number MUST NOT be less than its minimum."),
    ("MAXIMUM", "A number MUST NOT be greater than its maximum."),
    ("MAX_ITEMS", "An array MUST NOT have more items than its maximum."),
    ("ADDITIONAL_PROPERTIES", "A closed object MUST NOT have other properties."),
    ("ANY_OF", "A value MUST be of one of the types that are allowed at its place."),
):
    KEYWORD_RULES.declare(
        _code,
        Severity.ERROR,
        _SCHEMA,
        _requirement,
        since="2026-07-28" if _code == "MAX_ITEMS" else "",
    )

_TEXT_RULES = RuleSet(Group.VALUES, on="*")
_TEXT_RULES.declare("PAYLOAD_NOT_JSON", Severity.ERROR, _JSON_RPC, "A text MUST be JSON in UTF-8.")
_TEXT_RULES.declare(
    "DUPLICATE_KEY",
    Severity.ERROR,
    _JSON_RPC,
    "An object MUST NOT have two properties of the same name.",
)
