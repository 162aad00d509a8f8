"""Search for work that takes more time than its number of steps promises.

``python -m hostile.step_costs``, from the folder ``tests``, combines keywords, applicators of
many subschemas, and payloads that repeat the work. Each combination runs in the fast engine,
in the complete engine with the explanation of twenty faults, and with repairs, within a budget
of steps. It prints the combinations with the most processor time per step. `Limits.steps`
promises about 25 nanoseconds on a quiet machine; the unit of time is the comparison of two
strings, which takes as long and is measured with each run. Short runs are left out, since
fixed costs dominate them. ``--only`` takes a part of a name, ``--steps`` the budget.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, Evaluator
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import Budget, Exhausted
from sidecheck_server.core.repair.types import Coercion, Repairs, UnknownArguments
from support.compiling import compile_value

__all__ = ["main"]

_BRANCHES = 200
_SIZE = 2000
_LONG = 60_000
_LEAST_SECONDS = 0.004

_NAMES = [f"n{index}" for index in range(_SIZE)]

#: Subschemas of many kinds, as functions of the number of the branch.
BODIES: Mapping[str, Callable[[int], Any]] = {
    "properties": lambda n: {"properties": {f"k{n}": {}}},
    "properties of the payload": lambda n: {"properties": {f"n{n}": {"type": "integer"}}},
    "many properties": lambda n: {"properties": {f"k{n}_{k}": {} for k in range(20)}},
    "patternProperties": lambda n: {"patternProperties": {f"^k{n}$": {}}},
    "patternProperties that match": lambda n: {"patternProperties": {f"^n{n}": {}}},
    "additionalProperties": lambda n: {"additionalProperties": {"minimum": -n}},
    "no additionalProperties": lambda n: {
        "properties": {f"k{n}": {}},
        "additionalProperties": False,
    },
    "propertyNames": lambda n: {"propertyNames": {"maxLength": 9 + n}},
    "required": lambda n: {"required": [f"k{n}"]},
    "many required": lambda n: {"required": [f"k{n}_{k}" for k in range(20)]},
    "dependentRequired": lambda n: {"dependentRequired": {f"n{n}": [f"n{n + 1}"]}},
    "dependentSchemas": lambda n: {"dependentSchemas": {f"n{n}": {"minProperties": n}}},
    "type": lambda n: {"type": ["string", "null"]},
    "enum": lambda n: {"enum": [f"a{n}", n, None, {"a": n}]},
    "large enum": lambda n: {"enum": [[k, n] for k in range(100)]},
    "const": lambda n: {"const": {"a": [n]}},
    "items": lambda n: {"items": {"minimum": -n}},
    "prefixItems": lambda n: {"prefixItems": [{"minimum": -k} for k in range(20)], "minItems": n},
    "contains": lambda n: {"contains": {"const": f"x{n}"}},
    "minContains": lambda n: {"contains": {"minimum": -n}, "minContains": 10_000, "maxContains": 3},
    "uniqueItems": lambda n: {"uniqueItems": True, "minItems": n},
    "multipleOf": lambda n: {"multipleOf": 0.01 * (n + 1), "minimum": -n},
    "pattern": lambda n: {"pattern": f"^[a-z]*{n}$"},
    "format": lambda n: {"format": "date-time", "minLength": n},
    "minLength": lambda n: {"minLength": n},
    "not": lambda n: {"not": {"const": n}},
    "not properties": lambda n: {"not": {"required": [f"k{n}"]}},
    "if": lambda n: {"if": {"required": [f"k{n}"]}, "then": False, "else": {"minProperties": 1}},
    "anyOf": lambda n: {"anyOf": [{"const": n}, {"const": -n}, {"required": [f"k{n}"]}]},
    "oneOf": lambda n: {"oneOf": [{"const": n}, {"const": -n}, True]},
    "$ref": lambda n: {"$ref": f"#/$defs/d{n % 20}"},
    "chain of $ref": lambda n: {"allOf": [{"$ref": f"#/$defs/d{k}"} for k in range(n % 20 + 1)]},
    "$dynamicRef": lambda n: {"$dynamicRef": "#node", "minProperties": n},
    "unevaluatedProperties": lambda n: {
        "properties": {f"k{n}": {}},
        "unevaluatedProperties": {"minimum": -n},
    },
    "unevaluatedItems": lambda n: {"prefixItems": [True], "unevaluatedItems": {"minimum": -n}},
    "true": lambda n: True,
    "false": lambda n: False,
}

#: Applicators of all the subschemas to one value.
PLACES: Mapping[str, Callable[[list[Any]], Any]] = {
    "one": lambda bodies: bodies[7],
    "allOf": lambda bodies: {"allOf": bodies},
    "anyOf": lambda bodies: {"anyOf": bodies},
    "oneOf": lambda bodies: {"oneOf": bodies},
    "dependentSchemas": lambda bodies: {
        "dependentSchemas": {f"n{n}": body for n, body in enumerate(bodies)}
    },
    "each property": lambda bodies: {"additionalProperties": {"anyOf": bodies[:20]}},
    "each item": lambda bodies: {"items": {"anyOf": bodies[:20]}},
    "nested": lambda bodies: {"additionalProperties": bodies[7], "items": bodies[7]},
}

#: Keywords that restrict unevaluated properties and items.
CLOSINGS: Mapping[str, Mapping[str, Any]] = {
    "open": {},
    "closed": {"additionalProperties": False, "unevaluatedItems": False},
    "no unevaluated": {"unevaluatedProperties": False, "unevaluatedItems": False},
    "schema for unevaluated": {
        "unevaluatedProperties": {"type": "integer"},
        "unevaluatedItems": {"minimum": 0},
    },
}

PAYLOADS: Mapping[str, Any] = {
    "object": dict.fromkeys(_NAMES, 1),
    "object of objects": {name: {"k7": 1, "b": 2} for name in _NAMES},
    "object of texts": dict.fromkeys(_NAMES, "2020-01-01T00:00:00Z"),
    "array of numbers": [index + 0.25 for index in range(_SIZE)],
    "array of texts": [f"text{index}" for index in range(_SIZE)],
    "array of objects": [{"k7": index, "a": [1]} for index in range(_SIZE)],
    "array of arrays": [[index] * 5 for index in range(_SIZE)],
    "text": "a" * _LONG,
    "large number": 10**300,
}


def runs(compiled: CompiledSchema, value: Any) -> Iterator[tuple[str, Callable[[Budget], object]]]:
    """Yield each engine's name and its evaluation of *value*, a function of a budget."""
    fast = compiled.fast
    if fast is not None:
        yield "fast", lambda budget: fast.is_valid(value, budget)
    yield (
        "explain",
        lambda budget: list(
            islice(explain(compiled.complete.faults(value, budget), hide_values=False), 20)
        ),
    )
    options = EvaluationOptions(
        repairs=Repairs(UnknownArguments.STRIP, Coercion.SAFE_SCALARS, apply_defaults=True)
    )
    payload = json.dumps(value).encode()
    yield (
        "repair",
        lambda budget: Evaluator(compiled, options, budget, inline=False).evaluate(
            payload, value, valid=True
        ),
    )


def comparison_seconds() -> float:
    """Return the present duration of a comparison of two strings."""
    values = _NAMES
    started = time.process_time()
    for _ in range(10):
        for value in values:
            if value == "x":
                return 0.0
    return (time.process_time() - started) / (10 * len(values))


def measure(run: Callable[[Budget], object], steps: int) -> tuple[float, int]:
    """Return the processor time of *run* in seconds, and its number of steps."""
    budget = [steps]
    started = time.process_time()
    with suppress(Exhausted, RecursionError):
        run(budget)
    return time.process_time() - started, steps - max(budget[0], 0)


def combinations(only: str) -> Iterator[tuple[str, Any]]:
    """Yield the name and the schema of each combination whose name contains *only*."""
    for body_name, body in BODIES.items():
        for place_name, place in PLACES.items():
            for closing_name, closing in CLOSINGS.items():
                name = f"{place_name} / {body_name} / {closing_name}"
                if only not in name:
                    continue
                schema = {
                    "$dynamicAnchor": "node",
                    "$defs": {f"d{n}": {"properties": {f"k{n}": {}}} for n in range(20)},
                }
                placed = place([body(n) for n in range(_BRANCHES)])
                # `true` and `false` have no siblings.
                schema |= placed if isinstance(placed, dict) else {"allOf": [placed]}
                yield name, {**schema, **closing}


def main() -> int:
    """Run as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="hostile.step_costs")
    parser.add_argument("--only", default="", help="combinations with this in their names")
    parser.add_argument("--steps", type=int, default=400_000, help="budget of each run")
    parser.add_argument("--rows", type=int, default=40, help="number of combinations to print")
    wanted = parser.parse_args()
    rows = []
    gc.disable()
    for name, schema in combinations(wanted.only):
        try:
            compiled = compile_value(schema)
        except RequestError as error:
            print(f"not compiled: {name}: {error.message[:80]}", file=sys.stderr)
            continue
        for payload_name, value in PAYLOADS.items():
            for engine, run in runs(compiled, value):
                seconds, steps = measure(run, wanted.steps)
                if seconds >= _LEAST_SECONDS:
                    # Other processes disturb a short run; the better of two counts.
                    seconds, steps = min((seconds, steps), measure(run, wanted.steps))
                    rate = seconds / max(steps, 1) / comparison_seconds()
                    rows.append((rate, seconds, steps, engine, f"{name} / {payload_name}"))
        gc.collect()
    print("rate      ms    steps  engine   combination / payload")
    for rate, seconds, steps, engine, name in sorted(rows, reverse=True)[: wanted.rows]:
        print(f"{rate:4.1f} {1000 * seconds:7.1f} {steps:8d}  {engine:8} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
