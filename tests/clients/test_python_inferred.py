"""Inference of tools from source text by the Python client, with a real server."""

from typing import Any

import pytest
from sidecheck import Client, Diagnostic, InferredTools, Severity, SidecheckError

SOURCE = '''\
from mcp.server.fastmcp import FastMCP
from elsewhere import Session

server = FastMCP("tides")


@server.tool()
def get_tides(port: str, session: Session, days: int = 1) -> list[float]:
    """Tells when the water is high."""


class Ports:
    def add(self, name: str, secret: str) -> None: ...
'''
TIDES: dict[str, Any] = {
    "name": "get_tides",
    "description": "Tells when the water is high.",
    "inputSchema": {
        "type": "object",
        "properties": {"port": {"type": "string"}, "days": {"type": "integer", "default": 1}},
        "required": ["port"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "array", "items": {"type": "number"}},
}
ADD: dict[str, Any] = {
    "name": "add",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize("source", [SOURCE, SOURCE.encode()], ids=["str", "bytes"])
async def test_an_unresolved_name_is_a_diagnostic(source: str | bytes, client: Client) -> None:
    """The diagnostic has a location, and the tool is not inferred."""
    inferred = await client.inference.infer_tools(source)
    (diagnostic,) = inferred.diagnostics

    assert () == inferred.tools
    assert "Session" in diagnostic.message
    assert (
        Diagnostic(
            code="UNRESOLVED_NAME",
            severity=Severity.ERROR,
            message=diagnostic.message,
            line=8,
            column=35,
            end_line=8,
            end_column=42,
            function="get_tides",
            parameter="session",
        )
        == diagnostic
    )


async def test_a_tool_is_inferred(client: Client) -> None:
    """The tool has a definition, the name of its function and a line."""
    inferred = await client.inference.infer_tools(SOURCE, injected_types=["Session"])
    (tool,) = inferred.tools
    await client.register("weather", [tool.definition], protocol_version="2026-07-28")
    registered = [item async for item in client.list("weather")]

    assert (TIDES, "get_tides", 8) == (tool.definition, tool.function, tool.line)
    assert [tool.definition_digest] == [item.definition_digest for item in registered]
    assert () == inferred.diagnostics


async def test_functions_and_injected_parameters_can_be_selected(client: Client) -> None:
    """Methods are selected with the name of their class."""
    inferred = await client.inference.infer_tools(
        SOURCE,
        functions=["get_tides", "Ports.add"],
        on_unsupported="any",
        injected_parameters=["secret"],
    )
    tides, add = inferred.tools

    assert ({}, ADD) == (tides.definition["inputSchema"]["properties"]["session"], add.definition)
    assert [("UNRESOLVED_NAME", Severity.WARNING)] == [
        (item.code, item.severity) for item in inferred.diagnostics
    ]


async def test_invalid_python_is_a_diagnostic(client: Client) -> None:
    """Source without functions is valid and has no tools."""
    invalid = await client.inference.infer_tools(b"def f(")

    assert ((), ["SYNTAX_ERROR"]) == (invalid.tools, [item.code for item in invalid.diagnostics])
    assert InferredTools(tools=()) == await client.inference.infer_tools("")


async def test_errors_are_raised(client: Client) -> None:
    """The error has a reason and metadata."""
    with pytest.raises(SidecheckError) as caught:
        await client.inference.infer_tools(" " * 262_145)

    assert ("LIMIT_EXCEEDED", "source_bytes") == (
        caught.value.reason,
        caught.value.metadata["bound"],
    )


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (TypeError, {"source": SOURCE, "functions": "get_tides"}),
        (TypeError, {"source": SOURCE, "injected_types": b"Session"}),
        (TypeError, {"source": SOURCE, "injected_parameters": [1]}),
        (TypeError, {"source": None}),
        (ValueError, {"source": SOURCE, "on_unsupported": "guess"}),
        (ValueError, {"source": "'\ud800'"}),
    ],
)
async def test_invalid_arguments_are_errors(
    kind: type[Exception], arguments: dict[str, Any], client: Client
) -> None:
    """Arguments are checked before a request is sent."""
    with pytest.raises(kind):
        await client.inference.infer_tools(**arguments)
