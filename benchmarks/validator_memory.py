"""Memory and time to create validators for many schemas.

Reads the JSON text of one schema per line. Prints, as JSON, the growth of the resident memory
in bytes, the processor time in seconds, and the number of validators created.

    python benchmarks/validator_memory.py {jsonschema|fastjsonschema|jsonschema-rs} < SCHEMAS
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
from validators import compile_with_fastjsonschema

__all__ = ["KINDS", "main"]


def _checked(schema: Any) -> Any:
    kind = validator_for(schema, default=jsonschema.Draft202012Validator)
    kind.check_schema(schema)
    return kind(schema)


KINDS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "jsonschema": _checked,
        "fastjsonschema": compile_with_fastjsonschema,
        "jsonschema-rs": jsonschema_rs.validator_for,
    }
)
"""Creation of a validator, with a check of its schema where the library has one."""


def main() -> None:
    """Create the validators and print the figures."""
    make = KINDS[sys.argv[1]]
    texts = sys.stdin.buffer.read().splitlines()
    # One-time initialization is not counted.
    make({"type": "object", "properties": {"a": {"type": "string", "pattern": "^a"}}})
    gc.collect()
    process = psutil.Process()
    before, started = process.memory_info().rss, time.process_time()
    validators = []
    for text in texts:
        try:
            validators.append(make(json.loads(text)))
        except Exception:  # noqa: BLE001, S112  (each library has its own way to fail)
            continue
    seconds = time.process_time() - started
    gc.collect()
    grown = process.memory_info().rss - before
    print(json.dumps({"bytes": grown, "seconds": seconds, "made": len(validators)}))


if __name__ == "__main__":
    main()
