"""MCP servers of all kinds that the Python client wraps, with the fake in place of Sidecheck."""

import json
import os
import subprocess
from typing import Any

import pytest
from mcp.server.lowlevel import Server
from sidecheck import Unavailable
from sidecheck.mcp import with_sidecheck
from sidecheck.mcp.tool_calls import log_error
from sidecheck.testing import FakeValidator
from support.shared_material import REPOSITORY, unavailable
from support.wrapped_servers import EXPECTED, call_wrapped

ENVIRONMENTS = {
    ".venv-mcp-1": ["Server of mcp 1", "FastMCP of mcp 1", "FastMCP of fastmcp"],
    ".venv-fastmcp-2": ["FastMCP of fastmcp"],
}


@pytest.mark.parametrize("kind", ["Server of mcp 2", "MCPServer of mcp 2", "FastMCP of fastmcp"])
async def test_servers_of_this_environment_are_wrapped(kind: str) -> None:
    """Calls, results and a server that is not available are the same for each."""
    assert EXPECTED == await call_wrapped(kind)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_servers_of_earlier_releases_are_wrapped(environment: str) -> None:
    """The same holds for mcp 1 and for fastmcp 2 and 3, in environments of their own."""
    python = REPOSITORY / environment / "bin" / "python"
    if not python.exists():
        unavailable(f"{environment} is not there: make {environment}/.made")
    kinds = ENVIRONMENTS[environment]
    done = subprocess.run(
        [python, "-m", "support.wrapped_servers", *kinds],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(
                str(REPOSITORY / folder) for folder in ("tests", "clients/python")
            ),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    assert dict.fromkeys(kinds, EXPECTED) == json.loads(done.stdout)


@pytest.mark.parametrize("server", [object(), "weather", FakeValidator()])
def test_other_objects_are_rejected(server: Any) -> None:
    """The error lists the kinds of servers."""
    with pytest.raises(TypeError) as error:
        with_sidecheck(server, FakeValidator())
    assert str(error.value) == (
        "expected an MCPServer or mcp.server.lowlevel.Server of mcp 2, a FastMCP or"
        " mcp.server.lowlevel.Server of mcp 1, or a FastMCP of fastmcp 2 to 4;"
        f" not {type(server).__name__}"
    )


def test_a_server_without_tools_is_rejected() -> None:
    """Its handlers must be there before."""
    with pytest.raises(ValueError, match="no handler for tools/list or tools/call"):
        with_sidecheck(Server("weather"), FakeValidator())


def test_the_log_names_the_cause_of_a_failed_connection(caplog: pytest.LogCaptureFixture) -> None:
    """Messages of servers, which may have values of payloads, are not logged."""
    cause = {"cause": "CONNECTION_REFUSED", "address": "localhost:1"}
    log_error(Unavailable("UNAVAILABLE", "connection refused at localhost:1", cause))
    log_error(Unavailable("INTERNAL", "the payload is 7"))
    assert caplog.messages == [
        "Sidecheck did not validate a call: UNAVAILABLE: connection refused at localhost:1",
        "Sidecheck did not validate a call: INTERNAL",
    ]
