"""The Python client has tools inferred from source text, with both of its faces."""

from typing import Any

import pytest
from sidecheck import Client, Diagnostic, Inferred, Severity, SidecheckError

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
async def test_what_cannot_be_told_is_a_diagnostic(source: str | bytes, client: Client) -> None:
    """With its place; the tool is not inferred."""
    done = await client.inference.infer_tools(source)
    (found,) = done.diagnostics

    assert () == done.tools
    assert "Session" in found.message
    assert (
        Diagnostic(
            code="UNRESOLVED_NAME",
            severity=Severity.ERROR,
            message=found.message,
            line=8,
            column=35,
            end_line=8,
            end_column=42,
            function="get_tides",
            parameter="session",
        )
        == found
    )


async def test_a_tool_is_inferred(client: Client) -> None:
    """Its definition, and where it is from."""
    done = await client.inference.infer_tools(SOURCE, injected_types=["Session"])
    (tool,) = done.tools
    await client.register("weather", [tool.definition], protocol_version="2026-07-28")
    registered = [one async for one in client.list("weather")]

    assert (TIDES, "get_tides", 8) == (tool.definition, tool.function, tool.line)
    assert [tool.digest] == [one.definition_digest for one in registered]
    assert () == done.diagnostics


async def test_the_functions_and_what_they_take_are_the_callers_choice(client: Client) -> None:
    """Methods by the name of their class."""
    done = await client.inference.infer_tools(
        SOURCE,
        functions=["get_tides", "Ports.add"],
        on_unsupported="any",
        injected_parameters=["secret"],
    )
    tides, add = done.tools

    assert ({}, ADD) == (tides.definition["inputSchema"]["properties"]["session"], add.definition)
    assert [("UNRESOLVED_NAME", Severity.WARNING)] == [
        (one.code, one.severity) for one in done.diagnostics
    ]


async def test_what_is_no_python_is_an_answer(client: Client) -> None:
    """As no tools are."""
    broken = await client.inference.infer_tools(b"def f(")

    assert ((), ["SYNTAX_ERROR"]) == (broken.tools, [one.code for one in broken.diagnostics])
    assert Inferred(tools=()) == await client.inference.infer_tools("")


async def test_refusals_are_raised(client: Client) -> None:
    """With their reason."""
    with pytest.raises(SidecheckError) as refused:
        await client.inference.infer_tools(" " * 65_537)

    assert ("LIMIT_EXCEEDED", "source_bytes") == (
        refused.value.reason,
        refused.value.metadata["bound"],
    )


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (TypeError, {"source": SOURCE, "functions": "get_tides"}),
        (TypeError, {"source": SOURCE, "injected_types": b"Session"}),
        (TypeError, {"source": SOURCE, "injected_parameters": [1]}),
        (TypeError, {"source": None}),
        (ValueError, {"source": SOURCE, "on_unsupported": "guess"}),
        (ValueError, {"source": "'\ud800'"}),
    ],
)
async def test_what_cannot_be_asked_is_an_error(
    kind: type[Exception], given: dict[str, Any], client: Client
) -> None:
    """Before anything is sent."""
    with pytest.raises(kind):
        await client.inference.infer_tools(**given)
