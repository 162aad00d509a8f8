"""Measurement of memory: of values, and of the compiled schemas that caches charge for."""

import json
import marshal
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.memory import measure_memory
from support.measured_memory import can_measure
from support.schema_families import FAMILIES


@dataclass
class _Pair:
    left: Any
    right: Any


def _code() -> Any:
    lines = "\n".join(f"def f{i}(data):\n    return data in {{'{i}a', 'b'}}" for i in range(200))
    return marshal.loads(marshal.dumps(compile(lines, "", "exec")))


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda: ["x" * 100 + str(i) for i in range(1000)], id="texts"),
        pytest.param(lambda: [10**9 + i for i in range(1000)], id="numbers"),
        pytest.param(lambda: {f"k{i}": [i / 3] for i in range(1000)}, id="objects"),
        pytest.param(
            lambda: [json.loads("[" * 60 + f'"v{i}"' + "]" * 60) for i in range(100)], id="nesting"
        ),
        pytest.param(lambda: [_Pair(f"l{i}", (f"r{i}",)) for i in range(1000)], id="instances"),
        pytest.param(lambda: b"x" * 100_000, id="bytes"),
        pytest.param(_code, id="code"),
    ],
)
def test_a_weight_approximates_the_allocation(build: Callable[[], Any]) -> None:
    """tracemalloc counts the bytes of every allocation."""
    build()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        value = build()
        allocated = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 0.85 < measure_memory(value) / allocated < 1.35


def test_shared_objects_count_once() -> None:
    """Objects of the program itself do not count."""
    text = "x" * 1000
    alone = measure_memory(text)

    assert alone == measure_memory(text, text)
    assert alone + measure_memory(["y"]) + 16 > measure_memory([text, text])
    assert 0 == measure_memory(ErrorReason.INVALID_SCHEMA, dict, len, json, _code)


@pytest.mark.slow
@pytest.mark.skipif(not can_measure(), reason="the C library does not tell what is allocated")
def test_the_weight_of_a_compiled_schema_approximates_its_memory() -> None:
    """For every family, the weight is between 0.7 and 2 times the memory."""
    measured = subprocess.run(
        [sys.executable, "-m", "support.measured_memory"],
        env={**os.environ, "PYTHONMALLOC": "malloc", "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    ratios = {
        family: round(weight / used, 2)
        for family, (used, weight) in json.loads(measured.stdout).items()
    }

    assert FAMILIES.keys() == ratios.keys()
    assert {} == {family: ratio for family, ratio in ratios.items() if not 0.7 <= ratio <= 2}
