"""Builds and runs the image, without a service of Docker and without a registry of images.

The base image cannot be downloaded, so a minimal Debian with its Python stands in for it. It needs
root, and programs of Debian that `make test-deps` installs.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from image.dockerfile import read_steps
from support.shared_material import REPOSITORY, unavailable

__all__ = ["Engine"]

_PROGRAMS = ("buildah", "catatonit", "iptables", "mmdebstrap", "podman", "runc")
_RELEASE = "bookworm"
_PACKAGES = "ca-certificates,python3,python3-pip,python3-venv"
# The names of the base image: `python`, and packages that are installed beside Debian's.
_FINISH = 'ln -s ../../bin/python3 "$1/usr/local/bin/python"; rm -f "$1"/usr/lib/python3*/EXT*'
_MACHINE_FILES = ("/etc/pip.conf", "/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt")
"""Files that tell a build how this machine reaches the network."""

_TAG = "localhost/sidecheck"

_REMOVE_LIMITS = (
    "import json, sys; container = json.load(sys.stdin); "
    "container['process'].pop('rlimits', None); json.dump(container, sys.stdout)"
)
_HOOK = {
    "version": "1.0.0",
    "hook": {
        "path": sys.executable,
        "args": [sys.executable, "-I", "-c", _REMOVE_LIMITS],
    },
    "when": {"always": True},
    "stages": ["precreate"],
}
"""Lets containers of a pod start with the limits of this machine (oci-hooks(5)).

`podman kube play` ignores `default_ulimits`, and raises limits above what root may set here.
"""


class Engine:
    """Images and containers in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        missing = [program for program in _PROGRAMS if shutil.which(program) is None]
        if os.getuid() != 0 or missing:
            unavailable("building the image needs root and the programs of `make test-deps`")
        if subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
            pytest.skip("the system lets root mount no file systems, as an image needs")
        self._folder = folder
        storage, engine = folder / "storage.conf", folder / "containers.conf"
        hooks = folder / "hooks"
        hooks.mkdir()
        (hooks / "limits.json").write_text(json.dumps(_HOOK))
        storage.write_text(
            f'[storage]\ndriver = "overlay"\nrunroot = "{folder}/run"\n'
            f'graphroot = "{folder}/store"\n'
        )
        engine.write_text(
            '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "runc"\n'
            f'hooks_dir = ["{hooks}"]\n'
            # Those of the engine may be above what this machine allows.
            '[containers]\ndefault_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]\n'
        )
        self._environment = {
            **os.environ,
            "CONTAINERS_STORAGE_CONF": str(storage),
            "CONTAINERS_CONF": str(engine),
            "TMPDIR": str(folder),
        }
        self._import_base()

    def build(self, *arguments: str) -> str:
        """Build the Dockerfile as it is; return the id of the image."""
        [base] = {
            step.value.partition(" AS ")[0]
            for step in read_steps()
            if step.name == "FROM" and not step.value.startswith("scratch")
        }
        volumes = [f"--volume={path}:{path}:ro" for path in _MACHINE_FILES if Path(path).exists()]
        return self._run(
            *("buildah", "build", "--quiet", "--pull=never", "--layers", "--runtime=runc"),
            *("--network=host", "--format=docker", "--timestamp=0", f"--tag={_TAG}"),
            f"--build-context={base}=container-image://localhost/base",
            *volumes,
            *arguments,
            str(REPOSITORY),
        ).strip()

    def inspect(self, path: str) -> object:
        """Return the value at *path*, in the form of a Go template, of the image's settings."""
        value: object = json.loads(
            self._run("podman", "image", "inspect", "--format", f"{{{{json {path}}}}}", _TAG)
        )
        return value

    def run(self, *words: str, options: tuple[str, ...] = ()) -> str:
        """Run *words* in a container, with another entry point, and return what it prints."""
        entry, *rest = words
        return self._run(
            *("podman", "run", "--rm", "--no-healthcheck", *options),
            *("--entrypoint", entry, _TAG, *rest),
        )

    def start(self, *options: str) -> str:
        """Start the image as it is, in the background; return the id of the container."""
        return self._run("podman", "run", "--detach", "--no-healthcheck", *options, _TAG).strip()

    def podman(self, *words: str) -> str:
        """Run a command of podman, and return what it prints."""
        return self._run("podman", *words)

    def logs(self, container: str) -> str:
        """Return what *container* wrote to its output and to its errors."""
        done = self._complete("podman", "logs", container)
        return done.stdout + done.stderr

    def execute(self, container: str, *words: str) -> int:
        """Run *words* in *container*; return the exit code."""
        return subprocess.run(
            ["podman", "exec", container, *words],
            env=self._environment,
            capture_output=True,
            check=False,
        ).returncode

    def wait_until_healthy(self, container: str, check: list[str]) -> None:
        """Repeat the health check *check* until it succeeds."""
        end = time.monotonic() + 300
        while self.execute(container, *check):
            assert time.monotonic() < end, self.logs(container)
            time.sleep(0.5)

    def stop(self, container: str) -> int:
        """Send the stop signal, and return the exit code."""
        self._run("podman", "stop", "--time", "120", container)
        code = self._run("podman", "inspect", "--format", "{{.State.ExitCode}}", container)
        self._run("podman", "rm", container)
        return int(code)

    def remove_containers(self) -> None:
        """Remove all pods, containers and their volumes."""
        self._run("podman", "pod", "rm", "--all", "--force")
        self._run("podman", "rm", "--all", "--force", "--time", "0", "--volumes")

    def close(self) -> None:
        """Remove all containers and images."""
        self.remove_containers()
        shutil.rmtree(self._folder)

    def _import_base(self) -> None:
        archive = self._folder / "base.tar"
        self._run(
            *("mmdebstrap", "--quiet", "--variant=minbase", f"--include={_PACKAGES}"),
            *(f"--customize-hook={_FINISH}", _RELEASE, str(archive)),
        )
        change = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        self._run("podman", "import", "--quiet", "--change", change, str(archive), "localhost/base")
        archive.unlink()

    def _run(self, *words: str) -> str:
        return self._complete(*words).stdout

    def _complete(self, *words: str) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            words, env=self._environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (
            f"{' '.join(words)}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )
        return done
