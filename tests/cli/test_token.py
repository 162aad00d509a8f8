"""`sidecheck token`, and the token of commands that call a server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.access.identity import Identity, Role
from sidecheck_server.access.tokens import hash_of, read_tokens
from sidecheck_server.cli import sidecheck
from support.running import RunningServer
from support.tokens import TOKENS, tokens_file


def run(*words: str, **environment: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, words, env=environment, catch_exceptions=False)


def test_an_entry_and_its_token_are_written_apart() -> None:
    """The entries of several tokens are a file of tokens, which has no token."""
    everywhere = run("token", "new", "ci", "--role", "admin")
    limited = run(
        *("token", "new", "gateway-1", "--role", "validate", "--role", "register"),
        *("--server", 'gît "1" \x7f\t🌦', "--server", "weather"),
    )
    tokens = [result.stderr.splitlines()[-1] for result in (everywhere, limited)]
    identities = read_tokens((everywhere.stdout + limited.stdout).encode())

    assert {
        hash_of(tokens[0]): Identity("ci", frozenset({Role.ADMIN})),
        hash_of(tokens[1]): Identity(
            "gateway-1",
            frozenset({Role.VALIDATE, Role.REGISTER}),
            frozenset({'gît "1" \x7f\t🌦', "weather"}),
        ),
    } == identities
    assert not any(token in everywhere.stdout + limited.stdout for token in tokens)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a b", "--role", "admin"), "name: String should match"),
        (("a", "--role", "root"), "'root' is not one of"),
        (("a",), "Missing option '--role'"),
        (("a", "--role", "admin", "--server", ""), "servers: String should have at least 1"),
    ],
)
def test_wrong_entries_are_usage_errors(words: tuple[str, ...], message: str) -> None:
    """No token is created."""
    result = run("token", "new", *words)

    assert 2 == result.exit_code
    assert message in result.stderr
    assert "" == result.stdout
    assert "sct_" not in result.stderr


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that requires tokens."""
    folder = tmp_path_factory.mktemp("tokens")
    (folder / "tokens.toml").write_text(tokens_file())
    running = RunningServer(folder, "--tokens-file", str(folder / "tokens.toml"))
    yield running
    running.close()


def test_commands_take_the_token_of_the_environment(served: RunningServer) -> None:
    """A missing or wrong token is reported; the health check needs none."""
    outcomes = {
        name: run("info", SIDECHECK_LISTEN=served.address, SIDECHECK_TOKEN=token)
        for name, token in {"none": "", **TOKENS}.items()
    }
    registrar = {"SIDECHECK_LISTEN": served.address, "SIDECHECK_TOKEN": TOKENS["registrar"]}
    denied = run("tools", "list", **registrar)
    health = run("healthcheck", SIDECHECK_LISTEN=served.address, SIDECHECK_TOKEN="")

    assert {"validator": 0, "registrar": 0, "both": 0, "admin": 0, "limited": 0} == {
        name: result.exit_code for name, result in outcomes.items() if result.exit_code != 1
    }
    assert "UNAUTHENTICATED: the call has no token" in outcomes["none"].stderr
    assert "UNAUTHENTICATED: the token" in outcomes["stranger"].stderr
    assert 1 == denied.exit_code
    assert "PERMISSION_DENIED: the token lacks the role validate" in denied.stderr
    assert 0 == health.exit_code


def test_a_token_needs_tls_beyond_this_machine() -> None:
    """A wrong target, until the environment says that it is right."""
    words = ("info", "--target", "192.0.2.1:1", "--timeout", "0.01")
    refused = run(*words, SIDECHECK_TOKEN="sct_1")
    allowed = run(*words, SIDECHECK_TOKEN="sct_1", SIDECHECK_TOKEN_WITHOUT_TLS="true")

    assert "in plain text" in refused.stderr
    assert "DEADLINE_EXCEEDED: no response from 192.0.2.1:1 before the deadline" in allowed.stderr
    assert "sct_1" not in refused.stderr + allowed.stderr


@pytest.mark.parametrize(
    ("content", "flags", "message"),
    [
        (None, (), "does not exist"),
        ("tokens = []", (), "is invalid: tokens: "),
        (tokens_file(), ("--listen", "0.0.0.0:0"), "set tokens_without_tls"),
    ],
)
def test_a_server_that_would_be_open_does_not_start(
    tmp_path: Path, content: str | None, flags: tuple[str, ...], message: str
) -> None:
    """The wrong setting is reported in one line."""
    file = tmp_path / "tokens.toml"
    if content is not None:
        file.write_text(content)
    result = run(
        "serve",
        "--unix-socket",
        str(tmp_path / "s"),
        "--tokens-file",
        str(file),
        *("--listen", "", *flags),
    )

    assert 2 == result.exit_code
    assert message in result.stderr
    assert 1 == len(result.stderr.splitlines())
