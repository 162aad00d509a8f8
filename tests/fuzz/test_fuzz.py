"""A real server survives random requests of every RPC, and its verdicts stay correct.

A run has ``SIDECHECK_FUZZ_ROUNDS`` rounds, and more until its coverage of the API is complete;
`fuzz.__main__` makes a longer run with another seed.
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
"""Maximum rounds until every field was sent: seven times the average."""
MOST_GROWTH = 60.0
"""Maximum growth of the server after the first third of the run, in megabytes. Its caches are
bounded; the rest are registered definitions and fragmentation."""


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


def test_there_are_no_findings(
    tally: Tally, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No call ends in an internal error, the log has no contents, and all answers agree."""
    with capsys.disabled():
        print(f"\n{tally}")

    assert [] == [
        format_finding(finding, tmp_path / f"{number}.jsonl")
        for number, finding in enumerate(tally.findings)
    ]


def test_every_method_answers_and_every_field_was_sent(tally: Tally) -> None:
    """The run covers additions to the API."""
    assert set() == tally.missing_methods()
    assert set() == tally.missing_fields()
    assert tally.validations > ROUNDS


def test_the_server_does_not_grow_without_bound(tally: Tally) -> None:
    """The server has most of its memory after the first third of the run."""
    assert tally.growth() < MOST_GROWTH
