"""The chart: the manifests of kustomize by default, and what its values change."""

import json
import os
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from deploy.rendering import (
    CHART,
    VALUES,
    Object,
    chart,
    containers_of,
    kustomization,
    only,
    pod_of,
    run_tool,
)
from support.shared_material import REPOSITORY
from support.tokens import TOKENS, entry

#: Labels that helm adds, or its users expect.
HELM_LABELS = ("helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/version")
TLS = "tls.secretName=tls"
TOKEN = f"tokens.entries[0].name=a,tokens.entries[0].sha256={'0' * 64}"

REJECTED = {
    "replicas=0": "at '/replicas': minimum: got 0, want 1",
    "replica=2": "additional properties 'replica' not allowed",
    "image.tagg=1": "at '/image': additional properties 'tagg' not allowed",
    "image.digest=latest": "at '/image/digest'",
    "database.secretName=": "at '/database/secretName'",
    "settings.registry=tools.db": "at '/settings': additional properties 'registry' not allowed",
    "settings.transport.call=1": "at '/settings/transport': additional properties 'call' not",
    "settings.workers=many": "at '/settings/workers': got string, want integer",
    "settings.log_level=loud": "at '/settings/log_level': value must be one of 'debug', 'info'",
    "settings.limits.worker_bytes=1": "at '/settings/limits/worker_bytes': minimum: got 1",
    "settings.limits.pattern_repetitions=100001": "at '/settings/limits/pattern_repetitions': max",
    "settings.registry_quotas.tools=0": "at '/settings/registry_quotas/tools': minimum: got 0",
    # Files that a pod cannot write, and replicas would not share.
    "settings.gateway_policies.pins=first-use": "'pins' not allowed",
    "settings.drain_seconds=null": "at '/settings': missing property 'drain_seconds'",
    # Without these, a rule would be for everybody.
    "networkPolicy.clients=null": "at '/networkPolicy': missing property 'clients'",
    "networkPolicy.clients=[]": "at '/networkPolicy/clients': minItems: got 0, want 1",
    "networkPolicy.clients[0].namespace=a": "additional properties 'namespace' not allowed",
    "resources.limits.memory=much": "at '/resources/limits/memory'",
    "tls.certificate.create=true": "at '/tls/certificate/issuerRef/name': minLength",
    f"{TLS},{TOKEN}": "at '/tokens/entries/0': missing property 'roles'",
    f"{TLS},{TOKEN},tokens.entries[0].roles[0]=write": "value must be one of 'validate'",
    "tokens.secretName=a": "tokens need TLS: set tls.secretName or tls.certificate.create",
    f"{TLS},{TOKEN},tokens.entries[0].roles[0]=admin,tokens.secretName=a": "exclude each other",
    "tls.clientCaSecretName=a": "tls.clientCaSecretName needs TLS",
    "extraEnv[0].name=SIDECHECK_WORKERS": "SIDECHECK_WORKERS is a setting of the service",
    "extraEnv[0].name=PGSSLMODE,database.caSecretName=a": "database.caSecretName sets PGSSLMODE",
    "extraEnv[0].name=A,extraEnv[1].name=A": "extraEnv: A is set twice",
    r"podLabels.app\.kubernetes\.io/name=a": "app.kubernetes.io/name selects the pods",
    "autoscaling.enabled=true,autoscaling.minReplicas=11": "minReplicas (11) is more than",
    "listenHost=127.0.0.1": "at '/listenHost': value must be one of '0.0.0.0', '[::]'",
}


def test_the_chart_makes_the_manifests_of_the_fleet_by_default() -> None:
    """All objects are equal, except for the labels of helm."""
    objects: Any = deepcopy(chart())
    for resource in objects:
        for label in HELM_LABELS:
            del resource["metadata"]["labels"][label]

    assert by_kind(kustomization("fleet")) == by_kind(objects)


def test_the_chart_makes_the_manifests_with_tls_and_tokens() -> None:
    """The overlay of kustomize adds what these values do."""
    sets = (
        *("tls.secretName=sidecheck-tls", "tokens.secretName=sidecheck-tokens"),
        "database.caSecretName=sidecheck-database",
    )
    overlay, charted = pod_of(kustomization("fleet-tls")), pod_of(chart(None, *sets))
    for pod in (overlay, charted):
        pod["volumes"].sort(key=lambda volume: volume["name"])
        for container in (*pod["initContainers"], *pod["containers"]):
            container["env"].sort(key=lambda variable: variable["name"])
            container["volumeMounts"].sort(key=lambda mount: mount["name"])

    assert overlay == charted


def test_the_kustomization_of_the_guide_is_that_of_a_chart_without_migration(
    tmp_path: Path,
) -> None:
    """It has two parts: the base with another image, and the patch."""
    text = (REPOSITORY / "docs/operations/kubernetes.md").read_text()
    parts = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    own = "".join(parts).replace("../sidecheck/", f"{os.path.relpath(REPOSITORY, tmp_path)}/")
    (tmp_path / "kustomization.yaml").write_text(own)
    sets = ("database.migrate=false", "image.repository=registry.example.com/sidecheck")
    objects, pod = kustomization(tmp_path), pod_of(chart(None, *sets))

    assert {"tools"} == {resource["metadata"]["namespace"] for resource in objects}
    assert {**pod, "initContainers": []} == pod_of(objects)


def test_versions_match_the_project() -> None:
    """The version of the image matches too."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    described = yaml.safe_load((CHART / "Chart.yaml").read_text())
    images = {
        container["image"]
        for objects in (chart(), kustomization("fleet"), kustomization("sidecar"))
        for name, container in containers_of(objects).items()
        if name != "application"
    }

    assert (project["version"],) * 2 == (described["version"], described["appVersion"])
    assert {f"sidecheck:{project['version']}"} == images


def test_every_value_is_described_by_the_schema_and_by_a_comment() -> None:
    """Editors show the description of the schema."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    text = (CHART / "values.yaml").read_text()

    assert [] == list(undescribed(schema, yaml.compose(text), text.splitlines()))


@pytest.mark.parametrize("sets", REJECTED)
def test_invalid_values_are_rejected_with_their_locations(sets: str) -> None:
    option = "--set-json" if sets.endswith("[]") else "--set"
    done = run_tool("helm", "template", "sidecheck", CHART, option, sets)

    assert 1 == done.returncode
    assert "" == done.stdout
    assert REJECTED[sets] in done.stderr


def test_everything_can_be_switched_on() -> None:
    kinds = sorted(resource["kind"] for resource in chart("everything"))

    assert [
        *("Certificate", "Deployment", "HorizontalPodAutoscaler", "NetworkPolicy"),
        *("PodDisruptionBudget", "Secret", "Service", "ServiceMonitor"),
    ] == kinds
    assert ["Deployment", "Service"] == sorted(resource["kind"] for resource in chart("minimal"))
    assert list(containers_of(chart("minimal"))) == ["sidecheck"]


def test_resources_of_operators_refer_to_existing_objects() -> None:
    """The operators' schemas are not available, so the test checks the main fields."""
    objects = chart("everything")
    service, monitor = only(objects, "Service"), only(objects, "ServiceMonitor")
    certificate = only(objects, "Certificate")["spec"]
    [endpoint] = monitor["spec"]["endpoints"]
    pod = only(objects, "Deployment")["spec"]["template"]["metadata"]

    assert service["metadata"]["labels"].items() >= service["spec"]["selector"].items()
    assert monitor["spec"]["selector"]["matchLabels"] == service["spec"]["selector"]
    assert "sidecheck" == service["metadata"]["labels"][monitor["spec"]["jobLabel"]]
    assert endpoint["port"] in [port["name"] for port in service["spec"]["ports"]]
    # Those of Prometheus would have the pods scraped twice.
    assert {"example.com/owner": "tools"} == pod["annotations"]
    assert "prometheus" == monitor["metadata"]["labels"]["release"]
    assert "sidecheck.tools.svc.cluster.local" in certificate["dnsNames"]
    assert "sidecheck.example.com" in certificate["dnsNames"]
    assert "sidecheck-tls" == certificate["secretName"]
    assert {"name": "internal", "kind": "ClusterIssuer", "group": "cert-manager.io"} == (
        certificate["issuerRef"]
    )


def test_the_autoscaler_decides_on_the_replicas() -> None:
    """A number in the Deployment would set it back at each upgrade."""
    objects = chart("everything")
    target = only(objects, "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]

    assert "replicas" not in only(objects, "Deployment")["spec"]
    assert target["name"] == only(objects, "Deployment")["metadata"]["name"]


def test_tokens_of_values_are_a_file_that_the_service_reads() -> None:
    """Their names are arbitrary."""
    values = yaml.safe_load((VALUES / "everything.yaml").read_text())
    secret = only(chart("everything"), "Secret")
    file = tomllib.loads(secret["stringData"]["tokens.toml"])
    written = tomllib.loads(entry("limited", "validate", servers=["mine"]))

    assert values["tokens"]["entries"] == file["tokens"]
    assert file["tokens"][1].keys() == written["tokens"][0].keys()
    assert not any(token in json.dumps(secret) for token in TOKENS.values())


@pytest.mark.parametrize(
    ("release", "name"),
    [("sidecheck", "sidecheck"), ("my-sidecheck", "my-sidecheck"), ("prod", "prod-sidecheck")],
)
def test_objects_are_named_for_the_release(release: str, name: str) -> None:
    """Two releases may be in one namespace, also by their selectors."""
    objects = chart(release=release)
    selector = only(objects, "Service")["spec"]["selector"]

    assert {name} == {resource["metadata"]["name"] for resource in objects}
    assert release == selector["app.kubernetes.io/instance"]


def test_the_notes_warn_of_missing_security() -> None:
    """The notes warn of plain text and of missing tokens."""
    install = ("helm", "install", "sidecheck", CHART, "--dry-run=client", "--namespace=tools")
    notes = run_tool(*install).stdout.partition("NOTES:")[2]
    closed = run_tool(*install, f"--values={VALUES / 'everything.yaml'}")

    assert "dns:///sidecheck.tools.svc.cluster.local:50151" in notes
    assert 2 == notes.count("WARNING: ")
    assert "WARNING" not in closed.stdout.partition("NOTES:")[2]
    assert not re.search(r"\S +$|\n\n\n", notes, re.MULTILINE)


def by_kind(objects: list[Object]) -> dict[str, Object]:
    """Return *objects* by their kinds, of which each must have one."""
    kinds = [str(resource["kind"]) for resource in objects]
    assert len(set(kinds)) == len(kinds)
    return dict(zip(kinds, objects, strict=True))


def undescribed(schema: Any, values: Any, lines: list[str], place: str = "") -> Iterator[str]:
    """Yield the places of values without a description, or without a comment above them."""
    keys = {key.value: (key, value) for key, value in values.value}
    for name, inner in schema.get("properties", {}).items():
        if (
            "description" not in inner
            and "$ref" not in inner
            and not place.startswith("/settings/")
        ):
            yield f"{place}/{name}: no description"
        if name not in keys:
            continue
        key, value = keys[name]
        if not lines[key.start_mark.line - 1].lstrip().startswith("# ") and "$ref" not in inner:
            yield f"{place}/{name}: no comment"
        if isinstance(value, yaml.MappingNode):
            yield from undescribed(inner, value, lines, f"{place}/{name}")
