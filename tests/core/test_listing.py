"""Texts with several tool definitions, taken apart byte for byte; and what each has wrong."""

import pytest
from compiling import LIMITS
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.checking import CheckedTool, Problem, check_tool, tell_duplicates
from sidecheck_server.core.mcp.listing import ListedTool, list_tools
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.words import Document, Severity, Violation

ONE = b'{ "name":"a",  "inputSchema":{} }'
TWO = b'{"name": "b", "inputSchema": {"const": 1.0}}'


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        pytest.param(b"\n" + ONE + b" ", [("", ONE)], id="one definition"),
        pytest.param(
            b"[" + ONE + b" ,\n" + TWO + b"]", [("/0", ONE), ("/1", TWO)], id="a list of them"
        ),
        pytest.param(b'{"tools": [' + TWO + b"]}", [("/tools/0", TWO)], id="a result"),
        pytest.param(
            b'{"result": {"tools": [' + TWO + b'], "nextCursor": "x"}, "id": 1}',
            [("/result/tools/0", TWO)],
            id="a JSON-RPC answer",
        ),
        pytest.param(b"[]", [], id="none"),
        pytest.param(b"3", [("", b"3")], id="what is no definition"),
        pytest.param(b'[{"a": 1, "a": 2}]', [("/0", b'{"a": 1, "a": 2}')], id="a key twice in one"),
        pytest.param(b'{"name": "tools"}', [("", b'{"name": "tools"}')], id="one without a schema"),
        pytest.param(
            b'{"inputSchema": {}, "tools": 1}',
            [("", b'{"inputSchema": {}, "tools": 1}')],
            id="one that has tools",
        ),
        pytest.param(
            b"[" + b"[" * 200 + b"]" * 200 + b"]",
            [("/0", b"[" * 200 + b"]" * 200)],
            id="one that is beyond a limit",
        ),
    ],
)
def test_a_text_is_taken_apart(text: bytes, tools: list[tuple[str, bytes]]) -> None:
    """MCP, server/tools: Listing Tools."""
    assert tuple(ListedTool(pointer, json) for pointer, json in tools) == list_tools(text, LIMITS)


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        pytest.param(b"[", "PAYLOAD_NOT_JSON", "", id="not JSON"),
        pytest.param(b"[1e999]", "NUMBER_OUT_OF_RANGE", "", id="a number too large"),
        pytest.param(b'{"tools": {}}', "TOOLS_NOT_A_LIST", "/tools", id="no list"),
        pytest.param(b'{"result": 3}', "TOOLS_MISSING", "/result", id="a result that is none"),
        pytest.param(b'{"jsonrpc": "2.0"}', "TOOLS_MISSING", "", id="an answer without a result"),
        pytest.param(b'{"id": 1, "id": 1, "tools": []}', "DUPLICATE_KEY", "/id", id="a key twice"),
    ],
)
def test_a_text_without_tools_is_refused(text: bytes, code: str, pointer: str) -> None:
    """With the place of the fault."""
    with pytest.raises(Refusal) as refusal:
        list_tools(text, LIMITS)

    assert Reason.INVALID_TOOL is refusal.value.reason
    assert {"code": code, "pointer": pointer} == refusal.value.metadata
    assert [(code, pointer)] == [(one.code, one.instance_pointer) for one in refusal.value.problems]


def test_a_text_that_is_too_deep_to_be_read_is_refused() -> None:
    """By the bound that any tool in it would be refused by."""
    with pytest.raises(Refusal) as refusal:
        list_tools(b"[" * 100_000, LIMITS)

    assert Reason.LIMIT_EXCEEDED is refusal.value.reason
    assert {"bound": "schema_depth", "limit": "64", "found": "100000"} == refusal.value.metadata


def checked(tool: bytes, *documents: Document) -> list[tuple[str, str, str]]:
    """Return the problems of a tool: code, pointer of the violation, and the very place."""
    return [
        (one.violation.code, one.violation.instance_pointer, one.pointer)
        for one in check_tool(tool, documents, Limits()).problems
    ]


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        pytest.param(b"{}", [], id="none"),
        pytest.param(
            b'{"type": 3}',
            [("ANY_OF", "/inputSchema/type", "/inputSchema/type")],
            id="a fault of the schema",
        ),
        pytest.param(
            b'{"items": {"pattern": "("}}',
            [("INVALID_PATTERN", "/inputSchema", "/inputSchema/items/pattern")],
            id="a pattern",
        ),
        pytest.param(
            b'{"items": {"$ref": "#/x"}}',
            [("UNRESOLVABLE_REFERENCE", "/inputSchema", "/inputSchema/items/$ref")],
            id="a reference",
        ),
        pytest.param(
            b'{"$ref": "#"}', [("ENDLESS_REFERENCE", "/inputSchema", "/inputSchema")], id="a loop"
        ),
    ],
)
def test_a_problem_has_a_place(schema: bytes, problem: list[tuple[str, str, str]]) -> None:
    """Which may be a more exact one than that of the violation."""
    assert problem == checked(b'{"name": "t", "inputSchema": ' + schema + b"}")


def test_every_problem_of_both_schemas_is_told() -> None:
    """And of a definition that is none, all that it lacks."""
    tool = b'{"name": "t", "inputSchema": {"type": 3, "title": 4}, "outputSchema": {"$ref": "#"}}'

    assert ["/inputSchema/title", "/inputSchema/type", "/outputSchema"] == sorted(
        pointer for _, pointer, _ in checked(tool)
    )
    assert ["INPUT_SCHEMA_MISSING", "TOOL_NAME_MISSING"] == sorted(
        code for code, _, _ in checked(b"{}")
    )


def test_documents_are_given_along() -> None:
    """Nothing else is found."""
    tool = b'{"name": "t", "inputSchema": {"$ref": "urn:a"}}'

    assert [] == checked(tool, Document("urn:a", b"{}"))
    assert ["UNRESOLVABLE_REFERENCE"] == [code for code, _, _ in checked(tool)]


def test_a_faulty_definition_keeps_its_name() -> None:
    """If it has one."""
    assert ["a", "", ""] == [
        check_tool(text, (), LIMITS).name
        for text in (b'{"name": "a"}', b'{"name": 3}', b'{"name": "a"')
    ]


def test_a_name_that_stands_twice_is_a_warning() -> None:
    """At each of its tools, none of which it refuses."""
    problem = Problem(Violation("", "", "", "X", "x", Severity.INFO), "")
    tools = [CheckedTool("a", (problem,)), CheckedTool("b", ()), CheckedTool("a", ())]
    told = tell_duplicates([*tools, CheckedTool("", ()), CheckedTool("", ())])

    assert [["X", "TOOL_NAME_DUPLICATE"], [], ["TOOL_NAME_DUPLICATE"], [], []] == [
        [one.violation.code for one in tool.problems] for tool in told
    ]
    assert all(tool.ok for tool in told)
