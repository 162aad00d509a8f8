"""Forms in which tools are registered, and the texts of their definitions."""

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import types
from pydantic import BaseModel
from sidecheck import (
    AdaptedTool,
    BlockingClient,
    Client,
    Document,
    InferredTool,
    JsonText,
    Tool,
    ToolDefinition,
)
from sidecheck.inference import tool
from sidecheck.tool_lists import split_definitions
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_outcomes import read_tools_list
from support.scripted_calls import capture, scripted_client
from support.weather_tools import ALERTS, FORECAST

#: A definition whose text differs from what any encoder writes.
TEXT = b'{ "name": "a", "inputSchema": {"maximum": 1.50, "maximum": 1e400} , "x": "\\u00e9" }'
OTHER = b'{"name":"b"}'
SDK = types.Tool(name="get_forecast", input_schema={"type": "object"})
SDK_TEXT = b'{"name":"get_forecast","inputSchema":{"type":"object"}}'


class Listed(BaseModel):
    tools: list[dict[str, Any]]


@dataclass
class Definition:
    name: str
    description: str | None = None


@tool()
def add(a: int) -> int:
    """Add one."""
    return a + 1


@tool()
def subtract(a: int) -> int:
    """Subtract one."""
    return a - 1


def registered(*tools: Any, **settings: Any) -> list[tuple[bytes, list[str]]]:
    """Return the text of each definition that is sent, and the URIs of its documents."""
    requests: list[Any] = capture(
        scripted_client(), lambda client: client.register("s", *tools, **settings)
    )
    return [
        (message.json, [document.uri for document in message.documents])
        for request in requests
        for message in request.tools
    ]


@pytest.mark.parametrize(
    ("expected", "tools"),
    [
        pytest.param([TEXT], TEXT, id="a definition"),
        pytest.param([TEXT, OTHER], b" [ %s , %s ] " % (TEXT, OTHER), id="a list"),
        pytest.param([], b"[]", id="an empty list"),
        pytest.param(
            [TEXT, OTHER], b'{"tools": [%s,%s], "_meta": {}}' % (TEXT, OTHER), id="a result"
        ),
        pytest.param(
            [OTHER],
            b'{"jsonrpc": "2.0", "id": 1, "result": {"tools":\n[%s\t] }}' % OTHER,
            id="a response",
        ),
        pytest.param([], b'{"tools": [ ]}', id="an empty result"),
        pytest.param([OTHER], b'{"tools": [%s], "nextCursor": "x"}' % OTHER, id="a page"),
        pytest.param(
            [b'{"inputSchema":{},"tools":[]}'],
            b'{"inputSchema":{},"tools":[]}',
            id="a definition with a property that a result has",
        ),
        pytest.param(
            [b'{"name":1,"name":2}'], b'{"name":1,"name":2}', id="a definition with two names"
        ),
        pytest.param([b'{"name":"\n"}'], b'{"name":"\n"}', id="a control character in a string"),
        pytest.param([b"5"], b"5", id="a number"),
        pytest.param([b"[]", b"5"], b"[[], 5]", id="a list of no definitions"),
    ],
)
def test_text_is_split_into_definitions(expected: list[bytes], tools: bytes) -> None:
    """Each is sent byte for byte; the server rejects invalid definitions."""
    texts: list[Any] = [(text, []) for text in expected]
    assert [texts] * 3 == [registered(kind(tools)) for kind in (bytes, bytearray, memoryview)]


@pytest.mark.parametrize(
    ("expected", "tools"),
    [
        pytest.param([(OTHER, [])], {"name": "b"}, id="an object"),
        pytest.param([(OTHER, [])], MappingProxyType({"name": "b"}), id="a mapping"),
        pytest.param([(OTHER, [])], Definition("b"), id="a dataclass"),
        pytest.param([(SDK_TEXT, [])], SDK, id="a tool of the SDK"),
        pytest.param(
            [(SDK_TEXT, []), (SDK_TEXT, [])],
            types.ListToolsResult(tools=[SDK, SDK]),
            id="a result of the SDK",
        ),
        pytest.param([(OTHER, [])], Listed(tools=[{"name": "b"}]), id="a model of a result"),
        pytest.param([(OTHER, [])], {"tools": [{"name": "b"}]}, id="a result"),
        pytest.param([(OTHER, [])], {"tools": ({"name": "b"},)}, id="a result with a tuple"),
        pytest.param(
            [(OTHER, [])],
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "b"}]}},
            id="a response",
        ),
        pytest.param(
            [(b'{"name":null}', [])], {"name": None}, id="a definition with a null of its own"
        ),
        pytest.param(
            [(TEXT, ["u"])], ToolDefinition(TEXT, (Document("u", True),)), id="with a document"
        ),
        pytest.param(
            [(TEXT, ["u"])],
            Tool(server="s", name="a", json=TEXT, documents=(Document("u", b"{}"),)),
            id="a registered tool",
        ),
        pytest.param(
            [(OTHER, [])],
            InferredTool(json=JsonText(OTHER), function="f", line=1, definition_digest=""),
            id="an inferred tool",
        ),
        pytest.param([(OTHER, [])], AdaptedTool(json=JsonText(OTHER)), id="an adapted tool"),
        pytest.param(
            [(TEXT, []), (OTHER, []), (OTHER, ["u"]), (SDK_TEXT, [])],
            (
                item
                for item in (
                    TEXT,
                    {"name": "b"},
                    ToolDefinition({"name": "b"}, (Document("u", True),)),
                    SDK,
                )
            ),
            id="a generator of each",
        ),
        pytest.param([], (), id="none"),
    ],
)
def test_objects_are_definitions(expected: list[tuple[bytes, list[str]]], tools: Any) -> None:
    """The argument is one object, many, or a whole result."""
    assert expected == registered(tools)


def test_functions_are_definitions() -> None:
    """They stand alone, one after another, or in a list with other definitions."""
    expected = [["add"], ["add", "subtract"], ["b", "add", "subtract"]]
    calls: list[Any] = [(add,), (add, subtract), ([{"name": "b"}, add], subtract)]
    assert expected == [
        [json.loads(text)["name"] for text, _ in registered(*tools)] for tools in calls
    ]


@pytest.mark.parametrize(
    ("kind", "message", "tools"),
    [
        (ValueError, "tools is not JSON text: Expecting value: line 1 column 1", b"not json"),
        (ValueError, "tools is not JSON text: Expecting value: line 1 column 1", b""),
        (ValueError, "tools is not JSON text: Extra data: line 1 column 4", b"{} {}"),
        (ValueError, "tools is not JSON text: byte 1 is not UTF-8", b'"\xff"'),
        (ValueError, "tools is JSON text that nests too deep", b"[" * 100_000),
        (
            ValueError,
            "tools is a JSON-RPC message without a result that lists tools",
            b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}',
        ),
        (
            ValueError,
            "tools is a JSON-RPC message without a result that lists tools",
            b'{"jsonrpc": "2.0", "id": 1, "result": []}',
        ),
        (
            ValueError,
            'tools is a result whose "tools" is not an array of definitions',
            {"tools": {"name": "a"}},
        ),
        (
            ValueError,
            'tools is a result whose "tools" is not an array of definitions',
            {"result": {}},
        ),
        (ValueError, "tools has two properties 'tools'", b'{"tools": [], "tools": []}'),
        (
            TypeError,
            "tools must be definitions, one or an iterable of them, or a tools/list result, not",
            None,
        ),
        (TypeError, "tools[1] must not be a str; pass bytes for JSON text", [OTHER, "{}"]),
        (ValueError, "tools[0]: the value is of type complex", [1j]),
        (ValueError, "tools: /x is of type complex", {"x": 1j}),
        (TypeError, "function print is not a tool", print),
    ],
)
def test_an_invalid_list_of_tools_is_an_error(
    kind: type[Exception], message: str, tools: Any
) -> None:
    """It is raised before anything is sent."""
    with pytest.raises(kind) as raised:
        registered(tools)
    assert str(raised.value).startswith(message)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab\\"]},[{:\n', max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text('ab}"', max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
DEFINITIONS = st.dictionaries(st.sampled_from(["name", "inputSchema", "x"]), JSON)
LISTS = st.lists(DEFINITIONS | JSON, max_size=4)
RESULTS = st.fixed_dictionaries({"tools": LISTS | JSON}, optional={"_meta": JSON, "name": JSON})
RESPONSES = st.fixed_dictionaries(
    {"result": RESULTS | JSON}, optional={"jsonrpc": JSON, "inputSchema": JSON}
)
DOCUMENTS = DEFINITIONS | LISTS | RESULTS | RESPONSES | st.just({"jsonrpc": "2.0"}) | JSON


@given(document=DOCUMENTS, indent=st.sampled_from([None, 1]), space=st.sampled_from(["", " \n\t"]))
def test_the_client_and_the_server_split_text_alike(
    document: Any, indent: int | None, space: str
) -> None:
    """Both read the same texts from a list of tools."""
    text = f"{space}{json.dumps(document, indent=indent)}{space}".encode()
    try:
        expected = [listed.json for listed in read_tools_list(text, Limits()).tools]
    except RequestError:
        with pytest.raises(ValueError, match="tools "):
            split_definitions(text)
    else:
        assert expected == split_definitions(text)


@pytest.mark.parametrize("cursor", [b'"x"', b"5"])
def test_a_page_cannot_replace_all_tools(cursor: bytes) -> None:
    """The tools of the other pages would be deleted."""
    page = b'{"tools": [], "nextCursor": %s}' % cursor
    with pytest.raises(ValueError, match="one page of several"):
        registered(page, replace=True)
    assert [] == registered(page.replace(cursor, b"null"), replace=True)


async def test_a_list_of_the_sdk_is_registered(client: Client) -> None:
    """The text of a server is registered byte for byte."""
    listed = types.ListToolsResult.model_validate({"tools": [FORECAST, ALERTS]})
    first = await client.register("weather", listed)
    text = json.dumps({"tools": [FORECAST, ALERTS]}, indent=1).encode()
    again = await client.register("weather", text)
    assert [["created"] * 2, ["unchanged"] * 2] == [
        [outcome.action.value for outcome in registration.outcomes]
        for registration in (first, again)
    ]
    stored = [stored async for stored in client.list("weather")]
    assert [["unchanged"] * 2] == [
        [outcome.action.value for outcome in (await client.register("weather", stored)).outcomes]
    ]


def test_checks_and_conversions_read_the_same_forms() -> None:
    """A check sends a list whole, because there are rules for it too."""
    client, listed = scripted_client(), types.ListToolsResult(tools=[SDK])

    def check(client: BlockingClient) -> object:
        return client.protocol.check_tools(listed)

    def convert(client: BlockingClient) -> object:
        return client.conversion.convert_tools("ollama", listed)  # type: ignore[arg-type]

    (checked,), (converted,) = capture(client, check), capture(client, convert)
    request: Any = checked
    assert [json.loads(SDK_TEXT)] == json.loads(request.tools_list)["tools"]
    request = converted
    assert [SDK_TEXT] == [entry.tool.inline_tool.json for entry in request.tools]
