"""Tool definitions, checked many at a time: each has an outcome of its own."""

import json
from typing import Any

import pytest
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.deferred import check_completely
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolJson
from sidecheck_server.core.mcp.tool_outcomes import CheckedTool, Disposition, tool_outcomes
from sidecheck_server.core.types import Document, Severity
from support.checkers import PROTOCOL_SCHEMAS

LIMITS = Limits()
GOOD: Any = {"name": "good", "description": "Is.", "inputSchema": {"type": "object"}}
DEEP = b"[" * 10_000 + b"]" * 10_000


def checked(
    *tools: Any, how: ReportLimits | None = None, **context: Any
) -> tuple[CheckedTool, ...]:
    """Return the outcomes of *tools*, values or texts."""
    texts = [tool if isinstance(tool, bytes) else json.dumps(tool).encode() for tool in tools]
    found = [
        check_completely(
            CheckRequest(
                ToolJson(text),
                Context(**context),
                how or ReportLimits(min_severity=Severity.WARNING),
            ),
            LIMITS,
            PROTOCOL_SCHEMAS,
        )
        for text in texts
    ]
    return tool_outcomes(found, (f"/{place}" for place in range(len(found))), "told twice")


def codes(one: CheckedTool) -> list[tuple[str, str]]:
    return [(violation.code, violation.instance_location) for violation in one.verdict.violations]


@pytest.mark.parametrize(
    ("tool", "name", "treatment", "expected"),
    [
        pytest.param(GOOD, "good", Disposition.KEEP, [], id="nothing wrong"),
        pytest.param(
            {**GOOD, "name": "a b"},
            "a b",
            Disposition.WARN,
            [("TOOL_NAME_CHARACTERS", "/name")],
            id="a warning",
        ),
        pytest.param(
            {"name": "a b"},
            "a b",
            Disposition.DROP,
            [("REQUIRED", ""), ("TOOL_NAME_CHARACTERS", "/name")],
            id="an error and a warning",
        ),
        pytest.param(
            {**GOOD, "inputSchema": {"type": "object", "default": 1, "required": 1}},
            "good",
            Disposition.DROP,
            [("TYPE", "/inputSchema/required")],
            id="a schema that the type and the meta-schema refuse",
        ),
        pytest.param(
            {**GOOD, "inputSchema": {"type": "object", "properties": {"a": {"type": "x"}}}},
            "good",
            Disposition.DROP,
            [("ENUM", "/inputSchema/properties/a/type")],
            id="a schema that the meta-schema refuses",
        ),
        pytest.param([], "", Disposition.DROP, [("TYPE", "")], id="no object"),
        pytest.param(b"{", "", Disposition.DROP, [("PAYLOAD_NOT_JSON", "")], id="not JSON"),
        pytest.param(
            b'{"name": "' + b"n" * 10_000_000 + b'"}',
            "",
            Disposition.DROP,
            [("LIMIT_EXCEEDED", "")],
            id="10 MB",
        ),
        pytest.param(DEEP, "", Disposition.DROP, [("LIMIT_EXCEEDED", "")], id="10,000 levels deep"),
    ],
)
def test_a_bad_tool_costs_the_others_nothing(
    tool: Any, name: str, treatment: Disposition, expected: list[tuple[str, str]]
) -> None:
    before, one, after = checked({**GOOD, "name": "a"}, tool, {**GOOD, "name": "z"})

    assert (name, "/1", treatment, expected) == (one.name, one.pointer, one.disposition, codes(one))
    assert (treatment is not Disposition.DROP) is one.ok
    assert [("a", "/0"), ("z", "/2")] == [(each.name, each.pointer) for each in (before, after)]
    assert [Disposition.KEEP] * 2 == [before.disposition, after.disposition]


def test_a_definition_may_be_larger_and_deeper_than_a_payload_of_its_schema() -> None:
    """Twice as long as a schema, and a little deeper."""
    long = {**GOOD, "description": "x" * (2 * LIMITS.schema_bytes - 200)}
    inner: Any = {}
    for _ in range(LIMITS.schema_depth):
        inner = {"a": inner}
    deep = {**GOOD, "_meta": inner}

    assert [Disposition.KEEP] * 2 == [
        one.disposition for one in checked(long, {**deep, "name": "d"})
    ]


def test_names_that_stand_twice_are_a_warning_at_each() -> None:
    """Also of a tool that is dropped; a tool without a name has none."""
    report = checked(GOOD, {"name": "good"}, {}, {}, {**GOOD, "name": "b"})

    twice = ("TOOL_NAME_DUPLICATE", "/name")
    assert [True, True, False, False, False] == [twice in codes(one) for one in report]
    assert [Disposition.WARN, Disposition.DROP] == [one.disposition for one in report[:2]]


def test_the_treatment_does_not_depend_on_how_much_is_told() -> None:
    """What is left out counts."""
    bad = {"name": "a b", "inputSchema": {"type": "object"}}
    (quiet,) = checked(bad, how=ReportLimits(min_severity=Severity.ERROR))
    (brief,) = checked({**bad, "outputSchema": 1}, how=ReportLimits(max_violations=1))

    assert (Disposition.WARN, []) == (quiet.disposition, codes(quiet))
    assert (Disposition.DROP, 1, True) == (
        brief.disposition,
        len(brief.verdict.violations),
        brief.verdict.truncated,
    )


def test_documents_are_what_schemas_refer_to() -> None:
    tool = {**GOOD, "inputSchema": {"type": "object", "$ref": "urn:a"}}

    assert [("UNRESOLVABLE_REFERENCE", "/inputSchema/$ref")] == codes(*checked(tool))
    assert [] == codes(*checked(tool, documents=(Document("urn:a", b"{}"),)))


def test_values_of_a_definition_can_be_hidden() -> None:
    """Its schemas are values of it."""
    properties = {"a": {"type": "integer", "default": "secret"}}
    odd = {**GOOD, "inputSchema": {"type": "object", "properties": properties}}
    broken = {**GOOD, "name": "b", "inputSchema": {"type": "object", "pattern": "(?=secret)"}}
    wrong = {**GOOD, "name": "c", "inputSchema": {"type": "object", "items": {"type": "secret"}}}
    report = checked(odd, broken, wrong, hide_values=True)

    assert [["DEFAULT_REFUSED"], ["UNSUPPORTED_PATTERN"], ["ENUM"]] == [
        [code for code, _ in codes(one)] for one in report
    ]
    assert "secret" not in str(
        [violation.message for one in report for violation in one.verdict.violations]
    )
