"""The official JSON Schema test suite as values, and the ledger of known gaps.

The suite may be an older copy (see `shared_material`); a case that it lacks does not
count.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from sidecheck_server.core.schemas.dialects import DIALECTS, SchemaSource
from sidecheck_server.core.types import Document
from support.shared_material import REPOSITORY, shared

__all__ = ["FOLDERS", "Group", "files", "groups", "ledger", "source", "uncovered"]

FOLDERS = {
    "draft-04": "draft4",
    "draft-06": "draft6",
    "draft-07": "draft7",
    "2019-09": "draft2019-09",
    "2020-12": "draft2020-12",
}
_URIS = {dialect.name: uri for uri, dialect in DIALECTS.items()}
_REMOTES = "http://localhost:1234/"
_LEDGER = REPOSITORY / "tests" / "ledger" / "suite.json"


@dataclass(frozen=True)
class Group:
    """One schema of the suite with its cases."""

    dialect: str
    file: str
    description: str
    schema: Any
    #: Description, payload text and expected validity.
    cases: tuple[tuple[str, bytes, bool], ...]

    @property
    def asserts_formats(self) -> bool:
        return self.file.startswith("optional/format/")


@cache
def _documents() -> tuple[Document, ...]:
    remotes = shared("json-schema-test-suite") / "remotes"
    return tuple(
        Document(_REMOTES + path.relative_to(remotes).as_posix(), path.read_bytes())
        for path in sorted(remotes.rglob("*.json"))
    )


def files(dialect: str) -> list[str]:
    """Return the names of the suite's files for *dialect*, with the optional ones."""
    folder = shared("json-schema-test-suite") / "tests" / FOLDERS[dialect]
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*.json"))
    return sorted(name for name in names if not name.startswith("proposals/"))


def groups(dialect: str, file: str) -> Iterator[Group]:
    """Yield the groups of one file."""
    path = shared("json-schema-test-suite") / "tests" / FOLDERS[dialect] / file
    for group in json.loads(path.read_bytes()):
        cases = tuple(
            (case["description"], _text(case["data"]), case["valid"]) for case in group["tests"]
        )
        yield Group(dialect, file, group["description"], group["schema"], cases)


def source(group: Group) -> SchemaSource:
    """Return the schema source of *group*; remotes become documents."""
    text = _text(group.schema)
    refers = any(keyword in text for keyword in (b"$ref", b"Ref", b"$schema"))
    return SchemaSource(
        text,
        _documents() if refers else (),
        _URIS[group.dialect],
        assert_formats=group.asserts_formats,
    )


def ledger(dialect: str, file: str) -> dict[tuple[str, str], str]:
    """Return the known gaps of one file: group and case to reason."""
    return {
        (gap["group"], gap["case"]): gap["reason"]
        for gap in json.loads(_LEDGER.read_text())
        if gap["dialect"] == dialect and gap["file"] == file
    }


def uncovered(
    wrong_verdicts: set[tuple[str, str]], failed_tests: set[tuple[str, str]], group: Group
) -> list[str]:
    """Return wrong verdicts missing from the ledger, and ledger entries that pass."""
    known_gaps = ledger(group.dialect, group.file).keys() & failed_tests
    return sorted(
        [f"wrong: {group} / {case}" for group, case in wrong_verdicts - known_gaps]
        + [
            f"in the ledger, but right: {group} / {case}"
            for group, case in known_gaps - wrong_verdicts
        ]
    )


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()
