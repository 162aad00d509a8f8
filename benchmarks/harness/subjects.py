"""Subjects of validation: tools with a valid and an invalid payload.

Seventeen are files of `benchmarks/tools`, modelled on tools of real servers; three large ones are
generated. Schemas have 102 B to 50 KB.
"""

import gzip
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.generated_tools import generated_tools

__all__ = [
    "REPOSITORY",
    "Subject",
    "all_subjects",
    "compact_json",
    "corpus_records",
    "corpus_tools",
    "own_tool",
    "shared_material",
]

REPOSITORY = Path(__file__).resolve().parents[2]
_TOOLS = REPOSITORY / "benchmarks" / "tools"


@dataclass(frozen=True, slots=True)
class Subject:
    """Tool with payloads to validate against it."""

    name: str
    #: Compact JSON text of the input schema.
    schema: bytes
    valid: bytes
    invalid: bytes

    @property
    def title(self) -> str:
        """Name, and size of the schema."""
        return f"{self.name} ({_size(len(self.schema))})"

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a server would list it."""
        return {"name": self.name, "inputSchema": json.loads(self.schema)}


def own_tool(name: str) -> Subject:
    """Return a tool of `benchmarks/tools`."""
    return _subject_of(json.loads((_TOOLS / f"{name}.json").read_bytes()))


def all_subjects(count: int | None = None) -> list[Subject]:
    """Return all tools, or *count* of them, from small schemas to large ones."""
    subjects = [own_tool(path.stem) for path in sorted(_TOOLS.glob("*.json"))]
    subjects += map(_subject_of, generated_tools())
    subjects.sort(key=lambda subject: len(subject.schema))
    step = 1 if count is None else max(1, (len(subjects) - 1) // max(1, count - 1))
    return subjects[::step][:count]


def _subject_of(record: dict[str, Any]) -> Subject:
    schema, valid, invalid = (
        compact_json(record[member]) for member in ("inputSchema", "valid", "invalid")
    )
    return Subject(record["name"], schema, valid, invalid)


def shared_material() -> Path:
    """Return the folder of the shared material, which may be missing."""
    return Path(os.environ.get("SIDECHECK_SHARED") or REPOSITORY.parent / "shared")


@cache
def corpus_records() -> tuple[dict[str, Any], ...]:
    """Return the records of the corpus: tools with their origin; empty if it is missing."""
    path = shared_material() / "corpus" / "tools.jsonl.gz"
    if not path.exists():
        return ()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


def corpus_tools() -> tuple[dict[str, Any], ...]:
    """Return the tool definitions of the corpus; empty if it is missing."""
    return tuple(record["tool"] for record in corpus_records())


def compact_json(value: Any) -> bytes:
    """Return *value* as JSON text without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _size(count: int) -> str:
    return f"{count} B" if count < 1000 else f"{count / 1000:.1f} KB"
