"""The work of an evaluation is proportional to its steps.

`python -m hostile.step_costs` measures the time of a step; here calls are counted, since a
test cannot depend on time. A call of a function takes some 60 nanoseconds on the machine
on which a step takes 25.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hostile.step_costs import PAYLOADS, combinations, runs
from sidecheck_server.core.limits import Budget, Exhausted
from support.compiling import compile_value
from support.counted_calls import count_calls

STEPS = 200_000

#: Maximum number of function calls per step.
MOST_CALLS = 0.5

#: Calls before and after the work that steps count: reports, edits, the encoded payload.
FIXED_CALLS = 3_000

SHAPES = [
    ("anyOf / properties / no unevaluated", "object"),
    ("anyOf / patternProperties / no unevaluated", "object"),
    ("allOf / unevaluatedProperties / no unevaluated", "object"),
    ("allOf / unevaluatedItems / no unevaluated", "array of numbers"),
    ("dependentSchemas / patternProperties / no unevaluated", "object"),
    ("each item / true / no unevaluated", "array of objects"),
    ("each property / false / no unevaluated", "object of objects"),
    ("each item / large enum / open", "array of numbers"),
    ("each item / anyOf / schema for unevaluated", "array of objects"),
    ("one / enum / no unevaluated", "array of arrays"),
    ("one / uniqueItems / open", "array of numbers"),
    ("one / uniqueItems / open", "array of objects"),
    ("allOf / chain of $ref / open", "object"),
    ("anyOf / contains / no unevaluated", "array of texts"),
    ("nested / oneOf / open", "array of objects"),
    ("allOf / propertyNames / open", "object"),
    ("allOf / multipleOf / closed", "large number"),
]


def count_work(run: Callable[[Budget], object]) -> tuple[int, int]:
    """Return how many functions *run* calls, and the steps that it takes."""
    budget = [STEPS]

    def run_within_budget() -> None:
        with suppress(Exhausted):
            run(budget)

    return count_calls(run_within_budget), STEPS - max(budget[0], 0)


@pytest.mark.parametrize(("shape", "payload"), SHAPES, ids=[" / ".join(shape) for shape in SHAPES])
def test_every_engine_counts_its_steps(shape: str, payload: str) -> None:
    """Two steps pay for at most one function call."""
    ((_, schema),) = combinations(shape)
    unpaid = {}
    for engine, run in runs(compile_value(schema), PAYLOADS[payload]):
        calls, steps = count_work(run)
        if calls > FIXED_CALLS + MOST_CALLS * steps:
            unpaid[engine] = (calls, steps)

    assert {} == unpaid


def test_siblings_of_unevaluated_properties_are_looked_up_by_their_own_names() -> None:
    """A thousand branches do not iterate over the two thousand names of the payload."""
    branches: list[Any] = [{"properties": {f"k{index}": {}}} for index in range(1000)]
    compiled = compile_value({"anyOf": branches, "unevaluatedProperties": False})
    payload: dict[str, Any] = {f"n{index}": index for index in range(2000)}
    budget = [1_000_000]

    assert not compiled.complete.is_valid(payload, budget)
    assert 1_000_000 - budget[0] < 400_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("constants", "counted"),
    [pytest.param(100, False, id="little work"), pytest.param(20_000, True, id="much work")],
)
def test_code_without_a_budget_does_little(constants: int, counted: bool) -> None:
    """Its work does not depend on the payload."""
    compiled = compile_value({"enum": [[index] for index in range(constants)]})

    assert compiled.artifact.fast is not None
    assert counted is compiled.artifact.fast.counted
