"""A real server survives whatever it is sent, through every RPC, and still judges rightly.

For ``SIDECHECK_FUZZ_ROUNDS``, and until all of the API was sent; see `fuzz.__main__` for a
longer run with another seed.
"""

import os
from pathlib import Path

import pytest
from fuzz.__main__ import format_finding
from fuzz.run import Run, Tally
from fuzz.shrinking import shrunk
from fuzz.watched import WatchedServer

SEEDS = ("sidecheck", "gateway", "registry")
ROUNDS = int(os.environ.get("SIDECHECK_FUZZ_ROUNDS", "250"))
MOST_ROUNDS = 2_500
"""By when every field must have been sent: seven times what it takes on average."""
MOST_GROWTH = 60.0
"""By how many megabytes the server may grow after the first third of the run. Its caches are
bounded; what is left is the definitions that were registered and how memory lies."""


@pytest.fixture(scope="module", params=SEEDS)
def tally(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tally:
    folder = tmp_path_factory.mktemp("fuzz")
    server = WatchedServer(folder)
    run = Run(server, request.param)
    try:
        run.go(0, least_rounds=ROUNDS, most_rounds=MOST_ROUNDS)
        run.tally.findings = [shrunk(finding, run.retry) for finding in run.tally.findings]
    finally:
        run.close()
        server.close()
    return run.tally


def test_nothing_is_found(tally: Tally, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No call ends in an error of ours, nothing is logged of it, and all ways agree."""
    with capsys.disabled():
        print(f"\n{tally}")

    assert [] == [
        format_finding(finding, tmp_path / f"{number}.jsonl")
        for number, finding in enumerate(tally.findings)
    ]


def test_every_method_answers_and_every_field_was_sent(tally: Tally) -> None:
    """So that what joins the API later is sent nonsense too."""
    assert set() == tally.missing_methods()
    assert set() == tally.missing_fields()
    assert tally.judgements > ROUNDS


def test_the_server_does_not_grow_without_bound(tally: Tally) -> None:
    """Most of what it takes it has after the first third of the run."""
    assert tally.growth() < MOST_GROWTH
