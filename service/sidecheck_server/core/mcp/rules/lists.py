"""Lists.

What a server says that it has, it lists, and in the same order each time.
"""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.rules.rule import Clause, Group, Rule, RuleSet
from sidecheck_server.core.types import Severity

__all__ = ["MISSING", "TOOLS_ORDER_CHANGED"]

_SINCE = "2026-07-28"


_LIST_RULES = RuleSet(Group.LISTS, since=_SINCE)


def _missing(feature: str) -> Rule:
    return _LIST_RULES.declare(
        f"{feature.upper()}_LIST_MISSING",
        Severity.ERROR,
        Clause(f"server/{feature}", "capabilities"),
        f"A server that declared the capability {feature} MUST answer {feature}/list.",
    )


MISSING: Mapping[str, tuple[str, Rule]] = MappingProxyType(
    {f"{name}/list": (name, _missing(name)) for name in ("tools", "prompts", "resources")}
)
"""By method, the capability of which it is part, and the rule that it is answered."""

TOOLS_ORDER_CHANGED = _LIST_RULES.declare(
    "TOOLS_ORDER_CHANGED",
    Severity.WARNING,
    Clause("server/tools", "capabilities"),
    "A server SHOULD list the same tools in the same order each time.",
    needs_whole_session=True,
)
