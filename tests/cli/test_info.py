"""`sidecheck info`: what a server is, in columns and in JSON."""

import json
from dataclasses import asdict
from typing import Any

from click.testing import CliRunner, Result
from sidecheck import BlockingClient
from sidecheck_server import __version__
from sidecheck_server.cli import sidecheck
from support.running import RunningServer


def run(*words: str, **environment: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, words, env=environment, catch_exceptions=False)


def test_info_describes_a_server(shared_server: RunningServer) -> None:
    """The text has two columns."""
    result = run("info", SIDECHECK_LISTEN=shared_server.address)
    rows = result.stdout.splitlines()

    assert 0 == result.exit_code
    assert f"version            {__version__}" == rows[0]
    assert "dialects           https://json-schema.org/draft/2020-12/schema (default)" == rows[1]
    assert "                   http://json-schema.org/draft-04/schema" == rows[5]
    assert "                   2025-11-25 (default)" in rows
    assert "engines            fast: fastjsonschema 2.22.3" in rows
    assert [["payload_bytes", "1,048,576"]] == [
        row.split() for row in rows if row.startswith("                   payload_bytes ")
    ]
    assert {19} == {len(row) - len(row[17:].lstrip()) for row in rows}


def test_info_has_the_same_content_in_json(shared_server: RunningServer) -> None:
    """It has the fields of the Python client."""
    with BlockingClient(shared_server.address, timeout=120) as client:
        info: Any = json.loads(json.dumps(asdict(client.info())))

    assert info == json.loads(
        run("info", "--target", shared_server.unix_address, "--format", "json").stdout
    )
