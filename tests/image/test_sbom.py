"""The bills of materials that `make sbom` writes, against the locks."""

import json
import re
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.shared_material import REPOSITORY, unavailable

BILLS = REPOSITORY / "build" / "sbom"
RUNTIME = REPOSITORY / "deploy" / "runtime.lock"
VENDORED = REPOSITORY / "service/sidecheck_server/admin/page/vendor/lock.json"
CLIENT = REPOSITORY / "deploy" / "client.lock"


def read_bill(name: str) -> Any:
    path = BILLS / f"{name}.cdx.json"
    if not path.exists():
        unavailable(f"{path} is missing; `make sbom` writes it")
    return json.loads(path.read_text())


def locked(text: str) -> dict[str, tuple[str, set[str]]]:
    """Return version and hashes by name, of what a lock installs here."""
    packages: dict[str, tuple[str, set[str]]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = re.split(r"\s+--hash=sha256:", line.partition(" #")[0].strip())
        if hashes:
            parsed = Requirement(requirement)
            if parsed.marker is None or parsed.marker.evaluate():
                version = str(parsed.specifier).removeprefix("==")
                packages[canonicalize_name(parsed.name)] = (version, set(hashes))
    return packages


def vendored() -> dict[str, str]:
    """Return versions by name, of the packages that the page has in its folder."""
    return {
        package["name"]: package["version"]
        for package in json.loads(VENDORED.read_text())["packages"]
    }


def components(bill: Any) -> dict[str, str]:
    """Return versions by name."""
    return {
        canonicalize_name(component["name"]): component["version"]
        for component in bill["components"]
    }


@pytest.mark.parametrize("name", ["image", "sidecheck_server", "sidecheck"])
def test_a_bill_is_reproducible_cyclonedx(name: str) -> None:
    """It has no time, serial number or path of the machine."""
    bill = read_bill(name)

    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["name"].startswith("sidecheck")
    assert "serialNumber" not in bill
    assert "timestamp" not in bill["metadata"]
    assert str(REPOSITORY) not in json.dumps(bill)


def test_the_image_has_the_packages_of_its_lock() -> None:
    """It also has the client and the vendored files of the page, with licenses."""
    bill = read_bill("image")
    expected = {name: version for name, (version, _) in locked(RUNTIME.read_text()).items()}

    assert components(bill) == {**expected, **vendored(), "sidecheck": "0.1.0"}
    unlicensed = [
        component["name"] for component in bill["components"] if not component.get("licenses")
    ]
    # Its metadata name none.
    assert set(unlicensed) <= {"protobuf"}
    assert any(dependency.get("dependsOn") for dependency in bill["dependencies"])


def test_wheels_name_the_hashes_of_the_locks() -> None:
    """Every lock file is tested."""
    for name, lock in (("sidecheck_server", RUNTIME), ("sidecheck", CLIENT)):
        bill = read_bill(name)
        packages = locked(lock.read_text())
        hashes: dict[str, set[str]] = {
            canonicalize_name(component["name"]): {
                digest["content"]
                for reference in component.get("externalReferences", ())
                for digest in reference.get("hashes", ())
            }
            for component in bill["components"]
        }

        expected = {*packages, *(vendored() if name == "sidecheck_server" else ())}
        assert expected <= hashes.keys()
        assert all(hashes[package] == digests for package, (_, digests) in packages.items())
