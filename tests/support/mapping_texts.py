"""Plans as JSON texts."""

import json
from typing import Any

__all__ = ["DIGEST", "PLAN", "text"]

DIGEST = "sha256:" + "0123456789abcdef" * 4
PLAN = {
    "sidecheck_plan": 1,
    "api": "openai-chat",
    "name": "s__t",
    "server": "s",
    "tool": "t",
    "definition_digest": DIGEST,
    "strict": True,
}


def text(guide: Any = None, **members: Any) -> bytes:
    plan = {**PLAN, **members}
    if guide is not None:
        plan["guide"] = guide
    return json.dumps({name: value for name, value in plan.items() if value is not ...}).encode()
