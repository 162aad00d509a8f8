"""Answers have bounds, and must say which call they answer."""

import json
from dataclasses import replace

import pytest
from providers import validate_result
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.results import result_message
from sidecheck_server.core.convert.words import Action, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from support.answers import (
    ANTHROPIC,
    BEDROCK,
    CALL_ID,
    CHAT,
    GEMINI,
    GEMINI_JSON,
    MISTRAL,
    NAME,
    OLLAMA,
    RESPONSES,
    block,
    loss,
)


def test_what_is_too_long_is_cut_with_a_note() -> None:
    api = replace(APIS[RESPONSES], answer_length=50)
    result = {"content": [block("x" * 10), block("y" * 60), block("z")]}
    message, losses = result_message(result, api, CALL_ID, NAME)
    note = "\n[The rest is too long to be shown]"
    output = json.loads(message)["output"]
    assert [part["text"] for part in output] == ["x" * 10, "y" * (40 - len(note)) + note]
    said = "the API takes 50 characters; what is beyond is left out"
    assert losses == (loss("/content", Action.DROPPED, said),)


def test_what_fits_is_not_cut() -> None:
    api = replace(APIS[RESPONSES], answer_length=50)
    message, losses = result_message({"content": [block("y" * 50)]}, api, CALL_ID, NAME)
    assert (json.loads(message)["output"], losses) == ("y" * 50, ())


def test_losses_have_an_end() -> None:
    result = {"content": [{**block("a"), "_meta": {}} for _ in range(1500)]}
    _, losses = result_message(result, APIS[CHAT], CALL_ID, NAME)
    assert len(losses) == 1001
    assert losses[0].message == "500 more differences are not listed"


NEEDS = {
    CHAT: ("call_id",),
    RESPONSES: ("call_id",),
    ANTHROPIC: ("call_id",),
    GEMINI: ("name",),
    GEMINI_JSON: ("name",),
    BEDROCK: ("call_id",),
    MISTRAL: ("call_id",),
    OLLAMA: ("name",),
}


@pytest.mark.parametrize("api", ModelApi)
@pytest.mark.parametrize("field", ["call_id", "name"])
def test_what_an_answer_must_name_may_not_be_empty(api: ModelApi, field: str) -> None:
    given = {"call_id": CALL_ID, "name": NAME, field: ""}
    if field not in NEEDS[api]:
        message, _ = result_message({"content": []}, APIS[api], given["call_id"], given["name"])
        validate_result(api, message)
        assert b'""' not in message
        return
    with pytest.raises(RequestError) as caught:
        result_message({"content": []}, APIS[api], given["call_id"], given["name"])
    assert caught.value.reason is ErrorReason.INVALID_REQUEST
    assert caught.value.metadata == {"field": field}


@pytest.mark.parametrize(("api", "longest"), [(RESPONSES, 64), (BEDROCK, 64), (MISTRAL, 9)])
def test_an_id_that_is_too_long_is_refused(api: ModelApi, longest: int) -> None:
    result_message({"content": []}, APIS[api], "a" * longest, NAME)
    with pytest.raises(RequestError) as caught:
        result_message({"content": []}, APIS[api], "a" * (longest + 1), NAME)
    assert caught.value.reason is ErrorReason.LIMIT_EXCEEDED


def test_a_result_that_asks_for_input_is_no_answer() -> None:
    result = {"resultType": "input_required", "inputRequests": {}}
    with pytest.raises(RequestError) as caught:
        result_message(result, APIS[CHAT], CALL_ID, NAME)
    assert caught.value.metadata == {"field": "result"}
