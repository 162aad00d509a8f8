"""Every attack ends in its right answer, and touches nothing but the wire.

How soon, `python -m hostile --table` tells: here the machine may do other work.
"""

from collections.abc import Iterator, Mapping

import pytest
from hostile.asking import Question, question_of
from hostile.cases import CASES, Case
from hostile.resilience import Answer, Siege

# Steps decide, on any machine, and long before these seconds are over.
PATIENT = {
    "SIDECHECK_LIMITS__COMPILE_SECONDS": "300",
    "SIDECHECK_LIMITS__VALIDATION_SECONDS": "300",
}
# Where they cannot, a worker is killed, by a server of its own: it takes these seconds.
IMPATIENT = {**PATIENT, "SIDECHECK_LIMITS__VALIDATION_SECONDS": "2"}
LARGEST_ANSWER = 4 << 20  # What a client of gRPC receives if nobody tells it otherwise.
#: That of the container in `deploy/compose.yaml`.
MOST_MEMORY = 1200 << 20


@pytest.fixture(scope="module")
def sieges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[bool, Siege]]:
    """Servers by whether they kill workers soon."""
    sieges = {
        kills: Siege(tmp_path_factory.mktemp("siege"), patience=600, **settings)
        for kills, settings in ((False, PATIENT), (True, IMPATIENT))
    }
    yield sieges
    for siege in sieges.values():
        siege.close()


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_an_attack_gets_its_answer(case: Case, sieges: Mapping[bool, Siege]) -> None:
    """The right one, the same the second time, and no larger than a client will take."""
    siege = sieges[case.is_killed]
    question = question_of(case.asks, siege.baits)
    first = _answer(siege, question)
    again = _answer(siege, question)

    assert case.expect == first.summary, case.why
    assert first.whole == again.whole
    assert again.bytes <= LARGEST_ANSWER


def _answer(siege: Siege, question: Question) -> Answer:
    """Return the answer, asked for again where a busy machine had no time for a worker."""
    while "stood still" in str((answer := siege.ask(question)).whole):
        continue
    return answer


def test_nothing_was_run_read_or_called(sieges: Mapping[bool, Siege]) -> None:
    """No code of a schema, no file, no server, no process: in the server and its workers."""
    for siege in sieges.values():
        assert [] == siege.hits
        assert [] == sorted(set(siege.alarms()))
        assert siege.processes() <= siege.watched()
        assert len(siege.processes()) > 2


def test_memory_stayed_within_that_of_the_container(sieges: Mapping[bool, Siege]) -> None:
    """Of each server and its workers together, all through the attacks."""
    for siege in sieges.values():
        assert 0 < siege.weight.peak < MOST_MEMORY


def test_the_servers_outlived_all_attacks(sieges: Mapping[bool, Siege]) -> None:
    """None was replaced, or logged an error of its own."""
    for siege in sieges.values():
        assert 0 == siege.restarts
        assert '"rpc.failed"' not in siege.server.log_text()
