"""Containers of a manifest as processes: their command lines, variables, volumes and probes."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
from deploy.rendering import Object, containers_of, pod_of
from image.dockerfile import read_image
from sidecheck_server.config.settings import Settings, read_settings
from support.registry_replicas import wait_until

__all__ = ["RunningContainer", "RunningPod", "setting_names", "settings_of"]

_PREFIX = "SIDECHECK_"
_SECONDS = 300
_ANY_HOST = re.compile(r"0\.0\.0\.0|\[::\]")
#: Stands for the URI in the Secret.
_URI = "postgresql://sidecheck:password@database/sidecheck"

# Steps and bytes decide. Beside other work of the machine, workers may take many times as long.
_PATIENT = {
    "SIDECHECK_LIMITS__COMPILE_SECONDS": "300",
    "SIDECHECK_LIMITS__VALIDATION_SECONDS": "300",
    "SIDECHECK_LIMITS__WORKER_WAIT_SECONDS": "300",
}


def setting_names(container: Object) -> set[str]:
    """Return the names of the settings that *container* has variables for, without tables."""
    names = [
        variable["name"] for variable in container["env"] if variable["name"].startswith(_PREFIX)
    ]
    return {name.removeprefix(_PREFIX).lower().partition("__")[0] for name in names}


def settings_of(container: Object) -> Settings:
    """Return the settings that the service reads in *container*.

    Raises:
        UnusableSettingsError: one cannot be used.
    """
    variables = {variable["name"]: variable.get("value", _URI) for variable in container["env"]}
    with patch.dict(os.environ, variables, clear=True):
        return read_settings()


class RunningContainer:
    """A server, as its container would run it."""

    def __init__(self, container: Object, process: "subprocess.Popen[str]") -> None:
        self._container = container
        self.process = process
        self.events: dict[str, dict[str, Any]] = {}

    def wait_for(self, event: str) -> dict[str, Any]:
        """Return the first event of that name in the log."""
        assert self.process.stderr is not None
        while event not in self.events:
            line = self.process.stderr.readline()
            assert line, f"the server ended before it logged {event}: {self.events}"
            logged = json.loads(line)
            self.events.setdefault(logged["event"], logged)
        return self.events[event]

    @property
    def address(self) -> str:
        """The address for callers: a port on this machine, or the socket."""
        [address] = self.wait_for("server.ready")["addresses"]
        return _ANY_HOST.sub("localhost", str(address))

    def probe(self, name: str) -> bool:
        """Return whether the probe *name* succeeds, as the kubelet decides."""
        request = self._container[name]["httpGet"]
        admin = _ANY_HOST.sub("127.0.0.1", self.wait_for("admin.ready")["address"])
        try:
            response = httpx.get(f"{admin}{request['path']}", timeout=_SECONDS, trust_env=False)
        except httpx.ConnectError:
            return False
        return 200 <= response.status_code < 400

    def start_up(self) -> None:
        """Wait until the startup probe succeeds, and so the container counts as started."""
        wait_until(lambda: self.probe("startupProbe"))


class RunningPod:
    """The containers of a Deployment's pod, with its volumes in a folder."""

    def __init__(
        self, objects: list[Object], folder: Path, secrets: Mapping[str, Mapping[str, bytes]]
    ) -> None:
        self._containers = containers_of(objects)
        self._folder = folder
        rendered = {
            resource["metadata"]["name"]: {
                key: text.encode() for key, text in resource["stringData"].items()
            }
            for resource in objects
            if resource["kind"] == "Secret"
        }
        self._secrets: dict[str, Mapping[str, bytes]] = {**rendered, **secrets}
        for volume in pod_of(objects).get("volumes", ()):
            self._write(volume)

    def run(self, name: str) -> "subprocess.CompletedProcess[str]":
        """Run the container *name* to its end."""
        return subprocess.run(
            self._command(name),
            env=self._environment(name),
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )

    @contextmanager
    def running(self, name: str) -> Iterator[RunningContainer]:
        """Run the container *name* until the block ends."""
        process = subprocess.Popen(
            self._command(name), env=self._environment(name), stderr=subprocess.PIPE, text=True
        )
        try:
            yield RunningContainer(self._containers[name], process)
        finally:
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()

    def _write(self, volume: Object) -> None:
        folder = self._folder / volume["name"]
        folder.mkdir()
        if "secret" in volume:
            content = self._secrets[volume["secret"]["secretName"]]
            items = volume["secret"].get("items") or [{"key": key, "path": key} for key in content]
            for item in items:
                (folder / item["path"]).write_bytes(content[item["key"]])

    def _command(self, name: str) -> list[str]:
        """Return the entry point of the image, as this interpreter has it, and the arguments."""
        assert "sidecheck" == read_image().command[0]
        return [sys.executable, "-m", "sidecheck_server", *self._containers[name]["args"]]

    def _environment(self, name: str) -> dict[str, str]:
        """Return the variables of the image and the container, with volumes where they are.

        Ports are free ones, since others use this machine.
        """
        container = self._containers[name]
        variables = {
            **{key: value for key, value in read_image().environment.items() if key != "PATH"},
            **{variable["name"]: self._value(variable) for variable in container["env"]},
        }
        for mount in container.get("volumeMounts", ()):
            folder = str(self._folder / mount["name"])
            variables = {
                key: value.replace(mount["mountPath"], folder) for key, value in variables.items()
            }
        for port in container.get("ports", ()):
            for key in ("SIDECHECK_LISTEN", "SIDECHECK_ADMIN_LISTEN"):
                variables[key] = variables[key].replace(f":{port['containerPort']}", ":0")
        return {
            **{key: value for key, value in os.environ.items() if not key.startswith(_PREFIX)},
            **_PATIENT,
            **variables,
        }

    def _value(self, variable: Object) -> str:
        if "value" in variable:
            return str(variable["value"])
        reference = variable["valueFrom"]["secretKeyRef"]
        return self._secrets[reference["name"]][reference["key"]].decode()
