"""The files of each client's package: sources, types, licence and README, and nothing else.

`tests/image/test_distributions.py` checks the packages of Python.
"""

import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from conformance.languages import LANGUAGES
from packages.published import (
    GO_MODULE,
    GO_VERSION,
    VERSION,
    client_files,
    deploy_artifacts,
    unpack_crate,
    write_module_proxy,
)
from support.npm_package import pack_typescript_client
from support.shared_material import REPOSITORY, unavailable

_JAVA_SOURCES = re.compile(r"sidecheck/src/(?:main|generated)/java/(.+)\.java")
_PUBLIC = re.compile(
    r"^public (?:\w+ |non-sealed )*(?:class|interface|enum|record|@interface) ", re.MULTILINE
)
#: Files of the jars that Maven writes.
_MAVEN = {
    "META-INF/MANIFEST.MF",
    *(f"META-INF/maven/io.sidecheck/sidecheck/pom.{suffix}" for suffix in ("xml", "properties")),
}
_PROTOS = {
    path.relative_to(REPOSITORY / "proto").as_posix()
    for path in (REPOSITORY / "proto" / "sidecheck").rglob("*.proto")
}


@dataclass(frozen=True, slots=True)
class Package:
    """Files of a package, and the files that it must have."""

    #: Name of the client in `conformance.languages`.
    client: str
    #: Builds the package in an empty folder.
    listed: Callable[[Path], set[str]]
    expected: Callable[[], set[str]]


def _names(archive: Path, start: str) -> set[str]:
    """Return the names of the files in *archive*, without the folder *start* of all."""
    if zipfile.is_zipfile(archive):
        names = [name for name in zipfile.ZipFile(archive).namelist() if not name.endswith("/")]
    else:
        with tarfile.open(archive) as packed:
            names = [member.name for member in packed if member.isfile()]
    assert all(name.startswith(start) for name in names)
    return {name.removeprefix(start) for name in names}


def _go_names(folder: Path) -> set[str]:
    return _names(write_module_proxy(folder), f"{GO_MODULE}@{GO_VERSION}/")


def _go_files() -> set[str]:
    # A module is the folder of a repository, with its tests.
    sources = {name for name in client_files("go") if name.endswith(".go")}
    return sources | {"LICENSE", "README.md", "api.txt", "go.mod", "go.sum"}


def _npm_files() -> set[str]:
    sources = [re.fullmatch(r"src/(.+)\.(m?)ts", name) for name in client_files("typescript")]
    built = {f"dist/{match[1]}.{match[2]}js" for match in sources if match} | {
        f"dist/{match[1]}.d.{match[2]}ts" for match in sources if match
    }
    return built | {"LICENSE", "README.md", "package.json"}


def _jar_names(classifier: str) -> set[str]:
    folder = deploy_artifacts() / "io" / "sidecheck" / "sidecheck" / VERSION
    return _names(folder / f"sidecheck-{VERSION}{classifier}.jar", "")


def _java_classes() -> set[str]:
    matches = (_JAVA_SOURCES.fullmatch(name) for name in client_files("java"))
    return {match[1] for match in matches if match}


def _outer_classes(names: Iterable[str]) -> set[str]:
    """Return *names* without nested classes, and one name for the classes of the protos."""
    outer = {re.sub(r"\$.+(?=\.class)", "", name) for name in names}
    # The compiler writes a class for a package with annotations only.
    outer = {name for name in outer if not name.endswith("package-info.class")}
    stubs = {name for name in outer if name.startswith("io/sidecheck/v1/")}
    return outer - stubs | ({"io/sidecheck/v1/"} if stubs else set())


def _jar_files() -> set[str]:
    classes = {f"{name}.class" for name in _java_classes() if not name.endswith("package-info")}
    return classes | _PROTOS | _MAVEN | {"META-INF/LICENSE", "io/sidecheck/v1/"}


def _sources_files() -> set[str]:
    sources = {f"{name}.java" for name in _java_classes()}
    return sources | _MAVEN | {"META-INF/LICENSE", "io/sidecheck/v1/"}


def _javadoc_names(_: Path) -> set[str]:
    """Return the outer classes with a page."""
    pages = _jar_names("-javadoc")
    assert {"index.html", "element-list"} <= pages
    classes = (
        re.fullmatch(r"io\.sidecheck/(io/(?:[a-z]+/)+[A-Z]\w+)\.html", page) for page in pages
    )
    return {match[1] for match in classes if match}


def _javadoc_files() -> set[str]:
    sources = {
        match[1]: REPOSITORY / "clients" / "java" / name
        for name in client_files("java")
        if (match := _JAVA_SOURCES.fullmatch(name))
    }
    return {name for name, path in sources.items() if _PUBLIC.search(path.read_text())}


def _crate_names(folder: Path) -> set[str]:
    crate = unpack_crate(folder)
    names = {path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file()}
    # Where the checkout has no changes, cargo names its commit.
    return names - {".cargo_vcs_info.json"}


def _crate_files() -> set[str]:
    files = client_files("rust")
    sources = {name for name in files if re.fullmatch(r"(?:src|examples)/.+\.rs", name)}
    return sources | {"LICENSE", "README.md", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig"}


PACKAGES = {
    "go": Package("Go", _go_names, _go_files),
    "npm": Package(
        "TypeScript", lambda folder: _names(pack_typescript_client(folder), "package/"), _npm_files
    ),
    "jar": Package("Java", lambda _: _outer_classes(_jar_names("")), _jar_files),
    "sources": Package("Java", lambda _: _outer_classes(_jar_names("-sources")), _sources_files),
    "javadoc": Package("Java", _javadoc_names, _javadoc_files),
    "crate": Package("Rust", _crate_names, _crate_files),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_has_the_files_of_its_client(name: str, tmp_path: Path) -> None:
    """It has no tests, except those of Go, and no outputs of tools."""
    package = PACKAGES[name]
    if missing := LANGUAGES[package.client].missing_programs():
        unavailable(f"{', '.join(missing)} not on PATH: no {package.client} package is built")
    names = package.listed(tmp_path)
    expected = package.expected()

    assert {"missing": expected - names, "unexpected": names - expected} == {
        "missing": set(),
        "unexpected": set(),
    }
