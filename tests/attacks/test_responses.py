"""Attacks by a server over HTTP: the client receives an error or valid messages."""

import json

import pytest
from attacks.conftest import Attacked
from attacks.raw_http import response_of
from attacks.requests import GOOD_CALL, request
from attacks.responses import ATTACKS, BAD_RESULT, GOOD_RESULT, MARK, ResponseAttack


@pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.name) for attack in ATTACKS])
def test_an_attack_reaches_no_client(attacked: Attacked, attack: ResponseAttack) -> None:
    """The request is answered once, and nothing of the attack is in the response."""
    attacked.server.answer = lambda _: attack.response
    body = GOOD_CALL if attack.method == "POST" else b""
    response = attacked.send(request(body, method=attack.method.encode()))
    lines = [line.removeprefix(b"data: ") for line in response.body.split(b"\n")]
    answers = [json.loads(line) for line in lines if line.startswith(b"{")]
    outcomes = ["error" if "error" in answer else "result" for answer in answers]

    assert attack.status == response.status, attack.rule
    assert MARK not in response.body.replace(b'\\"evil\\"', b"")
    assert "evil" not in (response.header("location") or "")
    if attack.method == "POST":
        assert [attack.outcome] == outcomes, attack.rule


def test_the_results_that_they_disguise(attacked: Attacked) -> None:
    """A valid one passes as it is; an invalid one becomes the error of the tool."""
    attacked.server.answer = lambda _: response_of(GOOD_RESULT)
    good = attacked.send(request(GOOD_CALL))
    attacked.server.answer = lambda _: response_of(BAD_RESULT)
    bad = attacked.send(request(GOOD_CALL))

    assert GOOD_RESULT == good.body
    assert json.loads(bad.body)["result"]["isError"]
