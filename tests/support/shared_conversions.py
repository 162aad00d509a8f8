"""Shared cases of conversion for tests of the core, the wire and every client.

A case of ``conversion.json`` is one tool, an API and a mode. It wants the whole ``tool`` or
its ``parameters``, the ``losses`` (pointer, keyword, action, direction) and, optionally,
``strict`` and ``name``; or a ``rejection``, its reason.

A case of ``restore.json`` is a mapping (``plan``), which may be of an older release, the
original tool and a ``call``: JSON, or the text of the API. It wants the restored call, violations
and changes by pointer and code; or a ``rejection``.
"""

import json
from typing import Any

import pytest
from support.shared_material import REPOSITORY

__all__ = ["CONVERSIONS", "RESTORATIONS", "call_of", "mapping_of", "schema_in", "tool_of"]

_FOLDER = REPOSITORY / "tests" / "cases" / "convert"


def _cases(file: str) -> list[Any]:
    cases = json.loads((_FOLDER / file).read_text())["cases"]
    return [pytest.param(case, id=case["name"]) for case in cases]


CONVERSIONS = _cases("conversion.json")
RESTORATIONS = _cases("restore.json")

_HOLDERS = ("function", "toolSpec")
_SCHEMAS = ("parameters", "input_schema", "parametersJsonSchema")


def schema_in(tool: dict[str, Any]) -> Any:
    """Return the schema of the arguments in *tool*, in the form of any API; None without one."""
    inner = next((tool[holder] for holder in _HOLDERS if isinstance(tool.get(holder), dict)), tool)
    if "inputSchema" in inner:
        schema = inner["inputSchema"]
        return schema["json"] if "toolSpec" in tool else schema
    return next((inner[schema] for schema in _SCHEMAS if schema in inner), None)


def tool_of(case: dict[str, Any]) -> bytes:
    """Return the original tool of *case*, as JSON text."""
    return json.dumps(case["tool"]).encode()


def mapping_of(case: dict[str, Any]) -> bytes:
    """Return the mapping of *case*, as JSON text."""
    return json.dumps(case["plan"]).encode()


def call_of(case: dict[str, Any]) -> bytes:
    """Return the call of *case*, in the form of the API."""
    call = case["call"]
    return call.encode() if isinstance(call, str) else json.dumps(call).encode()
