"""Measurement of the memory of compiled schemas with the allocator statistics of glibc.

``PYTHONMALLOC=malloc python -m support.measured_memory`` prints a JSON object: for each
family of schemas the bytes that one takes once both engines and all patterns have been
used, and its weight. Python leaves its own allocator out then, so that the C library
counts the objects of Python and those of RE2 alike.
"""

import ctypes
import gc
import json
import pickle
import random
from collections.abc import Callable
from typing import Any

from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns.pattern import build_pattern
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.schemas.keywords import subschemas
from support.schema_families import FAMILIES

__all__ = ["can_measure", "main"]

_LIMITS = Limits()
_COPIES = 4
_FIRST = 1000
_PAYLOADS = (b'{"p1": 1, "p27": {"p26": 2}, "k": "q"}', b'"zz"', b"[1, [2]]", b"3", b"{}")


class _Books(ctypes.Structure):
    """The result of mallinfo2 (glibc 2.33)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def can_measure() -> bool:
    """Return whether the C library has allocator statistics."""
    return hasattr(ctypes.CDLL(None), "mallinfo2")


def main() -> None:
    """Print the measured memory and the weight of each family."""
    texts = _texts()
    print(json.dumps({name: _measure(family, texts) for name, family in FAMILIES.items()}))


def _measure(family: Callable[[int], Any], texts: list[str]) -> tuple[int, int]:
    def source(n: int) -> SchemaSource:
        return SchemaSource(json.dumps(family(n), ensure_ascii=False).encode())

    # The serialized form that a worker process returns.
    artifacts = [
        pickle.dumps(compile_schema(source(n), _LIMITS)) for n in range(_FIRST, _FIRST + _COPIES)
    ]

    def load(index: int) -> CompiledSchema:
        artifact = pickle.loads(artifacts[index])
        return CompiledSchema(source(_FIRST + index), artifact, _LIMITS)

    # Objects that the first use creates for all schemas are not measured.
    _use(load(0), texts)
    before = _allocated()
    schemas = [load(index) for index in range(_COPIES)]
    for schema in schemas:
        _use(schema, texts)
    return (_allocated() - before) // _COPIES, schemas[0].artifact.memory


def _use(compiled: CompiledSchema, texts: list[str]) -> None:
    """Use both engines of *compiled*, each of its subschemas and its patterns."""
    for payload in _PAYLOADS:
        evaluate(compiled, payload, EvaluationOptions())
    validator, root = compiled.complete.at_root([1 << 60])
    scope = validator.scope
    values = [*map(json.loads, _PAYLOADS), "abab"]
    stack = [root]
    while stack:
        schema = stack.pop()
        if not isinstance(schema, dict):
            continue
        inside = validator.within(scope.enter(schema))
        for value in values:
            list(inside.descend(value, schema))
        stack.extend(child for _, child in subschemas(schema, scope.dialect.draft))
        members: dict[str, Any] = schema
        patterns = [*members.get("patternProperties", ()), *filter(None, [members.get("pattern")])]
        for check in map(scope.checks.pattern_check, patterns):
            for text in texts:
                check(text, [1 << 60])


def _texts() -> list[str]:
    source = random.Random(1)
    return [
        *("".join(source.choices("ab", k=1500)) for _ in range(20)),
        *("".join(source.choices("abxyz019q@. é", k=400)) for _ in range(60)),
    ]


def _allocated() -> int:
    build_pattern.cache_clear()
    gc.collect()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _Books
    books = mallinfo()
    return int(books.uordblks + books.hblkhd)


if __name__ == "__main__":
    main()
