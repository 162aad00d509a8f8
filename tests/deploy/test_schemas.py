"""Objects of kustomize and helm are valid against the Kubernetes API, without unknown fields."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from deploy.rendering import CHART, Object, chart, kustomization, only, run_tool
from support.shared_material import REPOSITORY

SCHEMAS = (
    "build/kubernetes/schemas/{{.NormalizedKubernetesVersion}}/"
    "{{.ResourceKind}}{{.KindSuffix}}.json"
)
#: The oldest that the chart accepts, and a recent one.
VERSIONS = ["1.29.0", "1.37.0"]
#: Resources of operators, of which no schema is at hand. All others must have one.
CUSTOM = {"cert-manager.io/v1/Certificate", "monitoring.coreos.com/v1/ServiceMonitor"}

#: What docs/development.md applies to a cluster, beside what it tests.
CLUSTER = Path(__file__).parent / "cluster"

RENDERED: dict[str, Callable[[], list[Object]]] = {
    "sidecar": lambda: kustomization("sidecar"),
    "fleet": lambda: kustomization("fleet"),
    "fleet-tls": lambda: kustomization("fleet-tls"),
    "sidecar of a test": lambda: kustomization(CLUSTER / "sidecar"),
    "database of a test": lambda: kustomization(CLUSTER / "database"),
    "chart": chart,
    "chart, minimal": lambda: chart("minimal"),
    "chart, everything": lambda: chart("everything"),
}


def conformance(objects: list[Object], version: str) -> Any:
    """Return what kubeconform says of *objects*, as text with its exit code."""
    return run_tool(
        *("kubeconform", "-strict", "-summary", "-verbose", "-kubernetes-version", version),
        *("-schema-location", SCHEMAS, "-skip", ",".join(sorted(CUSTOM))),
        text=yaml.safe_dump_all(objects),
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", RENDERED)
def test_objects_are_of_the_api(name: str, version: str) -> None:
    """All of them: those that are not validated are counted."""
    objects = RENDERED[name]()
    done = conformance(objects, version)
    skipped = sum(f"{resource['apiVersion']}/{resource['kind']}" in CUSTOM for resource in objects)
    counts = f"Valid: {len(objects) - skipped}, Invalid: 0, Errors: 0, Skipped: {skipped}"

    assert 0 == done.returncode, done.stdout
    assert counts in done.stdout
    assert (2 if name == "chart, everything" else 0) == skipped


@pytest.mark.parametrize("version", VERSIONS)
def test_unknown_fields_and_kinds_are_errors(version: str) -> None:
    """The schemas are the strict ones, and none is missed in silence."""
    objects: Any = kustomization("fleet")
    only(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["comand"] = ["a"]
    objects.append({"apiVersion": "v1", "kind": "Unknown", "metadata": {"name": "a"}})
    done = conformance(objects, version)

    assert 1 == done.returncode
    assert "additional properties 'comand' not allowed" in done.stdout
    assert "could not find schema for Unknown" in done.stdout
    assert "Valid: 3, Invalid: 1, Errors: 1, Skipped: 0" in done.stdout


def test_the_chart_accepts_the_versions_that_are_validated() -> None:
    """There are no schemas of other versions."""
    described = yaml.safe_load((CHART / "Chart.yaml").read_text())
    run_tool("kubeconform", "-v")
    folders = (REPOSITORY / "build" / "kubernetes" / "schemas").iterdir()

    assert {f"v{version}" for version in VERSIONS} == {folder.name for folder in folders}
    assert described["kubeVersion"] == f">={VERSIONS[0]}-0"


@pytest.mark.parametrize("values", [None, "minimal", "everything"])
def test_helm_lint_has_no_findings(values: str | None) -> None:
    options = [f"--values=tests/deploy/values/{values}.yaml"] if values else []
    done = run_tool("helm", "lint", "--strict", CHART, *options)

    assert 0 == done.returncode, done.stdout
    assert "0 chart(s) failed" in done.stdout
