"""Memory and time to create validators for many schemas.

Reads the JSON text of one schema per line. Prints, as JSON, the growth of the resident memory
in bytes, the processor time in seconds, and the number of created validators.

    python benchmarks/programs/validator_memory.py LIBRARY < SCHEMAS
"""

import gc
import json
import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import fastjsonschema
import jsonschema
import jsonschema_rs
import psutil
from jsonschema.validators import validator_for

__all__ = ["VALIDATORS", "main"]


def _check_and_create(schema: Any) -> Any:
    validator_class = validator_for(schema, default=jsonschema.Draft202012Validator)
    validator_class.check_schema(schema)
    return validator_class(schema)


def _compile(schema: Any) -> Any:
    return fastjsonschema.compile(schema, use_default=False, use_formats=False)


VALIDATORS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "jsonschema": _check_and_create,
        "fastjsonschema": _compile,
        "jsonschema-rs": jsonschema_rs.validator_for,
    }
)
"""Creation of a validator, with a check of its schema where the library has one."""


def main() -> None:
    """Create the validators and print the figures."""
    create = VALIDATORS[sys.argv[1]]
    texts = sys.stdin.buffer.read().splitlines()
    # One-time initialization is not counted.
    create({"type": "object", "properties": {"a": {"type": "string", "pattern": "^a"}}})
    gc.collect()
    process = psutil.Process()
    before, started = process.memory_info().rss, time.process_time()
    validators = []
    for text in texts:
        try:
            validators.append(create(json.loads(text)))
        except Exception:  # noqa: BLE001, S112  (each library raises its own exceptions)
            continue
    seconds = time.process_time() - started
    gc.collect()
    grown = process.memory_info().rss - before
    print(json.dumps({"bytes": grown, "seconds": seconds, "created": len(validators)}))


if __name__ == "__main__":
    main()
