"""Servers of @modelcontextprotocol/server 2, wrapped by the TypeScript client.

They run in a project of their own, since the tests of the client have the first SDK.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Literal

import mcp
import pytest
from conformance.languages import LANGUAGES
from mcp.shared.exceptions import MCPError
from sidecheck import BlockingClient
from support.npm_package import NPM_ENVIRONMENT, pack_typescript_client
from support.running import RunningServer
from support.shared_material import unavailable

_SDK = "@modelcontextprotocol/server@2.4.0"
_SERVER = Path(__file__).with_name("second_sdk_server.mjs")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the program of the servers and its packages."""
    if missing := LANGUAGES["TypeScript"].missing_programs():
        unavailable(f"{', '.join(missing)} not on PATH: no TypeScript server is started")
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"private": true}')
    subprocess.run(
        ["npm", "install", "--silent", str(pack_typescript_client(folder)), _SDK],
        cwd=folder,
        env={**os.environ, **NPM_ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=900,
    )
    shutil.copy(_SERVER, folder)
    return folder


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("form", ["Server", "schemas", "McpServer"])
async def test_calls_and_results_are_validated(
    form: str, mode: Literal["auto", "legacy"], project: Path, shared_server: RunningServer
) -> None:
    """The handler gets repaired arguments, in both eras of the protocol."""
    server = mcp.StdioServerParameters(
        command="node",
        args=[_SERVER.name, form],
        cwd=project,
        env={"PATH": os.environ["PATH"], "SIDECHECK_ADDRESS": shared_server.address},
    )
    async with mcp.Client(server, read_timeout_seconds=300, mode=mode) as client:
        await client.list_tools()
        good = await client.call_tool("get_forecast", {"city": "Oslo"})
        repaired = await client.call_tool("get_forecast", {"city": 7})
        bad = await client.call_tool("get_forecast", {})
        wrong = await client.call_tool("get_forecast", {"city": "Atlantis"})
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("get_tides", {})
    with BlockingClient(shared_server.address, timeout=60) as client_of_sidecheck:
        client_of_sidecheck.delete_all(f"second SDK: {form}")

    assert (False, {"celsius": 11}) == (good.is_error, good.structured_content)
    assert '"city":"7"' in _text(repaired)
    assert bad.is_error
    assert '"city" is required and missing' in _text(bad)
    # The tools of an McpServer have no output schema here: such a server validates by itself.
    assert (form != "McpServer") == wrong.is_error
    assert -32602 == unknown.value.code


def _text(result: Any) -> str:
    return str(result.content[0].text)
