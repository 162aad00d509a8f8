"""Violations of schemas inside payloads: one per fault, with location and specification URL."""

from typing import Any

import pytest
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.protocol_schemas import check_value
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.types import Document, Severity, Violation
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS
from support.session_checks import resolve_all_deferred


def problems(
    schema: Any, version: str = "2025-11-25", documents: tuple[Document, ...] = ()
) -> list[Violation]:
    """Return the errors and warnings of a tool with the input *schema*."""
    findings = Findings(
        Context(version=version, documents=documents),
        ReportLimits(100, min_severity=Severity.WARNING),
    )
    check_value({"name": "a", "inputSchema": schema}, "Tool", findings, PROTOCOL_SCHEMAS)
    resolve_all_deferred(CheckReport(findings), LIMITS, EvaluationOptions())
    return list(findings.verdict().violations)


def with_property(schema: Any, **root: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, **root}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "required": "a"}, [("/inputSchema/required", "TYPE")]),
        ({"type": "object", "required": [7]}, [("/inputSchema/required/0", "TYPE")]),
        ({"type": "object", "properties": []}, [("/inputSchema/properties", "TYPE")]),
        ({"type": "objekt"}, [("/inputSchema/type", "CONST")]),
        (with_property("yes"), [("/inputSchema/properties/a", "TYPE")]),
        (with_property({"type": "objekt"}), [("/inputSchema/properties/a/type", "ENUM")]),
        (
            {"required": ["a", "a"]},
            [("/inputSchema", "REQUIRED"), ("/inputSchema/required", "UNIQUE_ITEMS")],
        ),
        (
            {"$schema": "https://example.com/other"},
            [("/inputSchema", "REQUIRED"), ("/inputSchema/$schema", "UNSUPPORTED_DIALECT")],
        ),
        ({"type": "object", "$schema": 7}, [("/inputSchema/$schema", "TYPE")]),
        (
            with_property({"minLength": -1, "maxLength": "2"}),
            [
                ("/inputSchema/properties/a/maxLength", "TYPE"),
                ("/inputSchema/properties/a/minLength", "MINIMUM"),
            ],
        ),
        ("no schema at all", [("/inputSchema", "TYPE")]),
    ],
    ids=str,
)
def test_violations_of_a_schema(schema: Any, expected: list[tuple[str, str]]) -> None:
    assert expected == sorted(
        (violation.instance_location, violation.code) for violation in problems(schema)
    )


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (with_property({"$ref": "#/x"}), "/inputSchema/properties/a/$ref"),
        (with_property({"$dynamicRef": "#x"}), "/inputSchema/properties/a/$dynamicRef"),
        (with_property({"$ref": "#/" + "x" * 500}), "/inputSchema/properties/a/$ref"),
        (with_property({"anyOf": [{"pattern": "["}]}), "/inputSchema/properties/a/anyOf/0/pattern"),
        (
            with_property(True, patternProperties={"[/~": {}}),
            "/inputSchema/patternProperties/[~1~0",
        ),
        # A location that only a reference reaches counts too.
        (
            with_property({"$ref": "#/kept/x"}, kept={"x": {"$ref": "#/y"}}),
            "/inputSchema/kept/x/$ref",
        ),
        (
            with_property({"$ref": "#/kept/x"}, kept={"x": {"type": 7}}),
            "/inputSchema/kept/x/type",
        ),
        (
            {"properties": {"x" * 400: {"$ref": "#/y"}}, "type": "object"},
            f"/inputSchema/properties/{'x' * 400}/$ref",
        ),
        ({"type": "object", "$schema": "https://example.com/other"}, "/inputSchema/$schema"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_location_of_a_violation(schema: Any, pointer: str) -> None:
    assert [pointer] == [
        violation.instance_location for violation in problems(schema, "2026-07-28")
    ]


@pytest.mark.parametrize(
    ("document", "codes"),
    [
        (b'{"$ref": "#/nowhere"}', ["UNRESOLVABLE_REFERENCE"]),
        (b'{"not": {"type": 7}, "pattern": "("}', ["INVALID_PATTERN", "ANY_OF"]),
    ],
)
def test_fault_in_a_document_is_reported_at_its_reference(document: bytes, codes: Any) -> None:
    documents = (Document("https://example.com/b", document),)
    violations = problems(with_property({"$ref": "https://example.com/b"}), documents=documents)
    assert [("/inputSchema/properties/a/$ref", code) for code in codes] == [
        (violation.instance_location, violation.code) for violation in violations
    ]
    assert all("$ref -> https://example.com/b" in violation.message for violation in violations)


@pytest.mark.parametrize(
    ("version", "schema", "page"),
    [
        ("2025-11-25", with_property({"type": 7}), "2025-11-25/basic#schema-validation"),
        ("2026-07-28", with_property({"$ref": "#/x"}), "2026-07-28/basic#ref-resolution"),
        ("2025-11-25", with_property({"$ref": "#/x"}), "2025-11-25/basic#schema-validation"),
        (
            "2025-11-25",
            {"type": "object", "$schema": "a:b"},
            "2025-11-25/basic#implementation-requirements",
        ),
        ("2024-11-05", with_property({"type": 7}), "2024-11-05/server/tools#tool"),
    ],
)
def test_spec_url_of_a_violation(version: str, schema: Any, page: str) -> None:
    assert [f"https://modelcontextprotocol.io/specification/{page}"] == [
        violation.spec_url for violation in problems(schema, version)
    ]
