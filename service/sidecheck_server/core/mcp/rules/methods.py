"""Methods: which there are, who sends them, and what they carry."""

from sidecheck_server.core.mcp.rules.rule import Clause, Rule, of_type
from sidecheck_server.core.types import Severity

__all__ = ["NOT_IN_VERSION", "PARAMS_MISSING", "RULES", "UNKNOWN", "WRONG_SENDER"]

_MESSAGES = Clause("basic", "messages", before=(("2024-11-05", "basic/messages", ""),))
_SCHEMA = of_type()


def _rule(code: str, clause: Clause, sentence: str) -> Rule:
    return Rule(code, Severity.ERROR, clause, sentence, ("JSONRPCMessage",))


UNKNOWN = _rule(
    "METHOD_UNKNOWN",
    _MESSAGES,
    "A method is one of the protocol's. (Others are not judged if a peer declares"
    " extensions or experimental capabilities.)",
)
NOT_IN_VERSION = _rule(
    "METHOD_NOT_IN_VERSION", _SCHEMA, "A method is one that the version of the protocol has."
)
WRONG_SENDER = _rule(
    "METHOD_WRONG_SENDER", _SCHEMA, "A method is one that its sender, client or server, may send."
)
PARAMS_MISSING = _rule("PARAMS_MISSING", _SCHEMA, "A method that needs params has them.")

RULES: tuple[Rule, ...] = (UNKNOWN, NOT_IN_VERSION, WRONG_SENDER, PARAMS_MISSING)
