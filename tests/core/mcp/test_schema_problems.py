"""What is wrong with a schema in a payload is told once, at its very place, with its clause."""

from typing import Any

import pytest
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.deferred import resolve_all_deferred
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.protocol_schemas import check_value
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.types import Document, Severity, Violation
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS


def errors(
    schema: Any, version: str = "2025-11-25", documents: tuple[Document, ...] = ()
) -> list[Violation]:
    """Return the errors of a tool with the input *schema*."""
    findings = Findings(
        Context(version=version, documents=documents),
        ReportLimits(100, min_severity=Severity.ERROR),
    )
    check_value({"name": "a", "inputSchema": schema}, "Tool", findings, PROTOCOL_SCHEMAS)
    resolve_all_deferred(CheckReport(findings), LIMITS, EvaluationOptions())
    return list(findings.verdict().violations)


def a(schema: Any, **root: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, **root}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "required": "a"}, [("/inputSchema/required", "TYPE")]),
        ({"type": "object", "required": [7]}, [("/inputSchema/required/0", "TYPE")]),
        ({"type": "object", "properties": []}, [("/inputSchema/properties", "TYPE")]),
        ({"type": "objekt"}, [("/inputSchema/type", "CONST")]),
        (a("yes"), [("/inputSchema/properties/a", "TYPE")]),
        (a({"type": "objekt"}), [("/inputSchema/properties/a/type", "ENUM")]),
        (
            {"required": ["a", "a"]},
            [("/inputSchema", "REQUIRED"), ("/inputSchema/required", "UNIQUE_ITEMS")],
        ),
        (
            {"$schema": "https://example.com/other"},
            [("/inputSchema", "REQUIRED"), ("/inputSchema", "UNSUPPORTED_DIALECT")],
        ),
        ({"type": "object", "$schema": 7}, [("/inputSchema/$schema", "TYPE")]),
        (
            a({"minLength": -1, "maxLength": "2"}),
            [
                ("/inputSchema/properties/a/maxLength", "TYPE"),
                ("/inputSchema/properties/a/minLength", "MINIMUM"),
            ],
        ),
        ("no schema at all", [("/inputSchema", "TYPE")]),
    ],
    ids=str,
)
def test_a_fault_is_told_once(schema: Any, expected: list[tuple[str, str]]) -> None:
    assert expected == sorted(
        (violation.instance_location, violation.code) for violation in errors(schema)
    )


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (a({"$ref": "#/x"}), "/inputSchema/properties/a/$ref"),
        (a({"$dynamicRef": "#x"}), "/inputSchema/properties/a/$dynamicRef"),
        (a({"$ref": "#/" + "x" * 500}), "/inputSchema/properties/a/$ref"),
        (a({"anyOf": [{"pattern": "["}]}), "/inputSchema/properties/a/anyOf/0/pattern"),
        (a(True, patternProperties={"[/~": {}}), "/inputSchema/patternProperties/[~1~0"),
        # What only a reference leads to is told at the reference.
        (
            a({"$ref": "#/kept/x"}, kept={"x": {"$ref": "#/y"}}),
            "/inputSchema/properties/a/$ref",
        ),
        ({"properties": {"x" * 400: {"$ref": "#/y"}}, "type": "object"}, "/inputSchema"),
        ({"type": "object", "$schema": "https://example.com/other"}, "/inputSchema"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_it_is_told_at_its_very_place(schema: Any, pointer: str) -> None:
    assert [pointer] == [violation.instance_location for violation in errors(schema, "2026-07-28")]


def test_a_fault_in_a_document_is_told_at_the_reference_to_it() -> None:
    documents = (Document("https://example.com/b", b'{"$ref": "#/nowhere"}'),)
    found = errors(a({"$ref": "https://example.com/b"}), documents=documents)
    assert [("/inputSchema/properties/a/$ref", "UNRESOLVABLE_REFERENCE")] == [
        (violation.instance_location, violation.code) for violation in found
    ]


@pytest.mark.parametrize(
    ("version", "schema", "clause"),
    [
        ("2025-11-25", a({"type": 7}), "2025-11-25/basic#schema-validation"),
        ("2026-07-28", a({"$ref": "#/x"}), "2026-07-28/basic#ref-resolution"),
        ("2025-11-25", a({"$ref": "#/x"}), "2025-11-25/basic#schema-validation"),
        (
            "2025-11-25",
            {"type": "object", "$schema": "a:b"},
            "2025-11-25/basic#implementation-requirements",
        ),
        ("2024-11-05", a({"type": 7}), "2024-11-05/server/tools#tool"),
    ],
)
def test_it_has_the_clause_of_its_rule(version: str, schema: Any, clause: str) -> None:
    assert [f"https://modelcontextprotocol.io/specification/{clause}"] == [
        violation.spec_url for violation in errors(schema, version)
    ]
