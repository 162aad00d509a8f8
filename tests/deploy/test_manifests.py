"""Static tests of the manifests."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from deploy.containers import setting_names, settings_of
from deploy.rendering import Object, chart, containers_of, kustomization, only, pod_of
from image.dockerfile import read_image
from sidecheck_server.config.settings import Settings
from support.needed_memory import needed_memory, permanent_memory
from support.shared_material import REPOSITORY

FLEETS: dict[str, Callable[[], list[Object]]] = {
    "fleet": lambda: kustomization("fleet"),
    "fleet-tls": lambda: kustomization("fleet-tls"),
    "chart": chart,
    "chart, everything": lambda: chart("everything"),
}
RENDERED = {"sidecar": lambda: kustomization("sidecar"), **FLEETS}

_UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


@pytest.fixture(params=RENDERED)
def objects(request: pytest.FixtureRequest) -> list[Object]:
    return RENDERED[request.param]()


@pytest.fixture(params=FLEETS)
def fleet(request: pytest.FixtureRequest) -> list[Object]:
    return FLEETS[request.param]()


def test_pods_are_of_the_restricted_profile(objects: list[Object]) -> None:
    """The profile is of the Pod Security Standards; file systems are read-only."""
    pod = pod_of(objects)

    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert {"type": "RuntimeDefault"} == pod["securityContext"]["seccompProfile"]
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    for volume in pod.get("volumes", ()):
        assert volume.keys() & {"emptyDir", "secret"}
    for container in containers_of(objects).values():
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert {"drop": ["ALL"]} == context["capabilities"]
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


def test_containers_run_as_the_user_of_the_image(objects: list[Object]) -> None:
    """Its group is that of secrets and of the socket, too."""
    user, group = map(int, read_image().user.split(":"))
    pod = pod_of(objects)["securityContext"]
    own = {**pod, **containers_of(objects)["sidecheck"]["securityContext"]}

    assert (user, group, group) == (own["runAsUser"], own["runAsGroup"], pod["fsGroup"])


def test_every_variable_is_a_setting(objects: list[Object]) -> None:
    """A misspelt one would do nothing; and all together are usable."""
    for name, container in containers_of(objects).items():
        if name != "application":
            assert setting_names(container) <= set(Settings.model_fields)
            settings_of(container)


def test_no_credential_is_in_the_manifest(objects: list[Object]) -> None:
    """URIs and passwords come out of Secrets, and not as arguments."""
    for name, container in containers_of(objects).items():
        variables = {variable["name"]: variable for variable in container["env"]}
        registry = variables.get("SIDECHECK_REGISTRY", {"value": "/"})

        assert name in {"sidecheck", "migrate", "application"}
        assert not any("postgres" in word for word in container.get("args", ()))
        assert "secretKeyRef" in registry.get("valueFrom", ()) or "/" in registry["value"]
        assert "value" not in variables.get("PGPASSWORD", {})


def test_memory_limits_match_the_settings(objects: list[Object]) -> None:
    """The limit is the table in docs/operations/capacity.md, the request its permanent part."""
    container = containers_of(objects)["sidecheck"]
    settings, resources = settings_of(container), container["resources"]

    assert needed_memory(settings) <= quantity(resources["limits"]["memory"])
    assert permanent_memory(settings) <= quantity(resources["requests"]["memory"])


def test_the_memory_of_the_manifests_is_not_a_guess() -> None:
    """It is at most a tenth above the sums."""
    for objects in (kustomization("sidecar"), kustomization("fleet")):
        container = containers_of(objects)["sidecheck"]
        settings, resources = settings_of(container), container["resources"]

        assert quantity(resources["limits"]["memory"]) < needed_memory(settings) * 11 // 10
        assert quantity(resources["requests"]["memory"]) < permanent_memory(settings) * 11 // 10


def test_a_pod_may_stop_as_slowly_as_the_service(objects: list[Object]) -> None:
    """The service ends 2 seconds after both periods; a sidecar's application ends before."""
    settings = settings_of(containers_of(objects)["sidecheck"])
    needed = settings.drain_seconds + settings.grace_seconds + 2
    needed += 30 if "application" in containers_of(objects) else 0

    assert needed < pod_of(objects)["terminationGracePeriodSeconds"]


def test_ports_match_the_listeners(objects: list[Object]) -> None:
    """Probes use these ports."""
    container = containers_of(objects)["sidecheck"]
    settings = settings_of(container)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    listened = {
        int(address.rpartition(":")[2])
        for address in (settings.listen, settings.admin_listen)
        if address
    }

    assert listened == set(ports.values())
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert settings.admin_listen.endswith(f":{ports[container[probe]['httpGet']['port']]}")


def test_prometheus_discovers_the_admin_port_alone(objects: list[Object]) -> None:
    """The relabeling keeps one port of all containers of the cluster."""
    text = (REPOSITORY / "deploy" / "prometheus" / "scrape-kubernetes.yaml").read_text()
    [job] = yaml.safe_load(text)["scrape_configs"]
    [keep_rule] = [rule for rule in job["relabel_configs"] if rule["action"] == "keep"]
    container = containers_of(objects)["sidecheck"]
    ports = {
        port["containerPort"]
        for name, container in containers_of(objects).items()
        for port in container.get("ports", ())
        if re.fullmatch(keep_rule["regex"], f"{name};{port['name']}")
    }

    assert {int(settings_of(container).admin_listen.rpartition(":")[2])} == ports


def test_everything_selects_the_pods(fleet: list[Object]) -> None:
    """A selector that matches nothing is no error of Kubernetes."""
    template = only(fleet, "Deployment")["spec"]["template"]
    labels = template["metadata"]["labels"].items()
    selectors = [
        only(fleet, "Deployment")["spec"]["selector"]["matchLabels"],
        only(fleet, "Service")["spec"]["selector"],
        only(fleet, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        only(fleet, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
        *(
            constraint["labelSelector"]["matchLabels"]
            for constraint in template["spec"]["topologySpreadConstraints"]
        ),
    ]

    assert 6 == len(selectors)
    assert all(selector and labels >= selector.items() for selector in selectors)


def test_ports_have_the_names_that_others_use(fleet: list[Object]) -> None:
    """The Service and the NetworkPolicy use the names of the container's ports."""
    ports = {port["name"] for port in containers_of(fleet)["sidecheck"]["ports"]}
    service = only(fleet, "Service")["spec"]
    rules = only(fleet, "NetworkPolicy")["spec"]["ingress"]

    assert "None" == service["clusterIP"]
    assert ports == {port["targetPort"] for port in service["ports"]}
    assert {port["port"] for rule in rules for port in rule["ports"]} <= ports


def test_only_named_peers_reach_the_pods(fleet: list[Object]) -> None:
    """A rule without peers is for everybody; but for the port of the database, none is."""
    policy = only(fleet, "NetworkPolicy")["spec"]
    open_rules = [rule for rule in policy["egress"] if not rule.get("to")]

    assert ["Ingress", "Egress"] == policy["policyTypes"]
    assert all(rule["from"] and rule["ports"] for rule in policy["ingress"])
    assert all(rule["ports"] for rule in policy["egress"])
    assert [[{"protocol": "TCP", "port": 5432}]] * len(open_rules) == [
        rule["ports"] for rule in open_rules
    ]


def test_the_pods_are_migrated_by_the_image_that_serves(fleet: list[Object]) -> None:
    """Both use the same database."""
    containers = containers_of(fleet)
    migrate, serve = containers["migrate"], containers["sidecheck"]
    registries = [
        [
            variable
            for variable in container["env"]
            if variable["name"].startswith(("SIDECHECK_REG", "PGSSL"))
        ]
        for container in (migrate, serve)
    ]

    assert ["registry", "migrate"] == migrate["args"]
    assert migrate["image"] == serve["image"]
    assert registries[0]
    assert registries[0] == [
        variable for variable in registries[1] if "QUOTAS" not in variable["name"]
    ]


def test_the_sidecar_begins_before_the_application_and_shares_its_socket_alone() -> None:
    objects = kustomization("sidecar")
    sidecar, application = containers_of(objects).values()
    mounts: Any = {mount["name"]: mount for mount in application["volumeMounts"]}
    own = {mount["name"]: mount["mountPath"] for mount in sidecar["volumeMounts"]}
    settings = settings_of(sidecar)
    [target] = [variable["value"] for variable in application["env"]]

    assert [sidecar] == pod_of(objects)["initContainers"]
    assert ("sidecheck", "Always") == (sidecar["name"], sidecar["restartPolicy"])
    assert "startupProbe" in sidecar
    assert "" == settings.listen
    assert {"socket"} == mounts.keys()
    assert mounts["socket"]["readOnly"] is True
    assert f"unix:{settings.unix_socket}" == target
    assert str(settings.unix_socket).startswith(f"{own['socket']}/")
    assert str(settings.registry).startswith(f"{own['tools']}/")
    assert set(own.values()) == set(read_image().volumes)


def quantity(text: str) -> int:
    """Return the bytes of a quantity."""
    matched = re.fullmatch(r"(\d+)(\w\w)", text)
    assert matched is not None
    return int(matched[1]) * _UNITS[matched[2]]
