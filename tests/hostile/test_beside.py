"""The server answers a client while another client attacks."""

from collections.abc import Iterator

import pytest
from hostile.beside import measure_bystander
from hostile.cases import CASES, Case
from hostile.resilience import Siege

SECONDS = 2.0
# From each family, the case that would block a naive server the longest.
WORST = {
    "batches: 600 items that each take long",
    "depth: the deepest payload, many times over",
    "numbers: 20,000 integers with one hash",
    "patterns: counted choices on a megabyte of digits",
    "references: a recursive choice of two equal branches, 22 levels",
    "registrations: 300 tools that double",
    "texts: 40,000 keys twice",
    "width: 5,000 arrays, and 20,000 items that are none of them",
}


@pytest.fixture(scope="module")
def siege(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    siege = Siege(tmp_path_factory.mktemp("beside"))
    yield siege
    siege.close()


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id) for case in CASES if case.id in WORST]
)
def test_an_attack_does_not_block_other_clients(case: Case, siege: Siege) -> None:
    """All calls of a bystander succeed, some of them before the attack ends.

    `python -m hostile --beside` measures its latencies, whose goal is a p99 of 50 ms.
    """
    latencies = measure_bystander(siege, case, SECONDS)

    assert latencies.attacks
    assert latencies.answered_before_end


def test_every_worst_case_is_one_of_the_cases() -> None:
    """`test_an_attack_does_not_block_other_clients` would skip a renamed case."""
    assert WORST <= {case.id for case in CASES}
