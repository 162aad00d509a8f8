"""Command lines of `sidecheck proxy` that are errors before anything is relayed."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.stdio_proxy import PROXY, SECONDS, codes

_LOCK = {"format": 1, "tools": {"echo": {"digest": "", "definition": {}}}}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--listen", "127.0.0.1:1"], "--listen has no effect without --upstream"),
        (["--header", "A: b"], "--header has no effect without --upstream"),
        (["--reconnect"], "--reconnect has no effect without --upstream"),
        (["--allow-origin", "http://a"], "--allow-origin has no effect without --listen"),
        (["--certificate", "a"], "--certificate has no effect without --listen"),
        (["--private-key", "a"], "--private-key has no effect without --listen"),
        (["--max-connections", "9"], "--max-connections has no effect without --listen"),
        (["--write-seconds", "9"], "--write-seconds has no effect without --listen"),
        (["--allow-host", "nginx"], "--allow-host has no effect without --listen"),
        (["--allow-host", "http://a"], "http://a: expected a host name, NAME:PORT or *"),
        (["--public-url", "http://a/mcp"], "--public-url has no effect without --listen"),
        (["--public-url", "http://a/mcp?b"], "http://a/mcp?b: expected a URL of http or https"),
        (["--keep-alive", "5"], "--keep-alive has no effect without --listen"),
        (["--timeout", "0"], "0.0 is not in the range 0<x<=86400"),
        (
            ["--max-bytes-in-flight", "33554431"],
            "--max-bytes-in-flight must be at least 33554432, twice --max-message-bytes",
        ),
        (["--on-unavailable", "deny"], "--on-unavailable has no effect without --service"),
        (["--pins-file", "a"], "--pins-file has no effect without --pins"),
        (
            ["--repair", "defaults", "--arguments", "off"],
            "--repair has no effect with --arguments off",
        ),
        (["--report", "a", "--record", "a"], "--report and --record name the same file"),
        (["--service", "http://a:1"], "invalid address 'http://a:1'"),
        (["--service", ""], "invalid address ''"),
        (["--pins", "locked"], "sidecheck-pins.json: no such file; run once with --pins first-use"),
        (["--pins", "locked", "--pins-file", "folder"], "folder is a folder; expected a regular"),
        (["--pins", "locked", "--pins-file", "fifo"], "fifo is a FIFO; expected a regular file"),
        (["--pins", "first-use", "--pins-file", "/dev/zero"], "/dev/zero is a device; expected"),
        (["--pins", "locked", "--pins-file", "empty"], "empty: not a lock file of pinned tools"),
        (["--pins", "locked", "--pins-file", "lock"], 'the digest of "echo" is not that of its'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_option_is_an_error(options: list[str], error: str, tmp_path: Path) -> None:
    """The message names it, and no message is relayed."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "empty").touch()
    (tmp_path / "lock").write_text(json.dumps(_LOCK))
    run = subprocess.run(
        [*PROXY[:-1], *options, "--", "cat"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )

    assert (2, "") == (run.returncode, run.stdout)
    assert f"Error: {error}" in run.stderr or f": {error}" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("url", ["ftp://a/mcp", "http://", "http://[::1/mcp", "http://a:99999/mcp"])
def test_a_wrong_upstream_is_an_error(url: str, tmp_path: Path) -> None:
    """The message has the URL."""
    run = subprocess.run(
        [*PROXY[:-1], "--upstream", url],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )

    assert 2 == run.returncode
    assert f"Error: --upstream {url}: expected an URL of http or https" in run.stderr


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--header", "secret"], '--header: expected "NAME:VALUE", such as "X-Api-Key: abc"'),
        (["--header", "a b: secret"], '--header: expected "NAME:VALUE", such as "X-Api-Key: abc"'),
        (["--header", "A: se\ncret"], "--header A: the value has control characters"),
        (["--header", "Host: secret"], "--header Host: the proxy sets this header itself"),
        (
            ["--header", "A: secret", "--listen", "127.0.0.1:0"],
            "--header works over stdio only, not with --listen",
        ),
        (["--allow-path", "/a"], "--allow-path has no effect without --listen"),
        (["--restart"], "--restart works with -- COMMAND only, not with --upstream"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_header_is_an_error(options: list[str], error: str) -> None:
    """The message does not have its value, which may be a secret."""
    run = subprocess.run(
        [*PROXY[:-1], "--upstream", "http://127.0.0.1:9/mcp", *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )

    assert 2 == run.returncode
    assert f"Error: {error}" in run.stderr
    assert "secret" not in run.stderr


@pytest.mark.parametrize(
    ("options", "action"), [([], "rejected"), (["--messages", "audit"], "passed")]
)
def test_enforce_is_for_policies_that_are_not_given(options: list[str], action: str) -> None:
    """One that is given stays."""
    run = subprocess.run(
        [*PROXY[:-1], "--enforce", *options, "--", "cat"],
        input='{"jsonrpc":"2.0","id":{},"method":"ping"}\n',
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )

    assert f"client->server ping ID_TYPE /id error, {action}" in codes(run.stderr)
