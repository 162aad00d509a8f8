"""Objects of Kubernetes, as kustomize and helm make them of the files in ``deploy``."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from support.shared_material import REPOSITORY, unavailable

__all__ = [
    "CHART",
    "VALUES",
    "Object",
    "chart",
    "containers_of",
    "kustomization",
    "only",
    "pod_of",
    "run_tool",
]

Object: TypeAlias = Mapping[str, Any]

CHART = REPOSITORY / "deploy" / "helm" / "sidecheck"
VALUES = Path(__file__).parent / "values"
_KUBERNETES = REPOSITORY / "deploy" / "kubernetes"
_TOOLS = REPOSITORY / "build" / "kubernetes"
_SECONDS = 300


def run_tool(*command: str | Path, text: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a tool of ``deploy/tools`` to its end, with *text* as its input."""
    if not (_TOOLS / ".made").exists():
        unavailable("build/kubernetes is not there; make build/kubernetes/.made builds the tools")
    return subprocess.run(
        [_TOOLS / command[0], *command[1:]],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
        timeout=_SECONDS,
    )


def kustomization(folder: str | Path) -> list[Object]:
    """Return the objects of *folder*, in ``deploy/kubernetes`` if it is a name."""
    return _objects(run_tool("kustomize", "build", _KUBERNETES / folder))


def chart(
    values: str | None = None, *sets: str, release: str = "sidecheck", namespace: str = "tools"
) -> list[Object]:
    """Return the objects of the chart with the values of a file, and with single ones."""
    options = [f"--values={VALUES / values}.yaml"] if values else []
    options += [f"--set={assignment}" for assignment in sets]
    return _objects(
        run_tool("helm", "template", release, CHART, f"--namespace={namespace}", *options)
    )


def only(objects: list[Object], kind: str) -> Any:
    """Return the only one of *objects* that is of *kind*."""
    [match] = [resource for resource in objects if resource["kind"] == kind]
    return match


def pod_of(objects: list[Object]) -> Any:
    """Return what the Deployment says of its pods."""
    return only(objects, "Deployment")["spec"]["template"]["spec"]


def containers_of(objects: list[Object]) -> dict[str, Any]:
    """Return the containers of the Deployment by their names, those that begin first first."""
    pod = pod_of(objects)
    return {
        container["name"]: container
        for container in (*pod.get("initContainers", ()), *pod["containers"])
    }


def _objects(done: "subprocess.CompletedProcess[str]") -> list[Object]:
    assert done.returncode == 0, done.stderr
    return [resource for resource in yaml.safe_load_all(done.stdout) if resource is not None]
