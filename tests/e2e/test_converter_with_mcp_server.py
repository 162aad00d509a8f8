"""The client's converter with the tools of published MCP servers."""

import copy
from pathlib import Path
from typing import Any

import pytest
from sidecheck import MCPToOpenAIConverter
from support.default_places import default_places, without_defaults
from support.shared_material import REPOSITORY, unavailable

mcp = pytest.importorskip("mcp", reason="the group bench of pyproject.toml is not installed")

SERVERS = REPOSITORY / ".venv-demo" / "bin"
TIME = ("mcp-server-time", "--local-timezone", "UTC")
GIT = ("mcp-server-git",)


async def list_tools(program: Path, *flags: str) -> list[dict[str, Any]]:
    """Return the tools of all pages of a server, with the properties for the converter."""
    server = mcp.StdioServerParameters(command=str(program), args=list(flags))
    tools: list[Any] = []
    async with mcp.Client(server, read_timeout_seconds=300) as client:
        cursor = None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
        }
        for tool in tools
    ]


@pytest.mark.parametrize(
    ("count", "has_defaults", "command"),
    [pytest.param(12, True, GIT, id="git"), pytest.param(2, False, TIME, id="time")],
)
async def test_convert_real_mcp_tools(
    count: int, has_defaults: bool, command: tuple[str, ...]
) -> None:
    """Every tool of a server is converted, and its defaults are removed."""
    program, *flags = command
    if not (SERVERS / program).exists():
        unavailable("the MCP servers of the demo are not installed; `make demo` installs them")
    mcp_tools = await list_tools(SERVERS / program, *flags)
    before = copy.deepcopy(mcp_tools)

    openai_tools = MCPToOpenAIConverter.convert_all_tools(mcp_tools)

    assert len(openai_tools) == len(mcp_tools) == count
    for mcp_tool, tool in zip(mcp_tools, openai_tools, strict=True):
        assert {"type", "function"} == tool.keys()
        assert tool["type"] == "function"
        assert tool["function"] == {
            "name": mcp_tool["name"],
            "description": mcp_tool["description"],
            "parameters": without_defaults(mcp_tool["inputSchema"]),
        }
        assert isinstance(tool["function"]["description"], str)
        assert [] == default_places(tool["function"]["parameters"])
    assert before == mcp_tools
    assert has_defaults == any(default_places(tool["inputSchema"]) for tool in mcp_tools)
