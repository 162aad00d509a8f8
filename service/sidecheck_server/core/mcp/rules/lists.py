"""Lists.

What a server says that it has, it lists, and in the same order each time.
"""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.rules.rule import Clause, Rule
from sidecheck_server.core.types import Severity

__all__ = ["MISSING", "RULES", "TOOLS_ORDER_CHANGED"]

_SINCE = "2026-07-28"
_SUBJECT = ("JSONRPCMessage",)


def _missing(feature: str) -> Rule:
    return Rule(
        f"{feature.upper()}_LIST_MISSING",
        Severity.ERROR,
        Clause(f"server/{feature}", "capabilities"),
        f"A server that declared the capability {feature} MUST answer {feature}/list.",
        _SUBJECT,
        since=_SINCE,
    )


MISSING: Mapping[str, tuple[str, Rule]] = MappingProxyType(
    {f"{name}/list": (name, _missing(name)) for name in ("tools", "prompts", "resources")}
)
"""By method, the capability of which it is part, and the rule that it is answered."""

TOOLS_ORDER_CHANGED = Rule(
    "TOOLS_ORDER_CHANGED",
    Severity.WARNING,
    Clause("server/tools", "capabilities"),
    "A server SHOULD list the same tools in the same order each time.",
    _SUBJECT,
    since=_SINCE,
    needs_whole_session=True,
)

RULES: tuple[Rule, ...] = (*(rule for _, rule in MISSING.values()), TOOLS_ORDER_CHANGED)
