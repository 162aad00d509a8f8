"""The MCP server that the proxy starts."""

import sys

import pytest
from sidecheck_server.proxy.stdio.server_process import start_server

_PRINT = "import os; print(os.environ.get('SIDECHECK_TOKEN'), os.environ['OTHER'])"


async def test_a_server_has_the_environment_without_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The token is for the service that the proxy calls."""
    monkeypatch.setenv("SIDECHECK_TOKEN", "sct_secret")
    monkeypatch.setenv("OTHER", "kept")
    server = await start_server([sys.executable, "-c", _PRINT], 2)
    output = b""
    while chunk := await server.reader.read(100):
        output += chunk

    assert (b"None kept", 0) == (output.strip(), await server.wait())
