"""Holds a validator for each of many schemas, and says what they take.

Reads JSON texts of schemas, a line each; prints, as JSON, how much the resident memory of
the process grew and how many seconds of the processor passed while it made them, and how
many it could make.

    python benchmarks/held.py {jsonschema|fastjsonschema|jsonschema-rs} < SCHEMAS
"""

import gc
import json
import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import jsonschema
import jsonschema_rs
import psutil
from jsonschema.validators import validator_for
from judges import compile_stock

__all__ = ["KINDS", "main"]


def _checked(schema: Any) -> Any:
    kind = validator_for(schema, default=jsonschema.Draft202012Validator)
    kind.check_schema(schema)
    return kind(schema)


KINDS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "jsonschema": _checked,
        "fastjsonschema": compile_stock,
        "jsonschema-rs": jsonschema_rs.validator_for,
    }
)
"""How a validator is made, its schema checked where the library can."""


def main() -> None:
    """Make the validators, and print the figures."""
    make = KINDS[sys.argv[1]]
    texts = sys.stdin.buffer.read().splitlines()
    # What is made once is not counted.
    make({"type": "object", "properties": {"a": {"type": "string", "pattern": "^a"}}})
    gc.collect()
    process = psutil.Process()
    before, began = process.memory_info().rss, time.process_time()
    held = []
    for text in texts:
        try:
            held.append(make(json.loads(text)))
        except Exception:  # noqa: BLE001, S112  (each library has its own way to fail)
            continue
    seconds = time.process_time() - began
    gc.collect()
    grown = process.memory_info().rss - before
    print(json.dumps({"bytes": grown, "seconds": seconds, "made": len(held)}))


if __name__ == "__main__":
    main()
