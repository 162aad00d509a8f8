"""The containers of the manifests, run as processes and probed as the kubelet does."""

import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance.certificates import Certificates, make_certificates
from deploy.containers import RunningContainer, RunningPod
from deploy.rendering import chart, kustomization
from sidecheck import BlockingClient, RegisteredTool, SidecheckError, Tls
from support.running_postgres import RunningPostgres
from support.tokens import TOKENS, tokens_file

TOOL = {"name": "greet", "inputSchema": {"type": "object", "required": ["name"]}}
GREET = RegisteredTool("weather", "greet")
PROBES = ("startupProbe", "livenessProbe", "readinessProbe")


@pytest.fixture
def uri(postgres: RunningPostgres) -> bytes:
    """Return the URI of a database without tables."""
    return postgres.uri(postgres.create_database(is_migrated=False)).encode()


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    folder = tmp_path / "certificates"
    folder.mkdir()
    return make_certificates(folder)


def check_calls(client: BlockingClient) -> None:
    """Check that tools are registered and arguments validated."""
    client.register("weather", [TOOL])

    assert client.validate(GREET, {"name": "Ada"}).valid
    assert not client.validate(GREET, {}).valid


def check_stop(container: RunningContainer) -> None:
    """Check that the pod leaves its Service before the server stops, and is not restarted."""
    container.process.send_signal(signal.SIGTERM)
    container.wait_for("server.draining")

    assert not container.probe("readinessProbe")
    assert container.probe("livenessProbe")

    container.process.send_signal(signal.SIGTERM)  # does not wait for the clients to notice

    assert 0 == container.process.wait(timeout=300)


def test_the_sidecar_serves_on_its_socket(tmp_path: Path) -> None:
    """Other users of its group may call it; it keeps its tools after a kill."""
    pod = RunningPod(kustomization("sidecar"), tmp_path, {})
    socket = tmp_path / "socket" / "sidecheck.sock"
    with pod.running("sidecheck") as sidecar:
        sidecar.start_up()

        assert f"unix:{socket}" == sidecar.address
        assert 0o660 == stat.S_IMODE(socket.stat().st_mode)
        assert [True] * 3 == [sidecar.probe(name) for name in PROBES]
        with BlockingClient(sidecar.address, timeout=120) as client:
            check_calls(client)
    with pod.running("sidecheck") as sidecar:
        sidecar.start_up()
        with BlockingClient(sidecar.address, timeout=120) as client:
            assert not client.validate(GREET, {}).valid
        sidecar.process.terminate()

        assert 0 == sidecar.process.wait(timeout=300)


def test_the_fleet_serves_a_database_that_it_has_migrated(tmp_path: Path, uri: bytes) -> None:
    """It starts after the migration; later pods have nothing to migrate."""
    pod = RunningPod(kustomization("fleet"), tmp_path, {"sidecheck-database": {"uri": uri}})
    refused = pod.run("sidecheck")
    migrated, again = pod.run("migrate"), pod.run("migrate")

    assert 1 == refused.returncode
    assert "sidecheck registry migrate" in refused.stderr
    assert (0, 0) == (migrated.returncode, again.returncode), migrated.stderr
    assert "nothing to migrate" in again.stdout
    with pod.running("sidecheck") as first, pod.running("sidecheck") as second:
        for replica in (first, second):
            replica.start_up()
            assert [True] * 3 == [replica.probe(name) for name in PROBES]
        with BlockingClient(first.address, timeout=120) as client:
            check_calls(client)
        with BlockingClient(second.address, timeout=120) as client:
            check_calls(client)
        check_stop(first)

        assert second.probe("readinessProbe")


@pytest.fixture(params=["fleet-tls", "chart"])
def secured(
    request: pytest.FixtureRequest, tmp_path: Path, uri: bytes, certificates: Certificates
) -> Iterator[RunningContainer]:
    """Yield a replica with TLS and tokens, of kustomize or of the chart."""
    folder = tmp_path / "pod"
    folder.mkdir()
    secrets = {
        "sidecheck-database": {"uri": uri, "ca.crt": certificates.authority.read_bytes()},
        "sidecheck-tls": {
            "tls.crt": certificates.server.read_bytes(),
            "tls.key": certificates.server_key.read_bytes(),
        },
        "sidecheck-tokens": {"tokens.toml": tokens_file().encode()},
    }
    sets = (
        *("tls.secretName=sidecheck-tls", "tokens.secretName=sidecheck-tokens"),
        "database.caSecretName=sidecheck-database",
    )
    is_chart = request.param == "chart"
    objects = chart(None, *sets) if is_chart else kustomization(request.param)
    pod = RunningPod(objects, folder, secrets)
    migrated = pod.run("migrate")
    assert 0 == migrated.returncode, migrated.stderr
    with pod.running("sidecheck") as replica:
        replica.start_up()
        yield replica


def test_tls_and_tokens_come_from_the_secrets(
    secured: RunningContainer, certificates: Certificates
) -> None:
    """Probes need neither TLS nor tokens."""
    tls = Tls(ca_certificates=certificates.authority)
    with BlockingClient(secured.address, timeout=120, tls=tls, token=TOKENS["both"]) as client:
        check_calls(client)
    with (
        BlockingClient(secured.address, timeout=120, tls=tls) as client,
        pytest.raises(SidecheckError, match="UNAUTHENTICATED"),
    ):
        client.validate(GREET, {})

    assert [True] * 3 == [secured.probe(name) for name in PROBES]
    check_stop(secured)


def test_the_chart_runs_with_all_of_its_values(
    tmp_path: Path, postgres: RunningPostgres, certificates: Certificates
) -> None:
    """It has client certificates, tokens of the chart, and a separate password."""
    role, database = postgres.create_role("secret"), postgres.create_database(is_migrated=False)
    postgres.execute(f"ALTER DATABASE {database} OWNER TO {role}")
    uri = postgres.uri(database).replace("postgres@", f"{role}@").encode()
    folder = tmp_path / "pod"
    folder.mkdir()
    authority = certificates.authority.read_bytes()
    secrets = {
        "database-app": {"connection": uri, "password": b"secret"},
        "database-ca": {"root.crt": authority},
        "callers": {"ca.crt": authority},
        "sidecheck-tls": {
            "tls.crt": certificates.server.read_bytes(),
            "tls.key": certificates.server_key.read_bytes(),
        },
    }
    pod = RunningPod(chart("everything"), folder, secrets)
    migrated = pod.run("migrate")
    assert 0 == migrated.returncode, migrated.stderr
    with pod.running("sidecheck") as replica:
        replica.start_up()
        tls = Tls(
            ca_certificates=certificates.authority,
            certificate=certificates.client,
            private_key=certificates.client_key,
        )
        # The SHA-256 of it is in the values.
        with BlockingClient(replica.address, timeout=120, tls=tls, token="test") as client:
            check_calls(client)
