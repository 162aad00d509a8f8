"""`server.json` of the MCP registry."""

import json
from typing import Any

import pytest
from sidecheck_server.core.portability.server_json import check_server_json, is_server_json

SERVER: dict[str, Any] = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    "name": "io.github.user/weather",
    "description": "Weather of any place.",
    "version": "1.0.2",
    "packages": [
        {
            "registryType": "pypi",
            "identifier": "weather",
            "version": "1.0.2",
            "transport": {"type": "stdio"},
            "packageArguments": [{"type": "positional", "value": "serve"}],
            "environmentVariables": [{"name": "API_KEY", "isSecret": True}],
        }
    ],
    "remotes": [{"type": "streamable-http", "url": "https://example.com/mcp"}],
}


def with_package(**changes: Any) -> dict[str, Any]:
    """Return `SERVER` with changes of its package."""
    return {**SERVER, "packages": [{**SERVER["packages"][0], **changes}]}


@pytest.mark.parametrize(
    ("expected", "server"),
    [
        pytest.param([], SERVER, id="complete"),
        pytest.param([("/name", "PATTERN")], {**SERVER, "name": "weather"}, id="name"),
        pytest.param(
            [("/description", "MAX_LENGTH")], {**SERVER, "description": "d" * 101}, id="description"
        ),
        pytest.param([("/packages/0/version", "NOT")], with_package(version="latest"), id="latest"),
        pytest.param(
            [("/packages/0/transport", "REQUIRED")],
            with_package(transport={"type": "sse"}),
            id="transport without a URL",
        ),
        pytest.param(
            [("/packages/0/packageArguments/0", "REQUIRED")],
            with_package(packageArguments=[{"type": "named"}]),
            id="argument without a name",
        ),
        pytest.param(
            [("/packages/0/environmentVariables/0", "REQUIRED")],
            with_package(environmentVariables=[{}]),
            id="variable without a name",
        ),
        pytest.param(
            [("/remotes/0/url", "PATTERN")],
            {**SERVER, "remotes": [{"type": "sse", "url": "example.com"}]},
            id="URL without a scheme",
        ),
        pytest.param([("/websiteUrl", "FORMAT")], {**SERVER, "websiteUrl": "a b"}, id="website"),
    ],
)
def test_requirements(expected: list[tuple[str, str]], server: dict[str, Any]) -> None:
    """The violations have location and code."""
    verdict = check_server_json(json.dumps(server).encode())

    assert expected == [(v.instance_location, v.code) for v in verdict.violations]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (True, SERVER),
        (True, {"name": "a/b", "version": "1", "remotes": []}),
        (False, {"name": "a", "inputSchema": {"type": "object"}}),
        (False, {"tools": []}),
        (False, []),
    ],
)
def test_which_files_are_server_json(expected: bool, value: Any) -> None:
    """Everything else is read as tools."""
    assert expected is is_server_json(value)
