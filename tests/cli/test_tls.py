"""TLS of the commands that call a server: options, variables, errors."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conformance.certificates import Certificates, make_certificates
from sidecheck_server.cli import sidecheck
from support.running import RunningServer
from support.stdio_proxy import Proxy

TIMEOUT = ("--timeout", "300")


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("SIDECHECK_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of one authority."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def served(
    certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server that requires certificates of its clients."""
    running = RunningServer(
        tmp_path_factory.mktemp("server"),
        *("--tls-cert", str(certificates.server), "--tls-key", str(certificates.server_key)),
        *("--tls-client-ca", str(certificates.authority)),
    )
    yield running
    running.close()


def options(certificates: Certificates) -> list[str]:
    """Return the options of a client that is let in."""
    return [
        *("--tls-ca", str(certificates.authority)),
        *("--tls-client-cert", str(certificates.client)),
        *("--tls-client-key", str(certificates.client_key)),
    ]


def variables(certificates: Certificates) -> dict[str, str]:
    """Return the same as variables of the environment."""
    words = options(certificates)
    return {
        f"SIDECHECK_{option.removeprefix('--').replace('-', '_').upper()}": value
        for option, value in zip(words[::2], words[1::2], strict=True)
    }


def run(*words: str, **environment: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, words, env=environment, catch_exceptions=False)


@pytest.mark.parametrize(
    "command",
    [
        ["healthcheck"],
        ["info"],
        ["tools", "list"],
        ["tools", "register", "--server", "tls", "tool.json"],
        ["tools", "get", "tls", "t"],
        ["tools", "delete", "tls", "t"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("source", ["options", "variables"])
def test_commands_call_a_server_with_tls(
    served: RunningServer,
    certificates: Certificates,
    command: list[str],
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Options or environment variables configure TLS."""
    monkeypatch.chdir(tmp_path)
    tool = '{"name": "t", "inputSchema": {"type": "object"}}'
    (tmp_path / "tool.json").write_text(tool)
    # Each command finds the tool that it needs.
    assert (
        0
        == run(
            *("tools", "register", "--server", "tls", "tool.json"),
            *("--target", served.unix_address, *TIMEOUT),
        ).exit_code
    )

    if source == "options":
        done = run(*command, "--target", served.address, *TIMEOUT, *options(certificates))
    else:
        done = run(*command, "--target", served.address, *TIMEOUT, **variables(certificates))

    assert (0, "") == (done.exit_code, done.stderr)


@pytest.mark.parametrize("command", ["healthcheck", "info"])
@pytest.mark.parametrize(
    ("extra", "message"),
    [
        pytest.param(
            ["--tls-server-name", "elsewhere"],
            "is not for the name elsewhere: use --tls-server-name",
            id="name",
        ),
        pytest.param(
            ["--tls-ca", "other"], "no trusted authority signed the certificate", id="authority"
        ),
    ],
)
def test_the_message_names_the_fault_of_the_certificate(
    served: RunningServer,
    certificates: Certificates,
    command: str,
    extra: list[str],
    message: str,
    tmp_path: Path,
) -> None:
    """A later option replaces an earlier one."""
    foreign_authority = make_certificates(tmp_path).authority
    words = [str(foreign_authority) if word == "other" else word for word in extra]

    done = run(command, "--target", served.address, *TIMEOUT, *options(certificates), *words)

    assert {"healthcheck": 1, "info": 2}[command] == done.exit_code
    assert "Error: UNAVAILABLE: " in done.stderr
    assert served.address in done.stderr
    assert message in done.stderr


@pytest.mark.parametrize("words", [[], ["--tls"]], ids=["plain text", "system authorities"])
def test_a_server_with_tls_is_not_healthy_for_others(
    served: RunningServer, words: list[str]
) -> None:
    """Clients with plain text or without its authority are tested."""
    done = run("healthcheck", "--target", served.address, *TIMEOUT, *words)

    assert 1 == done.exit_code
    cause = (
        f"no trusted authority signed the certificate of {served.address}: use --tls-ca"
        if words
        else f"the server at {served.address} closed the connection: if it speaks TLS, use --tls"
    )
    assert f"Error: UNAVAILABLE: {cause}\n" == done.stderr


def test_a_unix_socket_is_called_without_tls(
    served: RunningServer, certificates: Certificates
) -> None:
    """Environment variables for TLS do not apply."""
    for command in ("healthcheck", "info"):
        done = run(command, "--target", served.unix_address, *TIMEOUT, **variables(certificates))
        assert 0 == done.exit_code


def test_the_health_of_a_server_with_tls_is_checked_by_its_socket(
    served: RunningServer, certificates: Certificates
) -> None:
    """Its own settings name the target, and no certificate of a client."""
    settings = {
        "SIDECHECK_LISTEN": served.address,
        "SIDECHECK_UNIX_SOCKET": str(served.socket),
        "SIDECHECK_TLS_CERTIFICATE": str(certificates.server),
    }

    assert f"{served.unix_address} is SERVING\n" == run("healthcheck", *TIMEOUT, **settings).stdout


@pytest.mark.parametrize("command", ["healthcheck", "info", "proxy"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tls-client-cert", "a.pem"], "--tls-client-cert and --tls-client-key belong together"),
        (["--tls-ca", "none.pem"], "none.pem: No such file or directory"),
        (["--tls-ca", "empty.pem"], "--tls-ca must have a certificate in PEM"),
        (
            ["--tls-client-cert", "a.pem", "--tls-client-key", "empty.pem"],
            "--tls-client-key must have an unencrypted private key in PEM",
        ),
    ],
)
def test_files_that_cannot_be_used_are_named(
    command: str, words: list[str], message: str, certificates: Certificates, tmp_path: Path
) -> None:
    """The message names the option; the exit code is 2."""
    (tmp_path / "empty.pem").touch()
    (tmp_path / "a.pem").write_bytes(certificates.client.read_bytes())
    tls_words = [str(tmp_path / word) if word.endswith(".pem") else word for word in words]
    if command == "proxy":
        proxy = Proxy("--service", "localhost:1", *tls_words)
        code, _, error = proxy.end()
    else:
        done = run(command, "--target", "localhost:1", *tls_words)
        code, error = done.exit_code, done.stderr

    assert 2 == code
    assert message in error
    assert "Traceback" not in error


def test_the_proxy_calls_a_service_with_tls(
    served: RunningServer, certificates: Certificates
) -> None:
    """A call with wrong arguments is rejected by it."""
    proxy = Proxy("--service", served.address, "--enforce", *options(certificates))
    proxy.shake_hands()
    proxy.send({"id": 2, "method": "tools/list"})
    assert proxy.receive()["result"]["tools"]
    proxy.call(3, do=7)
    answer = proxy.receive()
    code, _, _ = proxy.end()

    assert (0, 3) == (code, answer["id"])
    assert answer["result"]["isError"]
