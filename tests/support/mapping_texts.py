"""Mappings as JSON texts."""

import json
from typing import Any

__all__ = ["DIGEST", "MAPPING", "text"]

DIGEST = "sha256:" + "0123456789abcdef" * 4
MAPPING = {
    "sidecheck_mapping": 1,
    "api": "openai-chat",
    "name": "s__t",
    "server": "s",
    "tool": "t",
    "definition_digest": DIGEST,
    "strict": True,
}


def text(decoder: Any = None, **properties: Any) -> bytes:
    mapping = {**MAPPING, **properties}
    if decoder is not None:
        mapping["decoder"] = decoder
    return json.dumps({name: value for name, value in mapping.items() if value is not ...}).encode()
