"""What the published schema of a type says: one rule for each keyword.

They hold for values of every type. What breaks one is found by judging the value under
the schema of its type, and told at the very place.
"""

from sidecheck_server.core.mcp.rules.rule import Rule, of_type
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_SCHEMA = of_type()


def _keyword(code: str, sentence: str, since: str = VERSIONS[0]) -> Rule:
    return Rule(code, Severity.ERROR, _SCHEMA, sentence, ("*",), since=since)


RULES: tuple[Rule, ...] = (
    _keyword("TYPE", "A value has the JSON type that the schema of its type asks for."),
    _keyword("REQUIRED", "An object has the members that its type requires."),
    _keyword("CONST", "A member with one allowed value has that value."),
    _keyword("ENUM", "A member with a few allowed values has one of them."),
    _keyword("MINIMUM", "A number is not less than the least that is allowed."),
    _keyword("MAXIMUM", "A number is not greater than the greatest that is allowed."),
    _keyword("MAX_ITEMS", "An array has no more items than are allowed.", since="2026-07-28"),
    _keyword("ADDITIONAL_PROPERTIES", "An object that is closed has no other members."),
    _keyword("ANY_OF", "A value is of one of the types that may stand there."),
)
"""The rules of the published schemas."""
