"""Pods of ``deploy/kubernetes``, which podman creates and a test starts and stops like a kubelet.

`podman kube play` creates the containers of a Deployment: users, groups, capabilities, volumes,
limits, variables and ports. The manifest is translated where podman has no equivalent
(https://docs.podman.io/en/stable/markdown/podman-kube-play.1.html):

- Native sidecars are rejected, so they become the first containers, which a test starts in order.
- Probes run by curl in the container and by systemd, so a test requests them from outside.
- ``fsGroup`` is ignored; a supplemental group gives the application access to the socket.
- Podman 4.3 also restarts init containers that have succeeded, unless pods restart on failure only.
"""

import json
import os
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import yaml
from image.engine import Engine
from support.registry_replicas import wait_until
from support.shared_material import REPOSITORY

__all__ = ["Pod", "read_deployment"]

_PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
_SECONDS = 300


def read_deployment(name: str) -> Any:
    """Return the Deployment of a folder in ``deploy/kubernetes``, without shared values."""
    path = REPOSITORY / "deploy" / "kubernetes" / name / "deployment.yaml"
    return json.loads(json.dumps(yaml.safe_load(path.read_text())))


class Pod:
    """A pod of a Deployment; no container runs until a test starts it."""

    def __init__(self, engine: Engine, folder: Path, deployment: Any) -> None:
        """Create the pod of *deployment*, which is changed; *folder* gets the manifest."""
        self._engine = engine
        self._manifest = folder / "pod.json"
        self._probes: dict[str, Mapping[str, Any]] = {}
        self._ports: dict[str, int] = {}
        deployment["spec"]["replicas"] = 1
        self._translate(deployment["spec"]["template"]["spec"])
        self._manifest.write_text(json.dumps(deployment))
        engine.podman("kube", "play", "--start=false", str(self._manifest))

    def start(self, name: str) -> None:
        """Start the container *name*, and wait until it counts as started."""
        self._engine.podman("start", self._id(name))
        self.wait_for_startup(name)

    def start_all(self) -> None:
        """Let podman run the init containers, and then start the others."""
        self._engine.podman("pod", "start", "--all")

    def wait_for_startup(self, name: str) -> None:
        """Wait until the startup probe of the container *name* succeeds, if it has one."""
        if "startupProbe" in self._probes.get(name, ()):
            wait_until(lambda: self.probe(name, "startupProbe"))

    def probe(self, name: str, kind: str) -> bool:
        """Return whether a probe of the container *name* succeeds, as the kubelet decides."""
        request = self._probes[name][kind]["httpGet"]
        url = f"http://127.0.0.1:{self.port(request['port'])}{request['path']}"
        try:
            response = httpx.get(url, timeout=_SECONDS, trust_env=False)
        except httpx.TransportError:
            return False
        return 200 <= response.status_code < 400

    def port(self, name: str) -> int:
        """Return the port on loopback that leads to the port *name* of the pod."""
        return self._ports[name]

    def inspect(self, name: str, path: str) -> Any:
        """Return the value at *path*, in the form of a Go template, of the container *name*."""
        return json.loads(
            self._engine.podman("inspect", "--format", f"{{{{json {path}}}}}", self._id(name))
        )

    def logged(self, name: str) -> list[Any]:
        """Return the lines of JSON that the container *name* wrote."""
        return [json.loads(line) for line in self._engine.logs(self._id(name)).splitlines()]

    def events(self, name: str) -> list[str]:
        """Return the events that the container *name* has logged."""
        return [str(line["event"]) for line in self.logged(name)]

    def wait_for_line(self, name: str, number: int) -> Any:
        """Wait until the container *name* has written *number* lines; return the last of them."""
        wait_until(lambda: len(self.logged(name)) >= number)
        return self.logged(name)[number - 1]

    def kill(self, name: str) -> None:
        """Kill the first process of the container *name*; wait until another runs in its place."""
        process = self.inspect(name, ".State.Pid")
        os.kill(process, signal.SIGKILL)

        def is_replaced() -> bool:
            current = self.inspect(name, ".State.Pid")
            if current == 0:
                # Beside other work, podman's own restart may come late or not at all; while it
                # comes, podman refuses another one.
                with suppress(AssertionError):
                    self._engine.podman("start", self._id(name))
            return current not in {0, process}

        wait_until(is_replaced)
        self.wait_for_startup(name)

    def signal(self, name: str) -> None:
        """Send SIGTERM to the container *name*."""
        self._engine.podman("kill", "--signal=TERM", self._id(name))

    def restart(self, name: str) -> None:
        """Stop and start the container *name*."""
        self._engine.podman("restart", "--time=120", self._id(name))

    def stop(self, name: str) -> int:
        """Stop the container *name*; return its exit code."""
        self._engine.podman("stop", "--time=120", self._id(name))
        return int(self.inspect(name, ".State.ExitCode"))

    def remove(self) -> str:
        """Remove the pod; return the ids of containers that are left."""
        self._engine.podman("kube", "down", str(self._manifest))
        return self._engine.podman("ps", "--all", "--quiet")

    def _translate(self, pod: Any) -> None:
        started = [
            container
            for container in pod.get("initContainers", ())
            if container.pop("restartPolicy", None) == "Always"
        ]
        if started:
            pod["containers"][:0] = started
            pod["initContainers"] = [
                container for container in pod["initContainers"] if container not in started
            ]
        if pod.get("initContainers"):
            pod["restartPolicy"] = "OnFailure"
        pod["securityContext"]["supplementalGroups"] = [pod["securityContext"]["fsGroup"]]
        for container in pod["containers"]:
            self._probes[container["name"]] = {
                name: container.pop(name) for name in _PROBES if name in container
            }
            for port in container.get("ports", ()):
                self._ports[port["name"]] = _free_port()
                port.update(hostIP="127.0.0.1", hostPort=self._ports[port["name"]])

    def _id(self, name: str) -> str:
        [container] = self._engine.podman(
            "ps", "--all", "--quiet", f"--filter=name=-pod.*-{name}$"
        ).split()
        return container


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
