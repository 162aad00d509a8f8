"""The settings of Envoy in the tutorial for a gateway's owner, with a real Envoy."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.gateway import Gateway
from support.http_mcp_server import HttpMcpServer, http_mcp_server
from support.running import RunningServer
from support.running_envoy import Configuration, running_envoy
from support.tokens import TOKENS, tokens_file

from docs.generate.pages import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "tutorials" / "gateway.md").read_text(encoding="utf-8")
_FILES = dict(re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', _PAGE, re.MULTILINE | re.DOTALL))
_ROUTE: list[dict[str, str]] = yaml.safe_load(_FILES["grpc_initial_metadata.yaml"])


def calls() -> list[dict[str, Any]]:
    """Return the calls of the program in the page to tools that are listed."""
    text = re.search(r"^CALLS = (\[.*?^\])", _FILES["gateway.py"], re.MULTILINE | re.DOTALL)
    assert text is not None
    return [call for call in ast.literal_eval(text[1]) if call["name"] != "delete_all"]


@pytest.fixture(scope="module")
def sidecheck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return the service with the settings of the page."""
    folder = tmp_path_factory.mktemp("sidecheck")
    (folder / "tokens.toml").write_text(tokens_file())
    settings = re.sub(r'"(tokens\.toml|tools\.db)"', rf'"{folder}/\1"', _FILES["sidecheck.toml"])
    (folder / "sidecheck.toml").write_text(settings)
    running = RunningServer(folder, "--config", str(folder / "sidecheck.toml"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def server() -> Iterator[HttpMcpServer]:
    """Return a server that lists the tools of the page."""
    with http_mcp_server() as running:
        running.tools = json.loads(_FILES["tools.json"])["tools"]
        yield running


@pytest.mark.parametrize(
    ("route", "outcomes"),
    [
        (_ROUTE[:1], ["forwarded", "the tool's error", "the tool's error"]),
        (_ROUTE, ["forwarded", "the tool's error", "forwarded"]),
    ],
    ids=["enforce", "exemption"],
)
def test_envoy_answers_as_the_page_says(
    route: list[dict[str, str]],
    outcomes: list[str],
    sidecheck: RunningServer,
    server: HttpMcpServer,
    tmp_path: Path,
) -> None:
    """The three settings replace those of `deploy/envoy/envoy.yaml`."""

    def change(configuration: Configuration) -> None:
        service = _FILES["grpc_service.yaml"].replace("TOKEN", TOKENS["both"])
        configuration.processor["grpc_service"] = yaml.safe_load(service)
        path = yaml.safe_load(_FILES["address.yaml"])["pipe"]["path"]
        assert sidecheck.socket.name == Path(path).name
        configuration.set_metadata(
            {item["key"].removeprefix("sidecheck-"): item["value"] for item in route}
        )

    with running_envoy(tmp_path, server.url, sidecheck.unix_address, change) as envoy:
        gateway = Gateway(envoy, server, "notes")
        gateway.begin()
        results = [gateway.post("tools/call", call).json()["result"] for call in calls()]
        entries = envoy.entries(3 + len(results))[3:]
        gateway.client.close()

    assert outcomes == [
        "the tool's error" if result.get("isError") else "forwarded" for result in results
    ]
    verdict = "invalid" if outcomes[2] == "forwarded" else "rejected"
    assert ("TYPE", verdict) == (entries[2]["code"], entries[2]["verdict"])
    rows = re.findall(
        r"^\| `\w+`, [^|]*\| ([^|]*) \| ([^|;]*?)(?:;[^|]*)? \|$", _PAGE, re.MULTILINE
    )
    assert outcomes == [row[len(route) - 1] for row in rows]
