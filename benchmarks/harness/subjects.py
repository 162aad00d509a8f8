"""Subjects of validation: tools with a valid and an invalid payload.

Ten are the project's own, modelled on tools of real servers. With the shared material, ten more
are chosen from the corpus by the size of their schemas and the keywords in them.
"""

import copy
import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

__all__ = [
    "CORPUS",
    "OWN",
    "REPOSITORY",
    "Subject",
    "all_subjects",
    "compact_json",
    "corpus_records",
    "corpus_tools",
    "own_tool",
    "shared_material",
]

OWN = "own"
CORPUS = "corpus"

REPOSITORY = Path(__file__).resolve().parents[2]
_TOOLS = REPOSITORY / "benchmarks" / "tools"
_MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Subject:
    """Tool with payloads to validate against it."""

    #: OWN or CORPUS.
    origin: str
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
    record = json.loads((_TOOLS / f"{name}.json").read_bytes())
    schema, valid, invalid = (
        compact_json(record[member]) for member in ("inputSchema", "valid", "invalid")
    )
    return Subject(OWN, name, schema, valid, invalid)


def all_subjects(count: int | None = None) -> list[Subject]:
    """Return all tools, or *count* of each origin, from small schemas to large ones."""
    own = [own_tool(path.stem) for path in sorted(_TOOLS.glob("*.json"))]
    subjects = []
    for group in (own, list(_corpus_subjects())):
        group.sort(key=lambda subject: len(subject.schema))
        step = 1 if count is None else max(1, (len(group) - 1) // max(1, count - 1))
        subjects += group[::step][:count]
    return subjects


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


def _uses(*keywords: str) -> Callable[[bytes], bool]:
    return lambda schema: all(f'"{keyword}":'.encode() in schema for keyword in keywords)


#: For each, the smallest schema of at least so many bytes that uses the keywords.
_SELECTION: tuple[tuple[int, Callable[[bytes], bool]], ...] = (
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


def _corpus_subjects() -> Iterator[Subject]:
    candidates = sorted(
        ((compact_json(tool["inputSchema"]), tool["name"]) for tool in corpus_tools()),
        key=lambda pair: (len(pair[0]), pair),
    )
    used_names = set()
    for min_bytes, has_keywords in _SELECTION:
        for schema, name in candidates:
            if len(schema) < min_bytes or name in used_names or not has_keywords(schema):
                continue
            payloads = _payloads(schema)
            if payloads is not None:
                used_names.add(name)
                yield Subject(CORPUS, name, schema, *payloads)
                break


def _size(count: int) -> str:
    return f"{count} B" if count < 1000 else f"{count / 1000:.1f} KB"


# Payloads of real tools


def _payloads(schema: bytes) -> tuple[bytes, bytes] | None:
    """Return a valid and an invalid payload, or None if they cannot be generated."""
    decoded = json.loads(schema)
    validator = jsonschema.Draft202012Validator(decoded)
    valid = _example(decoded, decoded, _MAX_DEPTH)
    if not valid or not validator.is_valid(valid):
        return None
    for mutated in _mutations(valid):
        if not validator.is_valid(mutated):
            return compact_json(valid), compact_json(mutated)
    return None


def _mutations(payload: Any) -> Iterator[Any]:
    """Yield copies of *payload* with one value of a wrong type each, the last value first."""
    for path in reversed(list(_leaf_paths(payload, ()))):
        mutated = copy.deepcopy(payload)
        parent = mutated
        for step in path[:-1]:
            parent = parent[step]
        parent[path[-1]] = {"unexpected": [None]}
        yield mutated


def _leaf_paths(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaf_paths(member, (*path, name))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaf_paths(item, (*path, index))
    elif path:
        yield path


def _example(schema: Any, root: Any, depth: int) -> Any:
    """Return a payload with every property, which is likely to be valid against *schema*."""
    if not isinstance(schema, dict):
        return "any"
    if "$ref" in schema:
        return _example(_resolve(schema["$ref"], root), root, depth - 1)
    for keyword in ("const", "default"):
        if schema.get(keyword) is not None:
            return schema[keyword]
    if schema.get("enum"):
        return schema["enum"][-1]
    if schema.get("examples"):
        return schema["examples"][0]
    for keyword in ("anyOf", "oneOf", "allOf"):
        if schema.get(keyword):
            branch = {**schema, **schema[keyword][0]}
            if branch.get(keyword) == schema[keyword]:
                del branch[keyword]
            return _example(branch, root, depth)
    types = schema.get("type", "object" if "properties" in schema else "string")
    return _EXAMPLES[types if isinstance(types, str) else types[0]](schema, root, depth)


def _resolve(reference: str, root: Any) -> Any:
    target = root
    for step in reference.lstrip("#").strip("/").split("/"):
        if step:
            target = target[int(step) if isinstance(target, list) else step]
    return target


def _object(schema: Any, root: Any, depth: int) -> Any:
    properties = schema.get("properties", {})
    names = schema.get("required", ()) if depth <= 0 else properties
    return {name: _example(properties.get(name), root, depth - 1) for name in names}


def _array(schema: Any, root: Any, depth: int) -> Any:
    count = max(schema.get("minItems", 0), 0 if depth <= 0 else 2)
    count = min(count, schema.get("maxItems", count))
    return [_example(schema.get("items"), root, depth - 1) for _ in range(count)]


def _string(schema: Any, _root: Any, _depth: int) -> Any:
    text = "a text of some words".ljust(schema.get("minLength", 0), "x")
    return text[: schema.get("maxLength")]


def _integer(schema: Any, _root: Any, _depth: int) -> Any:
    return max(schema.get("minimum", 7), schema.get("exclusiveMinimum", 6) + 1)


def _constant(*, value: bool | None) -> Callable[[Any, Any, int], Any]:
    return lambda _schema, _root, _depth: value


_EXAMPLES: dict[str, Callable[[Any, Any, int], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _integer,
    "boolean": _constant(value=True),
    "null": _constant(value=None),
}
