"""Subjects of validation: tools with a valid and an invalid payload.

Ten are the project's own, modelled on what servers offer, and are there in every clone.
Where the corpus is at hand, ten more are chosen from it, by size and by what their
schemas use.
"""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import examples
import jsonschema

__all__ = ["CORPUS", "OWN", "Subject", "all_subjects", "corpus_tools", "own_tool"]

OWN = "own"
CORPUS = "corpus"

_FOLDER = Path(__file__).resolve().parent
_TOOLS = _FOLDER / "tools"


@dataclass(frozen=True, slots=True)
class Subject:
    """Tool with payloads to validate against it."""

    #: OWN or CORPUS.
    origin: str
    name: str
    #: The JSON text of its input schema, as short as it can be written.
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
    """Return one of the tools in `benchmarks/tools`."""
    kept = json.loads((_TOOLS / f"{name}.json").read_bytes())
    return Subject(
        OWN, name, _text(kept["inputSchema"]), _text(kept["valid"]), _text(kept["invalid"])
    )


def all_subjects(most: int | None = None) -> list[Subject]:
    """Return all tools, or *count* of each origin, from small schemas to large ones."""
    own = [own_tool(path.stem) for path in sorted(_TOOLS.glob("*.json"))]
    found = []
    for group in (own, list(_chosen())):
        group.sort(key=lambda subject: len(subject.schema))
        step = 1 if most is None else max(1, (len(group) - 1) // max(1, most - 1))
        found += group[::step][:most]
    return found


@cache
def corpus_tools() -> tuple[dict[str, Any], ...]:
    """Return every tool definition of the corpus, or none without the shared material."""
    root = Path(os.environ.get("SIDECHECK_SHARED") or _FOLDER.parent.parent / "shared")
    path = root / "corpus" / "tools.jsonl.gz"
    if not path.exists():
        return ()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return tuple(json.loads(line)["tool"] for line in lines)


def _uses(*keywords: str) -> Callable[[bytes], bool]:
    return lambda schema: all(f'"{keyword}":'.encode() in schema for keyword in keywords)


# The smallest schema of at least so many bytes that uses these keywords.
_WANTED: tuple[tuple[int, Callable[[bytes], bool]], ...] = (
    (100, _uses("type")),
    (300, _uses("required")),
    (600, _uses("enum")),
    (800, _uses("anyOf")),
    (1_000, _uses("pattern")),
    (1_500, _uses("additionalProperties", "items")),
    (2_000, _uses("$ref")),
    (3_000, _uses("oneOf")),
    (6_500, _uses("type")),
    (40_000, _uses("type")),
)


def _chosen() -> Iterator[Subject]:
    candidates = sorted(
        ((_text(tool["inputSchema"]), tool["name"]) for tool in corpus_tools()),
        key=lambda pair: (len(pair[0]), pair),
    )
    taken = set()
    for least, fits in _WANTED:
        for schema, name in candidates:
            if len(schema) < least or name in taken or not fits(schema):
                continue
            payloads = _payloads(schema)
            if payloads is not None:
                taken.add(name)
                yield Subject(CORPUS, name, schema, *payloads)
                break


def _payloads(schema: bytes) -> tuple[bytes, bytes] | None:
    known = json.loads(schema)
    validator = jsonschema.Draft202012Validator(known)
    valid = examples.valid(known)
    if not valid or not validator.is_valid(valid):
        return None
    for broken in examples.broken(valid):
        if not validator.is_valid(broken):
            return _text(valid), _text(broken)
    return None


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _size(count: int) -> str:
    return f"{count} B" if count < 1000 else f"{count / 1000:.1f} KB"
