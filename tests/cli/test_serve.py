"""`sidecheck serve`: its flags, and what its process does with signals and its log."""

import json
import os
import re
import signal
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
from sidecheck_server.cli.serve import serve
from sidecheck_server.settings import Settings

HINT = "create it, or name a file in a folder that does"
IN_WORDS = {"registry": "in memory", "reflection": "yes", "inference": "yes"}
OTHERS = {"config": None, "tools": (), "tools_server": ()}
FLAGS = [flag for flag in serve.params if flag.name not in OTHERS]
REQUEST = validation_service_pb2.ValidateRequest(
    target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=b'{"type": "integer"}')),
    subject=target_pb2.Subject(arguments=b'"x"'),
)


STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def _no_server_is_left() -> Iterator[None]:
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


def ended(server: subprocess.Popen[str]) -> tuple[int, str]:
    """Return how *server* exits and what else it says."""
    _, said = server.communicate(timeout=300)
    return server.returncode, said


def test_every_flag_is_a_setting_without_a_default_of_its_own() -> None:
    """One would hide the environment and the file."""
    given = serve.make_context("serve", []).params
    names = {str(flag.name) for flag in FLAGS}

    assert {**dict.fromkeys(names), **OTHERS} == given
    assert set() == names - set(Settings.model_fields)


@pytest.mark.parametrize("flag", FLAGS, ids=[str(flag.name) for flag in FLAGS])
def test_the_help_tells_the_true_default(flag: Any) -> None:
    """If there is one."""
    told = re.search(r"\[default: (.*)\]", flag.help)
    default = Settings.model_fields[flag.name].default
    if flag.name in IN_WORDS:
        default = IN_WORDS[flag.name]

    assert (None if default is None else str(default).removesuffix(".0")) == (told and told[1])


@pytest.mark.parametrize(
    ("words", "said"),
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
            id="a server of no tools",
        ),
        pytest.param(
            ["--tools", "a.json", "--tools", "b.json", "--tools-server", "git"],
            "give --tools-server for each --tools or for none",
            id="tools of no server",
        ),
        pytest.param(
            ["--tools", "/dev/null", "--tools-server", "s" * 257],
            "tools.0.server: String should have at most 256 characters",
            id="a server with too long a name",
        ),
        pytest.param(
            ["--tools", "/dev/null"],
            "/dev/null:1:1: PAYLOAD_NOT_JSON: not JSON: it is empty",
            id="tools that are none",
        ),
    ],
)
def test_a_wrong_command_exits_with_2(words: list[str], said: str) -> None:
    """Before anything is started."""
    result = CliRunner().invoke(sidecheck, ["serve", *words], catch_exceptions=False)

    assert (2, "") == (result.exit_code, result.stdout)
    assert said in result.stderr


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
    got = [ended(server) for server in servers]

    assert [
        (
            1,
            f"Error: /{source}/tools.db: the folder /{source} does not exist; {HINT}\n",
        )
        for source in ("file", "variable", "flag")
    ] == got


def test_ctrl_c_ends_the_server_and_says_no_more_than_that() -> None:
    """It reaches the workers too, which leave the end to the server.

    Whoever watches the health is told and let go: a watch has no end of its own, and
    calls under way may take long.
    """
    server = start("--listen", "127.0.0.1:0", "--grace-seconds", "200")
    assert server.stderr is not None
    said = server.stderr.readline()
    with grpc.insecure_channel(json.loads(said)["addresses"][0]) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest())
        told = [next(watch).status]
        begun = time.monotonic()
        os.killpg(server.pid, signal.SIGINT)
        code, rest = ended(server)
        took = time.monotonic() - begun
        told += [one.status for one in watch]

    serving = health_pb2.HealthCheckResponse
    assert (0, [serving.SERVING, serving.NOT_SERVING]) == (code, told)
    assert ["server.ready", "server.draining", "server.stopped"] == [
        json.loads(line)["event"] for line in (said + rest).splitlines()
    ]
    assert took < 100


def test_ctrl_c_while_workers_start_is_no_traceback() -> None:
    """They cannot ignore it before they run."""
    server = start("--listen", "127.0.0.1:0")
    while not _workers(server.pid):
        time.sleep(0.001)
    os.killpg(server.pid, signal.SIGINT)
    _, said = ended(server)

    assert "Traceback" not in said
    assert "Fatal" not in said


def _workers(pid: int) -> list[psutil.Process]:
    found = []
    for child in psutil.Process(pid).children():
        with suppress(psutil.NoSuchProcess):
            if "--multiprocessing-fork" in child.cmdline():
                found.append(child)
    return found


def test_a_log_that_nobody_reads_costs_no_answer(tmp_path: Path) -> None:
    """Each call is logged, and answered still; so is the end."""
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
