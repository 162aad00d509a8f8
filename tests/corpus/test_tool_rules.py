"""Rules for tools, on real tools: they report true faults, and block no tool."""

import re
from collections import defaultdict
from functools import cache
from typing import Any

import pytest
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.protocol_schemas import visitors_of
from sidecheck_server.core.mcp.rules.catalogue import GROUPS
from sidecheck_server.core.mcp.rules.rule import Fault, Finding, Group, Path, Rule
from support.shared_material import read_records, shared

_GROUPS = (Group.TOOL_HEADERS, Group.ICONS, Group.TOOL_NAMES, Group.TOOLS)
_CODES = {rule.code for group in _GROUPS for rule in GROUPS[group]}


@cache
def definitions() -> tuple[dict[str, Any], ...]:
    return tuple(record["tool"] for record in read_records(shared("corpus") / "tools.jsonl.gz"))


@cache
def names_by_code(version: str) -> dict[str, set[str]]:
    """Return the names of the tools that break a rule, by the rule's code."""
    tool_names: defaultdict[str, set[str]] = defaultdict(set)
    visit = visitors_of(version).of("Tool")
    assert visit is not None
    for tool in definitions():
        reported_codes: list[str] = []

        def tell(
            rule: Rule, _path: Path, finding: Finding, reported_codes: list[str] = reported_codes
        ) -> None:
            if isinstance(finding, Fault):
                reported_codes.append(rule.code)

        visit(tool, (), Context(version=version, budget=[10_000_000]), tell)
        for code in reported_codes:
            tool_names[code].add(str(tool["name"]))
    return {code: broken for code, broken in tool_names.items() if code in _CODES}


def named_other_than(pattern: str) -> set[str]:
    return {tool["name"] for tool in definitions() if not re.fullmatch(pattern, tool["name"])}


def test_there_are_tools() -> None:
    assert len(definitions()) > 5000


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("code", "pattern"),
    [
        ("TOOL_NAME_CHARACTERS", r"[A-Za-z0-9_.-]*"),
        ("TOOL_NAME_SEP_986", r"[A-Za-z0-9_./-]{1,64}"),
        ("TOOL_NAME_OPENAI_CHAT", r"[a-zA-Z0-9_-]{1,64}"),
        ("TOOL_NAME_OPENAI_RESPONSES", r"[a-zA-Z0-9_-]{1,128}"),
        ("TOOL_NAME_ANTHROPIC", r"[a-zA-Z0-9_-]{1,128}"),
        ("TOOL_NAME_ANTHROPIC_GUIDE", r"[a-zA-Z0-9_-]{1,64}"),
        ("TOOL_NAME_GEMINI", r"[a-zA-Z0-9_.:-]{1,128}"),
        ("TOOL_NAME_VERTEX", r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
        ("TOOL_NAME_BEDROCK", r"[a-zA-Z0-9_-]{1,64}"),
    ],
)
def test_the_names_that_break_a_grammar_are_reported(version: str, code: str, pattern: str) -> None:
    broken = named_other_than(pattern)
    assert len(broken) > 10
    assert broken == names_by_code(version)[code]


@pytest.mark.parametrize("version", VERSIONS)
def test_only_rules_of_names_hints_and_descriptions_have_violations(version: str) -> None:
    """No published tool violates a MUST about headers, icons or names."""
    allowed = {rule.code for group in (Group.TOOL_NAMES, Group.TOOLS) for rule in GROUPS[group]}
    assert set() == names_by_code(version).keys() - allowed


def test_a_tool_that_is_read_only_and_destructive_is_reported() -> None:
    broken = {
        tool["name"]
        for tool in definitions()
        if (hints := tool.get("annotations") or {}).get("readOnlyHint") is True
        and hints.get("destructiveHint") is True
    }
    assert broken
    assert broken == names_by_code("2025-11-25")["TOOL_HINTS_CONTRADICT"]
