"""The image, built from the Dockerfile and run as the README and the deployments run it."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from image.dockerfile import read_image
from image.engine import Engine
from image.pod import Pod, read_deployment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sidecheck.v1.registry_service_pb2 import RegisterToolsRequest
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.target_pb2 import InlineTool, RegisteredTool, Subject, Target
from sidecheck.v1.validation_service_pb2 import ValidateRequest
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.registry_replicas import wait_until
from support.running_postgres import RunningPostgres
from support.shared_material import REPOSITORY

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.long]

REGISTER = RegisterToolsRequest(
    server="a-server",
    tools=[InlineTool(json=b'{"name": "greet", "inputSchema": {"type": "object"}}')],
)
VALIDATE = ValidateRequest(
    target=Target(registered_tool=RegisteredTool(server="a-server", name="greet")),
    subject=Subject(arguments=b"[]"),
)
HARDENED = (
    *("--read-only", "--read-only-tmpfs=false", "--cap-drop=ALL"),
    *("--security-opt=no-new-privileges", "--memory=2688m", "--pids-limit=256"),
)
REVISION = "0123456789abcdef"
VENDORED = REPOSITORY / "service/sidecheck_server/admin/page/vendor/lock.json"
APPLICATION = Path(__file__).parent / "application.py"


def is_valid(address: str) -> bool:
    """Register a tool with the server at *address*; return whether wrong arguments are valid."""
    with grpc.insecure_channel(address) as channel:
        RegistryServiceStub(channel).RegisterTools(REGISTER, timeout=120)
        return ValidationServiceStub(channel).Validate(VALIDATE, timeout=120).verdict.valid


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine(tmp_path_factory.mktemp("engine"))
    engine.build(f"--build-arg=REVISION={REVISION}")
    yield engine
    engine.close()


@pytest.fixture
def pods(engine: Engine) -> Iterator[Engine]:
    """Return the engine, and remove the pods that a test leaves."""
    yield engine
    engine.remove_containers()


def distributions(engine: Engine) -> dict[str, str]:
    """Return the versions of the Python packages in the image, by name."""
    listed = engine.run(
        "python",
        "-c",
        "import importlib.metadata as m; print(*(f'{d.name}=={d.version}' for d in "
        "m.distributions()))",
    )
    pairs = [package.split("==") for package in listed.split()]
    return {canonicalize_name(name): version for name, version in pairs}


def test_the_image_has_the_project_and_its_locked_packages(engine: Engine) -> None:
    """They are those of the lock for the Python of the image."""
    lock = (REPOSITORY / "deploy" / "runtime.lock").read_text().splitlines()
    requirements = [Requirement(line.rstrip(" \\")) for line in lock if line[:1].isalnum()]
    locked: dict[str, str] = {
        canonicalize_name(requirement.name): str(requirement.specifier).removeprefix("==")
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate()
    }

    assert {**locked, "sidecheck-server": "0.1.0", "sidecheck": "0.1.0"} == distributions(engine)


def test_the_image_contains_its_bill_of_materials(engine: Engine) -> None:
    """It lists the packages of the image and those of the page, and is of sidecheck-server."""
    bill = json.loads(engine.run("cat", "/opt/sidecheck/share/sidecheck.cdx.json"))
    listed = [bill["metadata"]["component"], *bill["components"]]
    page = json.loads(VENDORED.read_text())["packages"]

    assert ("CycloneDX", "1.6") == (bill["bomFormat"], bill["specVersion"])
    assert {
        **distributions(engine),
        **{package["name"]: package["version"] for package in page},
    } == {canonicalize_name(component["name"]): component["version"] for component in listed}


def test_the_image_has_no_tools_of_the_build(engine: Engine) -> None:
    """Neither installers, privileged programs and tests, nor modules without bytecode."""
    found = engine.run(
        "sh",
        "-c",
        "ls /opt/sidecheck/bin; "
        "for name in pip setuptools ensurepip wheel; do python -c "
        '"import importlib.util as u, sys; u.find_spec(sys.argv[1]) and print(sys.argv[1])" $name; '
        "done; "
        "find / -xdev -perm /6000 -type f 2>/dev/null; "
        "find /opt/sidecheck -type d -name tests; "
        "find /opt/sidecheck/lib -name '*.py' | while read -r file; do "
        'compiled=${file%/*}/__pycache__/$(basename "$file" .py).cpython-311.pyc; '
        '[ -e "$compiled" ] || echo "$file"; done',
    )

    assert ["health_probe.py", "python", "python3", "python3.11", "sidecheck"] == found.split()


def test_labels_name_the_source(engine: Engine) -> None:
    """A release gives the commit as an argument of the build."""
    labels = engine.inspect(".Labels")

    assert isinstance(labels, dict)
    assert (REVISION, "Apache-2.0", "0.1.0") == tuple(
        labels[f"org.opencontainers.image.{name}"] for name in ("revision", "licenses", "version")
    )


def test_the_image_serves_read_only_and_ends_by_sigterm(engine: Engine) -> None:
    """It answers calls from outside, with the registry in its volume."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    container = engine.start(*HARDENED, "--network=host", f"--env=SIDECHECK_LISTEN={address}")
    engine.wait_until_healthy(container, read_image().healthcheck)

    assert not is_valid(address)
    assert 0 == engine.execute(container, "sidecheck", "healthcheck")
    assert 0 == engine.stop(container)


def test_the_version_of_the_command(engine: Engine) -> None:
    """The command runs without a network, memory beyond 256 MB and a writable root."""
    options = (*HARDENED[:4], "--memory=256m", "--network=none")

    assert "sidecheck, version 0.1.0\n" == engine.run("sidecheck", "--version", options=options)


def test_the_sidecar_outlives_its_application_in_a_pod(pods: Engine, tmp_path: Path) -> None:
    """It starts first, comes back with its tools after a kill, and ends last without a crash."""
    deployment = read_deployment("sidecar")
    [application] = deployment["spec"]["template"]["spec"]["containers"]
    application.update(image="sidecheck", command=["python", "-c", APPLICATION.read_text()])
    pod = Pod(pods, tmp_path, deployment)

    pod.start("sidecheck")
    pod.start("application")
    first = pod.wait_for_line("application", 1)
    pod.kill("sidecheck")
    pod.restart("application")
    second = pod.wait_for_line("application", 2)

    outcome = {"groups": [10001, 65532], "writable": [], "verdicts": [True, False]}
    assert (first, second) == ({**outcome, "registered": []}, {**outcome, "registered": ["greet"]})
    assert pod.probe("sidecheck", "livenessProbe")
    assert pod.probe("sidecheck", "readinessProbe")
    for name, user, mebibytes in (("sidecheck", 65532, 1344), ("application", 10001, 512)):
        assert f"{user}:{user}" == pod.inspect(name, ".Config.User")
        assert not pod.inspect(name, ".EffectiveCaps")
        assert mebibytes << 20 == pod.inspect(name, ".HostConfig.Memory")

    assert (0, 0) == (pod.stop("application"), pod.stop("sidecheck"))
    assert [
        *(["admin.ready", "server.ready"] * 2),
        *("server.draining", "server.stopped"),
    ] == [event for event in pod.events("sidecheck") if event != "rpc.completed"]
    assert "" == pod.remove()


def test_the_fleet_migrates_its_database_in_a_pod(
    pods: Engine, tmp_path: Path, postgres: RunningPostgres
) -> None:
    """The init container migrates an empty database; then the server answers from outside."""
    database = postgres.create_database(is_migrated=False)
    postgres.folder.chmod(0o755)  # the user of the image reaches the socket
    deployment = read_deployment("fleet")
    pod_spec = deployment["spec"]["template"]["spec"]
    pod_spec["volumes"] = [{"name": "database", "hostPath": {"path": str(postgres.folder)}}]
    for container in (*pod_spec["initContainers"], *pod_spec["containers"]):
        container["volumeMounts"] = [{"name": "database", "mountPath": "/database"}]
        for variable in container["env"]:
            # Releases of podman read Secrets in different forms.
            if variable.pop("valueFrom", None):
                variable["value"] = f"postgresql://postgres@/{database}?host=/database"
    pod = Pod(pods, tmp_path, deployment)

    pod.start_all()
    pod.wait_for_startup("sidecheck")

    assert not is_valid(f"127.0.0.1:{pod.port('grpc')}")
    assert pod.probe("sidecheck", "readinessProbe")
    pod.signal("sidecheck")  # drains; the second signal, of `stop`, ends that early
    wait_until(lambda: not pod.probe("sidecheck", "readinessProbe"))
    assert pod.probe("sidecheck", "livenessProbe")
    assert 0 == pod.stop("sidecheck")
    assert "" == pod.remove()
