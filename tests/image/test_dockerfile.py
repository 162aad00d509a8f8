"""Static tests of the Dockerfile."""

import re
import tomllib
from typing import Any

import yaml
from image.context import is_sent
from image.dockerfile import read_image, read_steps
from sidecheck_server.config.settings import Settings
from support.needed_memory import needed_memory
from support.shared_material import REPOSITORY

LOCKS = ("build.lock", "client.lock", "installer.lock", "runtime.lock")


def test_all_stages_have_one_base_known_by_its_digest() -> None:
    """A tag can change."""
    bases = {step.value.partition(" AS ")[0] for step in read_steps() if step.name == "FROM"}
    [base] = bases - {"scratch"}

    assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base)


def test_the_user_is_a_number_and_not_root() -> None:
    """An orchestrator that demands one cannot tell by a name."""
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", read_image().user)


def test_commands_need_no_shell_and_end_by_sigterm() -> None:
    """Commands are JSON arrays."""
    image = read_image()

    assert ["sidecheck", "serve"] == image.command
    assert ["python", "-I", "-S"] == image.healthcheck[:3]
    assert "SIGTERM" == image.stop_signal


def test_the_server_listens_on_the_port_that_is_exposed() -> None:
    """It listens on every address, since its own address is unknown."""
    image = read_image()

    assert f"0.0.0.0:{image.port}" == image.environment["SIDECHECK_LISTEN"]
    assert Settings().listen.endswith(f":{image.port}")


def test_every_variable_of_the_image_is_a_setting() -> None:
    """A misspelt one would do nothing."""
    names = [name for name in read_image().environment if name.startswith("SIDECHECK_")]

    assert set() == {name.removeprefix("SIDECHECK_").lower() for name in names} - set(
        Settings.model_fields
    )


def test_the_label_has_the_version_of_the_project() -> None:
    """A label cannot be computed, so the version is repeated."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]

    assert project["version"] == read_image().labels["org.opencontainers.image.version"]


def test_packages_are_installed_by_hash_or_from_here() -> None:
    """The image has locked packages only, and pip resolves nothing."""
    installs = [
        part
        for step in read_steps()
        if step.name == "RUN"
        for part in step.value.split("&&")
        if re.search(r"\bpip\b.* (install|wheel) ", part)
    ]

    assert 5 == len(installs)
    assert [] == [part for part in installs if "--no-deps" not in part]
    assert [] == [part for part in installs if not re.search("--require-hashes|--no-index", part)]


def test_the_image_has_the_releases_that_are_tested() -> None:
    """Each has its hashes, and no address of a registry."""
    tested = dict(_pins("requirements.lock"))
    for lock in LOCKS:
        text = (REPOSITORY / "deploy" / lock).read_text()
        pins = _pins(f"deploy/{lock}")

        assert dict(pins) == {name: tested.get(name) for name, _ in pins}
        assert len(pins) == len(re.findall(r"==\S+(?: ; .*)? \\\n +--hash=", text))
        assert "://" not in text


def test_the_image_has_all_that_the_service_needs() -> None:
    """`make lock` was run since the last dependency was added."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    needed = {re.split("[<>=]", requirement)[0] for requirement in project["dependencies"]} - {
        "sidecheck"
    }

    assert set() == needed - dict(_pins("deploy/runtime.lock")).keys()


def test_the_platforms_of_a_release_are_those_whose_wheels_are_checked() -> None:
    """The workflow has Docker's names, and uv those of wheels."""
    release = yaml.safe_load((REPOSITORY / ".github" / "workflows" / "release.yml").read_text())
    built = [row["platform"] for row in release["jobs"]["image"]["strategy"]["matrix"]["include"]]
    makefile = (REPOSITORY / "Makefile").read_text()
    [checked] = re.findall(r"(?m)^WHEEL_PLATFORMS := (.+)$", makefile)
    machines = [platform.partition("-")[0] for platform in checked.split()]

    assert ["amd64", "arm64"] == built
    assert ["x86_64", "aarch64"] == machines
    assert {"run": "make image-wheels"} in release["jobs"]["build"]["steps"]


def test_the_published_image_has_a_bill_of_materials_and_its_provenance() -> None:
    """Docker's default builder stores neither."""
    [command] = re.findall(r"docker buildx build (.+)", (REPOSITORY / "Makefile").read_text())

    options = command.rstrip("\\").split()
    wanted = {"--builder", "--push", "--sbom=true", "--provenance=mode=max"}
    assert wanted <= {*options}


def test_the_build_context_has_only_files_of_the_image() -> None:
    """Large and secret files are excluded."""
    included = ("service/sidecheck_server/__main__.py", "clients/python/sidecheck/v1/__init__.py")
    away = (".git/config", ".venv/bin/python", "tests/running.py", "tools.db", "clients/go/go.mod")

    assert [True, True] == [is_sent(path) for path in included]
    assert [False] * 5 == [is_sent(path) for path in away]


def test_compose_runs_the_image_read_only_on_its_volumes() -> None:
    """Its settings exist."""
    composed: Any = yaml.safe_load((REPOSITORY / "deploy" / "compose.yaml").read_text())
    service = composed["services"]["sidecheck"]
    mounts = dict(mount.split(":") for mount in service["volumes"])
    names = {name.removeprefix("SIDECHECK_").lower() for name in service["environment"]}

    assert read_image().volumes == list(mounts.values())
    assert set(composed["volumes"]) == set(mounts)
    assert (True, ["ALL"]) == (service["read_only"], service["cap_drop"])
    assert set() == names - set(Settings.model_fields)
    assert float(service["stop_grace_period"].rstrip("s")) > Settings().grace_seconds


def _pins(lock: str) -> list[tuple[str, str]]:
    return re.findall(r"^([^\s=]+)==(\S+)", (REPOSITORY / lock).read_text(), re.MULTILINE)


def test_the_memory_limit_of_compose_covers_the_settings() -> None:
    """It is the sum of the table in docs/operations/capacity.md."""
    composed: Any = yaml.safe_load((REPOSITORY / "deploy" / "compose.yaml").read_text())
    limit = re.fullmatch(r"(\d+)m", composed["services"]["sidecheck"]["mem_limit"])

    assert limit is not None
    assert needed_memory(Settings()) <= int(limit[1]) << 20
