"""What JSON texts must be, whatever they say; decoding finds what is not so."""

from sidecheck_server.core.mcp.rules.rule import Clause, Rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

# Messages follow JSON-RPC, which takes JSON as it is defined.
_JSON_RPC = Clause("basic", "messages", before=(("2024-11-05", "basic/messages", ""),))


def _of_texts(code: str, sentence: str) -> Rule:
    return Rule(code, Severity.ERROR, _JSON_RPC, sentence, ("*",))


RULES: tuple[Rule, ...] = (
    _of_texts("PAYLOAD_NOT_JSON", "A text is JSON in UTF-8."),
    _of_texts("DUPLICATE_KEY", "No object has two members of the same name."),
    _of_texts(
        "NUMBER_OUT_OF_RANGE",
        "A number is within the range of a double, and an integer has at most 4,300 digits.",
    ),
)
"""The rules of JSON texts."""
