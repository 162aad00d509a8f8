"""Every attack has its expected answer, and reaches no file, process or network.

`python -m hostile --table` measures the times, which depend on the load of the machine.
"""

from collections.abc import Iterator, Mapping

import pytest
from hostile.asking import Question, question_of
from hostile.cases import CASES, Case
from hostile.resilience import Answer, Siege

# Limits of steps end the work long before these timeouts, on any machine.
PATIENT = {
    "SIDECHECK_LIMITS__COMPILE_SECONDS": "300",
    "SIDECHECK_LIMITS__VALIDATION_SECONDS": "300",
}
# A server of its own for work that no limit of steps ends: it kills the worker after 2 seconds.
IMPATIENT = {**PATIENT, "SIDECHECK_LIMITS__VALIDATION_SECONDS": "2"}
LARGEST_ANSWER = 4 << 20  # The default maximum of a gRPC client.
#: The memory limit of the container in `deploy/compose.yaml`.
MOST_MEMORY = 1200 << 20


@pytest.fixture(scope="module")
def sieges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[bool, Siege]]:
    """Return two servers; the server of the key True kills workers soon."""
    sieges = {
        kills: Siege(tmp_path_factory.mktemp("siege"), patience=600, **settings)
        for kills, settings in ((False, PATIENT), (True, IMPATIENT))
    }
    yield sieges
    for siege in sieges.values():
        siege.close()


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_an_attack_has_its_expected_answer(case: Case, sieges: Mapping[bool, Siege]) -> None:
    """A second answer is the same, and not larger than a client accepts."""
    siege = sieges[case.is_killed]
    question = question_of(case.asks, siege.baits)
    first = _answer(siege, question)
    again = _answer(siege, question)

    assert case.expect == first.summary, case.why
    assert first.whole == again.whole
    assert again.bytes <= LARGEST_ANSWER


def _answer(siege: Siege, question: Question) -> Answer:
    """Return the answer; ask again if the machine was too busy to run the worker."""
    while "made no progress" in str((answer := siege.ask(question)).whole):
        continue
    return answer


def test_attacks_reach_no_code_file_network_or_process(sieges: Mapping[bool, Siege]) -> None:
    """The tripwires in the server and in its workers recorded no event."""
    for siege in sieges.values():
        assert [] == siege.hits
        assert [] == sorted(set(siege.alarms()))
        assert siege.processes() <= siege.watched()
        assert len(siege.processes()) > 2


def test_memory_stayed_within_the_limit_of_the_container(sieges: Mapping[bool, Siege]) -> None:
    """The peak is that of a server together with its workers, during all attacks."""
    for siege in sieges.values():
        assert 0 < siege.weight.peak < MOST_MEMORY


def test_the_servers_outlived_all_attacks(sieges: Mapping[bool, Siege]) -> None:
    """No server was replaced, and none logged an internal error."""
    for siege in sieges.values():
        assert 0 == siege.restarts
        assert '"rpc.failed"' not in siege.server.log_text()
