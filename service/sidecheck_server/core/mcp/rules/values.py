"""Values and texts.

Faults against the published schema of a type have one rule for each keyword. They are found
by validating a value against the schema of its type. Faults of JSON texts are found by
decoding.
"""

from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.rules.rule import Clause, Rule, type_clause
from sidecheck_server.core.types import Severity

__all__ = ["KEYWORD_RULES", "RULES"]

_SCHEMA = type_clause()
# Messages follow JSON-RPC, which uses JSON unchanged.
_JSON_RPC = Clause("basic", "messages", before=(("2024-11-05", "basic/messages", ""),))


def _keyword(code: str, requirement: str, since: str = VERSIONS[0]) -> Rule:
    return Rule(code, Severity.ERROR, _SCHEMA, requirement, ("*",), since=since)


def _text(code: str, requirement: str) -> Rule:
    return Rule(code, Severity.ERROR, _JSON_RPC, requirement, ("*",))


KEYWORD_RULES: tuple[Rule, ...] = (
    _keyword("TYPE", "A value MUST have the JSON type that the schema of its type demands."),
    _keyword("REQUIRED", "An object MUST have the required properties of its type."),
    _keyword("CONST", "A property with one allowed value MUST have that value."),
    _keyword("ENUM", "A property with a list of allowed values MUST have one of them."),
    _keyword("MINIMUM", "A number MUST NOT be less than its minimum."),
    _keyword("MAXIMUM", "A number MUST NOT be greater than its maximum."),
    _keyword(
        "MAX_ITEMS", "An array MUST NOT have more items than its maximum.", since="2026-07-28"
    ),
    _keyword("ADDITIONAL_PROPERTIES", "A closed object MUST NOT have other properties."),
    _keyword("ANY_OF", "A value MUST be of one of the types that are allowed at its place."),
)
"""Rules of the published schemas."""

RULES: tuple[Rule, ...] = (
    *KEYWORD_RULES,
    _text("PAYLOAD_NOT_JSON", "A text MUST be JSON in UTF-8."),
    _text("DUPLICATE_KEY", "An object MUST NOT have two properties of the same name."),
)
"""Rules on values and JSON texts."""
