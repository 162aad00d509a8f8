#!/usr/bin/env python
"""Sets and checks the version of a release, which `pyproject.toml` defines.

`.ci/release.py set 0.2.0` writes the version into every file that repeats it.
`.ci/release.py check [--tag v0.2.0]` exits with 1 if a file has another version, the changelog has
no section for it, a fragment is not in the changelog yet, or the tag does not name it.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Files that repeat the version, with a pattern of the text around each occurrence.
PLACES = (
    ("pyproject.toml", r'(?m)^(version = ")[^"]+(")'),
    ("service/sidecheck_server/__init__.py", r'(__version__ = ")[^"]+(")'),
    ("clients/python/pyproject.toml", r'(?m)^(version = ")[^"]+(")'),
    ("clients/typescript/package.json", r'(?m)^(  "version": ")[^"]+(")'),
    (
        "clients/typescript/package-lock.json",
        r'(\A\{\s+"name": "sidecheck",\s+"version": ")[^"]+(")',
    ),
    (
        "clients/typescript/package-lock.json",
        r'("": \{\s+"name": "sidecheck",\s+"version": ")[^"]+(")',
    ),
    ("clients/typescript/README.md", r"(sidecheck-)\d[\w.-]*(\.tgz)"),
    ("clients/rust/Cargo.toml", r'(?m)\A(\[package\]\nname = "sidecheck"\nversion = ")[^"]+(")'),
    ("clients/rust/Cargo.lock", r'(name = "sidecheck"\nversion = ")[^"]+(")'),
    ("clients/java/pom.xml", r"(<artifactId>sidecheck-build</artifactId>\s+<version>)[^<]+(<)"),
    (
        "clients/java/sidecheck/pom.xml",
        r"(<artifactId>sidecheck</artifactId>\s+<version>)[^<]+(<)",
    ),
    ("clients/java/README.md", r"(<artifactId>sidecheck</artifactId>\s+<version>)[^<]+(<)"),
    (
        "clients/java/examples/weather/pom.xml",
        r"(<artifactId>(?:weather|sidecheck)</artifactId>\s+<version>)[^<]+(<)",
    ),
    ("Dockerfile", r'(image\.version=")[^"]+(")'),
    ("deploy/helm/sidecheck/Chart.yaml", r"(?m)^((?:appV|v)ersion: )\S+()"),
    ("docs/installation.md", r"(sidecheck_server-)[^-]+(-py3)"),
    ("docs/operations/kubernetes.md", r"(newTag: )\S+()"),
)


def main() -> int:
    """Run as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("set").add_argument("version")
    commands.add_parser("check").add_argument("--tag", default="")
    words = parser.parse_args()
    if words.command == "set":
        set_version(words.version)
        return 0
    faults = find_faults(words.tag)
    print(*faults or ["ready to release"], sep="\n")
    return 1 if faults else 0


def set_version(version: str) -> None:
    """Write *version* into every file that repeats it."""
    for name, pattern in PLACES:
        text, count = re.subn(pattern, rf"\g<1>{version}\g<2>", (ROOT / name).read_text())
        if not count:
            sys.exit(f"{name}: no version is where {pattern!r} expects it")
        (ROOT / name).write_text(text)


def find_faults(tag: str) -> list[str]:
    """Return what forbids a release at *tag*, "" for any tag."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    faults = [
        f"{name}: expected the version {version}"
        for name, pattern in PLACES
        if not _has_only(version, pattern, (ROOT / name).read_text())
    ]
    if tag and tag != f"v{version}":
        faults.append(f"the tag is {tag}; expected v{version}, the version of pyproject.toml")
    if not re.search(rf"(?m)^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text()):
        faults.append(f"CHANGELOG.md: no section for {version}")
    if tag:
        faults += [
            f"{path.relative_to(ROOT)}: not in the changelog; run `make changelog`"
            for path in sorted((ROOT / "changes").glob("*.*.md"))
        ]
    return faults


def _has_only(version: str, pattern: str, text: str) -> bool:
    matches = list(re.finditer(pattern, text))
    return bool(matches) and all(match[0] == f"{match[1]}{version}{match[2]}" for match in matches)


if __name__ == "__main__":
    sys.exit(main())
