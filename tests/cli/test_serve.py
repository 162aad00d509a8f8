"""`sidecheck serve`: flags, signals, and the log of the process."""

import dataclasses
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
from click.testing import CliRunner
from grpc_health.v1 import health_pb2, health_pb2_grpc
from sidecheck.v1 import target_pb2, validation_service_pb2
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from sidecheck_server.cli import sidecheck
from sidecheck_server.cli.serve import serve, setting_groups
from sidecheck_server.config.settings import Settings

HINT = "create it, or name a file in a folder that does"
DESCRIBED_DEFAULTS = {
    "registry": "in memory",
    "reflection": "yes",
    "inference": "yes",
    "tokens_file": "anybody may call",
    "admin_listen": "none",
    "admin_open": "no",
}
NOT_SETTINGS = {"print_envoy_config": False, "config": None, "tools": (), "tools_server": ()}
FLAGS = [flag for flag in serve.params if flag.name not in NOT_SETTINGS]
REQUEST = validation_service_pb2.ValidateRequest(
    target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=b'{"type": "integer"}')),
    subject=target_pb2.Subject(arguments=b'"x"'),
)


STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def _kill_servers() -> Iterator[None]:
    yield
    while STARTED:
        with STARTED.pop() as server:
            server.kill()


def start(*flags: str, **environment: str) -> subprocess.Popen[str]:
    """Start a server as the leader of a group of processes, as a shell does."""
    server = subprocess.Popen(
        [sys.executable, "-m", "sidecheck_server", "serve", "--log-format", "json", *flags],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment},
    )
    STARTED.append(server)
    return server


def wait_for_exit(server: subprocess.Popen[str]) -> tuple[int, str]:
    """Return the exit code of *server* and the rest of its standard error."""
    _, stderr = server.communicate(timeout=300)
    return server.returncode, stderr


def test_every_flag_is_a_setting_without_a_default_of_its_own() -> None:
    """A default would hide the environment and the file."""
    parameters = serve.make_context("serve", []).params
    names = {str(flag.name) for flag in FLAGS}

    assert {**dict.fromkeys(names), **NOT_SETTINGS} == parameters
    assert set() == names - set(Settings.model_fields)


@pytest.mark.parametrize("flag", FLAGS, ids=[str(flag.name) for flag in FLAGS])
def test_the_help_of_a_flag_has_the_default_of_its_setting(flag: Any) -> None:
    """It has none if the setting has none."""
    documented = re.search(r"\[default: (.*)\]", flag.help)
    default = Settings.model_fields[flag.name].default
    if flag.name in DESCRIBED_DEFAULTS:
        default = DESCRIBED_DEFAULTS[flag.name]

    assert (None if default is None else str(default).removesuffix(".0")) == (
        documented and documented[1]
    )


def test_the_help_lists_every_setting_and_limit_with_its_default() -> None:
    """A setting has a flag or a variable."""
    text = " ".join(CliRunner().invoke(sidecheck, ["serve", "--help"]).stdout.split())
    flags = {str(flag.name) for flag in serve.params}
    groups = dict(setting_groups())
    names = [name for name in Settings.model_fields if name not in {*flags, *groups}]
    missing = [name for name in names if f" SIDECHECK_{name.upper()} " not in text]
    for group, defaults in groups.items():
        for name, value in dataclasses.asdict(defaults).items():
            # Exemptions, the only value with parts, have no default.
            default = f"{value:,}" if type(value) is int else str(value).lower()
            default = "" if isinstance(value, dict) else default
            variable = f"SIDECHECK_{group.upper()}__{name.upper()}"
            entry = rf" {variable} [A-Z][^\[]+\. \[default: {default}\]"
            missing += [] if re.search(entry, text) else [variable]

    assert [] == missing


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--workers", "two"], "'--workers': 'two' is not a valid integer", id="type"),
        pytest.param(["--log-level", "loud"], "'loud' is not one of 'debug'", id="choice"),
        pytest.param(["--listen", ""], "there is no address to listen on", id="nowhere"),
        pytest.param(["--unix-socket-mode", "999"], "unix_socket_mode: ", id="mode"),
        pytest.param(
            ["--config", "/gone.toml"], "settings file /gone.toml does not exist", id="file"
        ),
        pytest.param(["now"], "unexpected extra argument", id="argument"),
        pytest.param(
            ["--tools", "gone.json"],
            "cannot read gone.json: No such file or directory",
            id="no such tools",
        ),
        pytest.param(
            ["--tools-server", "git"],
            "give --tools-server for each --tools or for none",
            id="a server without tools",
        ),
        pytest.param(
            ["--tools", "a.json", "--tools", "b.json", "--tools-server", "git"],
            "give --tools-server for each --tools or for none",
            id="tools without a server",
        ),
        pytest.param(
            ["--tools", "/dev/null", "--tools-server", "s" * 257],
            "tools.0.server: String should have at most 256 characters",
            id="a server with too long a name",
        ),
        pytest.param(
            ["--tools", "/dev/null"],
            "Error: /dev/null is a device; expected a regular file\n",
            id="a device of tools",
        ),
    ],
)
def test_an_invalid_command_exits_with_2(arguments: list[str], message: str) -> None:
    """It exits before the server starts."""
    result = CliRunner().invoke(sidecheck, ["serve", *arguments], catch_exceptions=False)

    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr


def test_a_flag_comes_before_the_environment_before_the_file(tmp_path: Path) -> None:
    """The error names the registry that cannot be opened."""
    config = tmp_path / "settings.toml"
    config.write_text('registry = "/file/tools.db"')
    flag = ("--registry", "/flag/tools.db")
    servers = [
        start("--config", str(config)),
        start("--config", str(config), SIDECHECK_REGISTRY="/variable/tools.db"),
        start("--config", str(config), *flag, SIDECHECK_REGISTRY="/variable/tools.db"),
    ]
    outcomes = [wait_for_exit(server) for server in servers]

    assert [
        (
            1,
            f"Error: {path} cannot be created: the folder {path.parent} does not exist; {HINT}\n",
        )
        for path in (Path("/file/tools.db"), Path("/variable/tools.db"), Path("/flag/tools.db"))
    ] == outcomes


def test_ctrl_c_stops_the_server_without_other_output() -> None:
    """The signal reaches the workers too, which ignore it: the server stops them.

    Watches of health receive NOT_SERVING and end at once; they would otherwise delay the
    stop until the end of the grace period.
    """
    server = start("--listen", "127.0.0.1:0", "--grace-seconds", "900")
    assert server.stderr is not None
    first_line = server.stderr.readline()
    with grpc.insecure_channel(json.loads(first_line)["addresses"][0]) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest())
        statuses = [next(watch).status]
        os.killpg(server.pid, signal.SIGINT)
        code, rest = wait_for_exit(server)
        statuses += [response.status for response in watch]

    serving = health_pb2.HealthCheckResponse
    assert (0, [serving.SERVING, serving.NOT_SERVING]) == (code, statuses)
    assert ["server.ready", "server.draining", "server.stopped"] == [
        json.loads(line)["event"] for line in (first_line + rest).splitlines()
    ]


@pytest.mark.parametrize(
    ("name", "processes"), [("SIGTERM", 1), ("SIGHUP", 1), ("SIGTERM", 2), ("SIGINT", 2)]
)
def test_a_signal_to_the_group_ends_no_worker_before_the_server(name: str, processes: int) -> None:
    """A supervisor or terminal signals all processes; none of them counts as crashed."""
    server = start("--listen", "127.0.0.1:0", "--processes", str(processes), "--drain-seconds", "1")
    assert server.stderr is not None
    first_line = server.stderr.readline()
    os.killpg(server.pid, signal.Signals[name])
    code, rest = wait_for_exit(server)

    assert 0 == code
    # Each process logs its stop.
    assert {"server.ready", "server.draining", "server.stopped"} == {
        json.loads(line)["event"] for line in (first_line + rest).splitlines()
    }


def test_ctrl_c_while_workers_start_prints_no_traceback() -> None:
    """They cannot ignore the signal before they run."""
    server = start("--listen", "127.0.0.1:0")
    while not _workers(server.pid):
        time.sleep(0.001)
    os.killpg(server.pid, signal.SIGINT)
    _, stderr = wait_for_exit(server)

    assert "Traceback" not in stderr
    assert "Fatal" not in stderr


def _workers(pid: int) -> list[psutil.Process]:
    workers = []
    for child in psutil.Process(pid).children():
        with suppress(psutil.NoSuchProcess):
            if "--multiprocessing-fork" in child.cmdline():
                workers.append(child)
    return workers


def test_a_closed_log_fails_no_call(tmp_path: Path) -> None:
    """Calls succeed and the server stops, although no event can be written."""
    server = start("--listen", "", "--unix-socket", str(tmp_path / "socket"))
    assert server.stderr is not None
    server.stderr.readline()
    server.stderr.close()
    with grpc.insecure_channel(f"unix:{tmp_path}/socket") as channel:
        stub: Any = ValidationServiceStub(channel)
        valid = [stub.Validate(REQUEST).verdict.valid for _ in range(2)]
    server.terminate()

    assert [False, False] == valid
    assert 0 == server.wait(timeout=300)


def test_an_address_in_use_is_reported_in_a_line() -> None:
    """It is checked before any worker starts."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        server = start("--listen", address)
        code, stderr = wait_for_exit(server)

    expected = f"Error: cannot listen on {address}: another process is listening there\n"
    assert (1, expected) == (code, stderr)


def test_a_socket_in_use_is_reported_in_a_line(tmp_path: Path) -> None:
    """The message is that of an address in use."""
    path = tmp_path / "taken.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        server = start("--listen", "", "--unix-socket", str(path))
        code, stderr = wait_for_exit(server)

    expected = f"Error: cannot listen on {path}: another process is listening there\n"
    assert (1, expected) == (code, stderr)
