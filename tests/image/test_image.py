"""The image's files are made as the Dockerfile says, and serve as its command says."""

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from image.building import build, in_root, surroundings
from image.dockerfile import Image, read_image
from packaging.requirements import Requirement
from sidecheck.v1.registry_service_pb2 import RegisterToolsRequest
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.target_pb2 import InlineTool, RegisteredTool, Subject, Target
from sidecheck.v1.validation_service_pb2 import ValidateRequest
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub

REGISTER = RegisterToolsRequest(
    server="a-server",
    tools=[InlineTool(json=b'{"name": "greet", "inputSchema": {"type": "object"}}')],
)
VALIDATE = ValidateRequest(
    target=Target(registered_tool=RegisteredTool(server="a-server", name="greet")),
    subject=Subject(arguments=b"[]"),
)
READ_ONLY = 'for each in "$1" "$2"; do mount --bind "$each" "$each" || exit; done; \
mount -o remount,bind,ro / && { mountpoint -q /tmp && mount -o remount,bind,ro /tmp; : ; } \
&& shift 2 && exec "$@"'


@dataclass(frozen=True, slots=True)
class Container:
    """The image's files, and how to run a command among them."""

    root: Path
    image: Image
    environment: dict[str, str]

    @property
    def folders(self) -> list[str]:
        """The writable folders of the image."""
        return [in_root(self.root, volume) for volume in self.image.volumes]

    def command(self, words: list[str]) -> list[str]:
        """Return the command line of *words*, with all but the volumes read-only.

        Only where the system lets its users have mounts of their own.
        """
        program = [in_root(self.root, "/opt/sidecheck/bin/") + words[0], *words[1:]]
        for unshare in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
            line = [*unshare, "sh", "-c", READ_ONLY, "sh", *self.folders]
            if not subprocess.run([*line, "true"], capture_output=True, check=False).returncode:
                return [*line, *program]
        return program

    def files(self) -> dict[Path, int]:
        """Return every file outside the volumes, with the time of its last change."""
        return {
            path: path.lstat().st_mtime_ns
            for path in self.root.rglob("*")
            if not str(path).startswith(tuple(self.folders))
        }


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Container:
    root = tmp_path_factory.mktemp("image")
    build(root)
    image = read_image()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        name: in_root(root, value)
        .replace("$PATH", surroundings(root)["PATH"])
        .replace(f":{image.port}", f":{port}")
        for name, value in image.environment.items()
    }
    return Container(root, image, {**environment, "HOME": "/nonexistent"})


@pytest.fixture
def served(container: Container) -> Iterator[subprocess.Popen[bytes]]:
    server = subprocess.Popen(
        container.command(container.image.command),
        cwd=in_root(container.root, container.image.folder),
        env=container.environment
        | {"SIDECHECK_UNIX_SOCKET": in_root(container.root, "/run/sidecheck/sidecheck.sock")},
    )
    yield server
    server.kill()
    server.wait()


def test_the_image_has_the_project_and_its_locked_packages(container: Container) -> None:
    """They are wheels without paths of the build; pip is not installed."""
    listed = subprocess.run(
        [
            container.root / "usr" / "local" / "bin" / "pip",
            *("--python", in_root(container.root, "/opt/sidecheck/bin/python")),
            *("list", "--format=freeze", "--disable-pip-version-check"),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lock = (container.root / "build" / "deploy" / "runtime.lock").read_text().splitlines()
    # The image has the system and the Python of the tests.
    requirements = [Requirement(line.rstrip(" \\")) for line in lock if line[:1].isalnum()]
    locked = [
        f"{requirement.name}{requirement.specifier}"
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate()
    ]

    assert {*locked, "sidecheck-server==0.1.0", "sidecheck==0.1.0"} == {
        line.lower().replace("_", "-") for line in listed.split()
    }


def test_the_image_serves_read_only_and_ends_by_sigterm(
    container: Container, served: subprocess.Popen[bytes]
) -> None:
    """It serves its port and its socket, with the registry in its volume."""
    before = container.files()
    _wait_until_healthy(container)

    with grpc.insecure_channel(container.environment["SIDECHECK_LISTEN"]) as channel:
        RegistryServiceStub(channel).RegisterTools(REGISTER, timeout=120)
    with grpc.insecure_channel(f"unix:{container.root}/run/sidecheck/sidecheck.sock") as channel:
        verdict = ValidationServiceStub(channel).Validate(VALIDATE, timeout=120).verdict
    served.send_signal(signal.SIGTERM)

    assert 0 == served.wait(timeout=120)
    assert not verdict.valid
    assert before == container.files()
    assert {"tools.db"} == {
        path.name.removesuffix("-wal").removesuffix("-shm")
        for folder in container.folders
        for path in Path(folder).iterdir()
    }


def _wait_until_healthy(container: Container) -> None:
    """Ask for the health as the image's engine does, until it is well."""
    end = time.monotonic() + 300
    line = container.command(container.image.healthcheck)
    while time.monotonic() < end:
        if subprocess.run(line, env=container.environment, check=False).returncode == 0:
            return
        time.sleep(0.2)
    raise AssertionError("the image did not become healthy")
