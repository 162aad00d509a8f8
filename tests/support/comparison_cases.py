"""Cases of comparisons, shared by the tests of the core and of the command line.

A case has the definitions of two sets and what is wanted of each tool, in short: its
status and levels, the verdicts on its schemas as relation, level and the payload that
shows it, and its changes as code, levels, locations and message. Levels are those as
written and with objects assumed closed.
"""

import json
from typing import Any

import pytest
from support.shared_material import REPOSITORY

__all__ = ["CASES", "FOLDER", "in_short"]

FOLDER = REPOSITORY / "tests" / "cases" / "compat"

CASES = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in sorted(FOLDER.glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
]

_READINGS = ("as_written", "assume_closed")
_PARTS = {"input-schema": "inputSchema", "output-schema": "outputSchema"}


def in_short(compared: dict[str, Any]) -> list[Any]:
    """Return the tools of *compared*, a comparison as JSON, in the form of the cases."""
    return [_tool(tool) for tool in compared["tools"]]


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    short: dict[str, Any] = {
        "name": tool["name"],
        "status": tool["status"],
        "levels": [tool[reading] for reading in _READINGS],
    }
    if tool["old_name"]:
        short["old_name"] = tool["old_name"]
    for schema in tool["schemas"]:
        verdicts = [schema[reading] for reading in _READINGS]
        short[_PARTS[schema["part"]]] = [_verdict(verdict) for verdict in verdicts]
    if tool["changes"]:
        short["changes"] = [
            [
                change["code"],
                *(change[reading]["level"] for reading in _READINGS),
                change["old_location"],
                change["new_location"],
                change["message"],
            ]
            for change in tool["changes"]
        ]
    return short


def _verdict(verdict: dict[str, Any]) -> list[Any]:
    short = [verdict["relation"], verdict["level"]]
    if verdict["reason"]:
        short.append(verdict["reason"])
    if verdict["witness"] is not None:
        short += [verdict["witness"]["payload"], verdict["witness"]["message"]]
    return short
