"""Results of calls in process: the same as the service makes of the same values."""

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.server.mcpserver import Image
from mcp.types import AudioContent, CallToolResult, ImageContent, ResourceLink, TextContent
from pydantic import Field, PlainSerializer
from sidecheck import BlockingClient, Change, Options, ProtocolContext, ToolDefinition
from sidecheck.inference import (
    InvalidArguments,
    NotProvided,
    acall_tool,
    acall_tool_result,
    call_tool_result,
    infer_tool,
    tool,
    tool_definition,
)
from sidecheck.inference.normalization import (
    DEFAULT_VERSION,
    VERSIONS,
    json_text,
    wrapping_of,
)
from sidecheck.json_values import json_value
from sidecheck.text_contract import is_canonical
from sidecheck_server.core.mcp import context
from support.called_functions import (
    CALLS,
    MARKED,
    PrivateUser,
    PublicUser,
    later,
    numbers,
    register_user,
    returning,
)
from support.result_cases import ADAPTATIONS, RESULTS
from support.running import RunningServer


@pytest.fixture(scope="module")
def client(shared_server: RunningServer) -> Iterator[BlockingClient]:
    with BlockingClient(shared_server.address, timeout=120) as connected:
        yield connected


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("function", "arguments"), CALLS)
async def test_a_result_is_that_of_the_service(
    function: Callable[..., Any], arguments: dict[str, Any], version: str, client: BlockingClient
) -> None:
    """Both profiles are equal byte for byte, and valid for the adapted tool."""
    definition = tool_definition(function)
    value = await acall_tool(function, arguments)
    value = list(value) if isinstance(value, Iterator) else value
    # Clients take bytes for JSON text.
    value = json_value(value) if isinstance(value, bytes) else value
    for profile in ("specification", "text"):
        expected = client.protocol.normalize_tool_result(
            value,
            tool=ToolDefinition(definition),
            profile=profile,
            context=ProtocolContext(version),
        )
        result = await acall_tool_result(
            function, arguments, protocol_version=version, profile=profile
        )
        assert (True, expected.result.value) == (expected.verdict.valid, result)
        assert json.loads(json.dumps(result)) == result
        if profile == "text":
            assert is_canonical(result)
            continue
        adapted = client.inference.adapt_tool(definition, version).definition
        options = Options(protocol_version=version)
        assert client.validate_call_result(ToolDefinition(adapted), result, options=options).valid


IMAGE = ImageContent(type="image", data="AAAA", mime_type="image/png")
TEXT = TextContent(type="text", text="a")
LINK = ResourceLink(type="resource_link", uri="https://a.b/c", name="c", size=1)
AUDIO = AudioContent(type="audio", data="AA==", mime_type="audio/wav")


@pytest.mark.parametrize("profile", ["specification", "text"])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("field", "value", "options"),
    [
        pytest.param("content", TEXT, {}, id="text"),
        pytest.param("content", [TEXT, IMAGE], {}, id="blocks"),
        pytest.param("content", AUDIO, {}, id="audio"),
        pytest.param("content", (LINK,), {}, id="link"),
        pytest.param("result", CallToolResult(content=[TEXT]), {}, id="result"),
        pytest.param("result", CallToolResult(content=[TEXT], is_error=True), {}, id="error"),
        pytest.param(
            "result", CallToolResult(content=[], structured_content={"a": 1}), {}, id="structured"
        ),
        pytest.param(
            "result",
            CallToolResult(content=[TEXT], structured_content={"a": 1}),
            {"output_schema": {"type": "object"}},
            id="structured by a schema",
        ),
        pytest.param(
            "result",
            CallToolResult(content=[TEXT], structured_content={"value": 5}),
            {"output_schema": MARKED},
            id="wrapped already",
        ),
        pytest.param(
            "result",
            CallToolResult(content=[TEXT]),
            {"output_schema": {"type": "object"}},
            id="structured content is missing",
        ),
    ],
)
def test_objects_of_an_sdk_are_content_or_results(
    field: str, value: Any, options: Any, version: str, profile: Any, client: BlockingClient
) -> None:
    """Content that the version lacks, or that the schema rejects, is an error of the tool."""
    function = returning(Any, value, **options)
    sent_fields: Any = {field: list(value) if isinstance(value, tuple) else value}
    expected = client.protocol.normalize_tool_result(
        **sent_fields,
        tool=ToolDefinition(tool_definition(function)),
        profile=profile,
        context=ProtocolContext(version),
    )
    result = call_tool_result(function, {}, protocol_version=version, profile=profile)
    if expected.verdict.valid:
        assert expected.result.value == result
    else:
        assert result["isError"] is True
        assert result["content"][0]["text"].startswith("Output validation error: ")


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        (Image(data=bytes(3), format="png"), [IMAGE]),
        ([TEXT, Image(data=bytes(3), format="png")], [TEXT, IMAGE]),
        (["a", Image(data=bytes(3), format="png")], [TEXT, IMAGE]),
    ],
    ids=["alone", "beside a block", "beside a text"],
)
def test_helpers_of_an_sdk_become_content(value: Any, blocks: list[Any]) -> None:
    assert call_tool_result(returning(Any, blocks), {}) == call_tool_result(
        returning(Any, value), {}
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("profile", ["specification", "text"])
@pytest.mark.parametrize(
    "error", [ValueError("no\nharbour"), KeyError(), OSError(2, "No such file"), ValueError("")]
)
def test_an_exception_is_an_error_result(
    error: Exception, profile: Any, version: str, client: BlockingClient
) -> None:
    """It has the message or the class name, and no traceback."""

    @tool
    def fail() -> int:
        raise error

    expected = client.protocol.normalize_tool_result(
        error=error,
        tool=ToolDefinition(tool_definition(fail)),
        profile=profile,
        context=ProtocolContext(version),
    )
    assert expected.result.value == call_tool_result(
        fail, {}, protocol_version=version, profile=profile
    )


def error_text(result: dict[str, Any]) -> str:
    """Return the text of an error result."""
    assert result["isError"] is True
    ((block),) = result["content"]
    text: str = block["text"]
    return text


def test_the_errors_of_a_model_within_a_function_have_no_values() -> None:
    @tool
    def fail(secret: str) -> int:
        PublicUser.model_validate({"username": {"hush": secret}})
        return 1

    assert "PublicUser is not valid:\n- /username: Input should be a valid string" == error_text(
        call_tool_result(fail, {"secret": "hunter2"})
    )


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        (["- 'born' is required", "- /name: unknown argument"], {"username": "ada", "name": 1}),
        (["- /username: Input should be a valid string"], {"username": 5, "born": "1815-12-10"}),
        (
            ["- /born: Input should be a valid date in the format YYYY-MM-DD, input is too short"],
            {"username": "ada", "born": "hunter2"},
        ),
        (["- must be an object"], []),
    ],
)
def test_invalid_arguments_are_an_error_result(expected: list[str], arguments: Any) -> None:
    """The function is not called."""
    lines = [
        "Input validation error: The arguments of the call to register_user are not valid:",
        *expected,
        "Correct the arguments and call the tool again.",
    ]
    result = call_tool_result(register_user, arguments)
    assert lines == error_text(result).split("\n")
    text = call_tool_result(register_user, arguments, profile="text")
    assert (lines, True) == (error_text(text).split("\n"), is_canonical(text))


@pytest.mark.parametrize(
    ("expected", "function"),
    [
        (
            '- /structuredContent/result: must satisfy "minimum": 0',
            returning(Annotated[int, Field(ge=0)], -1),
        ),
        (
            '- /structuredContent/result/1: must satisfy "type": "integer"',
            returning(list[int], [1, "b"]),
        ),
        ("- /structuredContent: 'username' is required", returning(PublicUser, {"name": "ada"})),
        ('- /structuredContent/result: must satisfy "type": "string"', returning(str, None)),
        (
            '- /structuredContent/value: must satisfy "type": "integer"',
            returning(Any, "five", output_schema=MARKED),
        ),
        ("- is of type object, which has no JSON form", returning(Any, object())),
        (
            "- the value is NaN or infinite, which JSON cannot express",
            returning(float, float("nan")),
        ),
        ("- it is not Unicode text", returning(str, "\ud800")),
    ],
)
def test_a_result_that_breaks_its_schema_is_an_error_result(
    expected: str, function: Callable[..., Any]
) -> None:
    """The service rejects the same value, if it is one that it can be sent."""
    text = error_text(call_tool_result(function, {}))
    assert [
        "Output validation error: The result of give is not valid:",
        expected.replace("is of type", "the value is of type"),
        "The fault lies in the tool, not in the call.",
    ] == text.split("\n")


def test_a_result_has_only_the_fields_of_its_annotation() -> None:
    """Fields of derived classes are omitted."""
    assert {"username": "ada"} == call_tool_result(
        returning(PublicUser, PrivateUser(username="ada")), {}
    )["structuredContent"]


def test_serializers_of_the_annotation_apply() -> None:
    hexadecimal = Annotated[int, PlainSerializer(hex, return_type=str)]
    result = call_tool_result(returning(list[hexadecimal], [255]), {})
    assert {"result": ["0xff"]} == result["structuredContent"]


async def test_asynchronous_functions() -> None:
    """Items of asynchronous generators are collected."""
    many = infer_tool(numbers)
    result = await acall_tool_result(many, {"n": 2})
    assert {"result": [0, 1]} == result["structuredContent"]
    assert "the tool returns an asynchronous iterator; await acall_tool_result" == error_text(
        call_tool_result(many, {"n": 2})
    )
    with pytest.raises(TypeError, match="'later' is a coroutine function: await acall_tool_result"):
        call_tool_result(later, {"n": 1})
    assert "- /n: Input" in error_text(await acall_tool_result(later, {"n": "1"}))


def test_changes_list_the_strings_that_were_read() -> None:
    @tool
    def total(items: list[int]) -> int:
        return sum(items)

    changes: list[Change] = []
    result = call_tool_result(total, {"items": "[1, 2]"}, changes=changes)
    assert {"result": 3} == result["structuredContent"]
    assert [("/items", "JSON_STRING_DECODED")] == [
        (change.instance_location, change.code) for change in changes
    ]


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        (
            (
                "unknown MCP protocol version '1999-01-01'; expected one of 2024-11-05,"
                " 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28"
            ),
            {"protocol_version": "1999-01-01"},
        ),
        ('invalid profile \'json\'; expected one of "specification", "text"', {"profile": "json"}),
    ],
)
def test_options_are_checked(expected: str, options: Any) -> None:
    with pytest.raises(ValueError, match=r"\w") as caught:
        call_tool_result(register_user, {}, **options)
    assert expected == str(caught.value)


def test_a_resource_that_is_missing_is_raised() -> None:
    """It is a fault of the server, about which the caller can do nothing."""

    @tool(injected=["db"])
    def find(db: Any) -> int:
        return 1

    with pytest.raises(NotProvided):
        call_tool_result(find, {})


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in RESULTS
        if "value" in case.values[0]["returned"] and case.values[0]["want"]["result"]
    ],
)
def test_a_shared_case_of_results(case: dict[str, Any]) -> None:
    """These are the cases of values; tests/core/mcp and every client run them too."""
    schema = case.get("tool", {}).get("outputSchema")
    function = returning(Any, case["returned"]["value"], output_schema=schema)
    profile = case.get("profile", "specification")
    result = call_tool_result(function, {}, protocol_version=case["version"], profile=profile)
    if case["want"]["valid"]:
        assert case["want"]["result"] == result
    else:
        assert result["isError"] is True


@pytest.mark.parametrize(
    "case", [case for case in ADAPTATIONS if "outputSchema" in case.values[0]["want"]["tool"]]
)
def test_a_shared_case_of_adaptation(case: dict[str, Any]) -> None:
    """Values are wrapped where the output schema is."""
    schema = case["tool"]["outputSchema"]
    assert case["want"]["wrapped_property"] == wrapping_of(schema, case["version"])


def test_versions_match_the_service() -> None:
    assert (context.VERSIONS, context.DEFAULT_VERSION) == (VERSIONS, DEFAULT_VERSION)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)  # fmt: skip
@example(1e-05)
@example(9e-06)
@example(1.2345e-06)
@example(1e16)
def test_json_is_written_as_the_service_writes_it(value: Any) -> None:
    assert msgspec.json.encode(value).decode() == json_text(value)


def test_invalid_arguments_of_a_tool_within_a_tool_are_its_failure() -> None:
    @tool
    def outer(n: int) -> Any:
        return register_user(username=n, born="x")  # type: ignore[arg-type]

    with pytest.raises(InvalidArguments):
        outer(1)
    assert error_text(call_tool_result(outer, {"n": 1})).startswith("Invalid arguments for tool")
