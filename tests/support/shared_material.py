"""Locations of the reference material outside the project.

The official JSON Schema test suite, the published MCP schemas and the corpus of
real tools are other people's data, so the project does not carry them. Tests
read them from the folder that ``SIDECHECK_SHARED`` names, or from ``shared``
beside the checkout, and skip where it is absent. With ``SIDECHECK_REQUIRE_ALL``
set, an absence fails instead, so that a run that must be whole cannot pass by
skipping.
"""

import gzip
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

__all__ = ["REPOSITORY", "read_records", "repository_files", "shared", "unavailable"]

REPOSITORY = Path(__file__).resolve().parents[2]


_SUITE = "json-schema-test-suite"


def shared(part: str) -> Path:
    """Return the path of one part of the shared material, or skip the test.

    For the JSON Schema test suite, the older copy in the source distribution of
    ``jsonschema``, which `make test` unpacks, stands in.
    """
    root = Path(os.environ.get("SIDECHECK_SHARED") or REPOSITORY.parent / "shared")
    path = root / part
    if not path.exists() and (part == _SUITE or part.startswith(f"{_SUITE}/")):
        path = REPOSITORY / "build" / "suite" / "json" / part[len(_SUITE) + 1 :]
    if not path.exists():
        unavailable(f"the shared material {part!r} is not here; SIDECHECK_SHARED names its folder")
    return path


def repository_files() -> list[str]:
    """Return the paths of the files of the repository, including uncommitted files."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [name for name in listed.split("\0") if name and (REPOSITORY / name).is_file()]


def unavailable(reason: str) -> NoReturn:
    """Skip the calling test for *reason*, or fail it where tests may not be skipped."""
    if os.environ.get("SIDECHECK_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
