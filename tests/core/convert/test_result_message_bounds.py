"""Bounds of results, and identifiers that they require."""

import json
from dataclasses import replace

import pytest
from providers import validate_result
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.result_message import convert_result
from sidecheck_server.core.convert.types import Action, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from support.answers import (
    ANTHROPIC,
    BEDROCK,
    CALL_ID,
    CHAT,
    GEMINI,
    GEMINI_JSON,
    MCP,
    MISTRAL,
    NAME,
    OLLAMA,
    RESPONSES,
    block,
    loss,
)


def test_a_long_result_is_cut_with_a_note() -> None:
    provider = replace(PROVIDERS[RESPONSES], max_result_length=50)
    result = {"content": [block("x" * 10), block("y" * 60), block("z")]}
    message, losses = convert_result(result, provider, CALL_ID, NAME)
    note = "\n[The rest is too long to be shown]"
    output = json.loads(message)["output"]
    assert [node["text"] for node in output] == ["x" * 10, "y" * (40 - len(note)) + note]
    cut = "cut to the provider's limit of 50 characters"
    assert losses == (loss("/content", Action.DROPPED, cut),)


def test_a_result_at_the_limit_is_not_cut() -> None:
    provider = replace(PROVIDERS[RESPONSES], max_result_length=50)
    message, losses = convert_result({"content": [block("y" * 50)]}, provider, CALL_ID, NAME)
    assert (json.loads(message)["output"], losses) == ("y" * 50, ())


def test_losses_are_limited() -> None:
    result = {"content": [{**block("a"), "_meta": {}} for _ in range(1500)]}
    _, losses = convert_result(result, PROVIDERS[CHAT], CALL_ID, NAME)
    assert len(losses) == 1001
    assert losses[0].message == "500 more losses are not listed"


NEEDS = {
    CHAT: ("call_id",),
    RESPONSES: ("call_id",),
    ANTHROPIC: ("call_id",),
    GEMINI: ("name",),
    GEMINI_JSON: ("name",),
    BEDROCK: ("call_id",),
    MISTRAL: ("call_id",),
    OLLAMA: ("name",),
    MCP: (),
}


@pytest.mark.parametrize("provider", ModelApi)
@pytest.mark.parametrize("field", ["call_id", "name"])
def test_required_identifiers_may_not_be_empty(provider: ModelApi, field: str) -> None:
    fields = {"call_id": CALL_ID, "name": NAME, field: ""}
    if field not in NEEDS[provider]:
        message, _ = convert_result(
            {"content": []}, PROVIDERS[provider], fields["call_id"], fields["name"]
        )
        validate_result(provider, message)
        assert b'""' not in message
        return
    with pytest.raises(RequestError) as excinfo:
        convert_result({"content": []}, PROVIDERS[provider], fields["call_id"], fields["name"])
    assert excinfo.value.reason is ErrorReason.INVALID_REQUEST
    assert excinfo.value.metadata == {"field": field}


def test_a_result_that_requires_input_is_rejected() -> None:
    result = {"resultType": "input_required", "inputRequests": {}}
    with pytest.raises(RequestError) as excinfo:
        convert_result(result, PROVIDERS[CHAT], CALL_ID, NAME)
    assert excinfo.value.metadata == {"field": "result"}
