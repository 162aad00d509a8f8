"""The image, built from the Dockerfile and run as the README and the deployments run it."""

import socket
from collections.abc import Iterator

import grpc
import pytest
from image.dockerfile import read_image
from image.engine import Engine
from packaging.requirements import Requirement
from sidecheck.v1.registry_service_pb2 import RegisterToolsRequest
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.target_pb2 import InlineTool, RegisteredTool, Subject, Target
from sidecheck.v1.validation_service_pb2 import ValidateRequest
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
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


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine(tmp_path_factory.mktemp("engine"))
    engine.build(f"--build-arg=REVISION={REVISION}")
    yield engine
    engine.close()


def test_the_image_has_the_project_and_its_locked_packages(engine: Engine) -> None:
    """They are those of the lock for the Python of the image."""
    listed = engine.run(
        "python",
        "-c",
        "import importlib.metadata as m; print(*(f'{d.name}=={d.version}' for d in "
        "m.distributions()))",
    )
    lock = (REPOSITORY / "deploy" / "runtime.lock").read_text().splitlines()
    requirements = [Requirement(line.rstrip(" \\")) for line in lock if line[:1].isalnum()]
    locked = [
        f"{requirement.name}{requirement.specifier}"
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate()
    ]

    assert {*locked, "sidecheck-server==0.1.0", "sidecheck==0.1.0"} == {
        line.lower().replace("_", "-") for line in listed.split()
    }


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

    with grpc.insecure_channel(address) as channel:
        RegistryServiceStub(channel).RegisterTools(REGISTER, timeout=120)
        verdict = ValidationServiceStub(channel).Validate(VALIDATE, timeout=120).verdict

    assert not verdict.valid
    assert 0 == engine.execute(container, "sidecheck", "healthcheck")
    assert 0 == engine.stop(container)


def test_the_version_of_the_command(engine: Engine) -> None:
    """The command runs without a network, memory beyond 256 MB and a writable root."""
    options = (*HARDENED[:4], "--memory=256m", "--network=none")

    assert "sidecheck, version 0.1.0\n" == engine.run("sidecheck", "--version", options=options)
