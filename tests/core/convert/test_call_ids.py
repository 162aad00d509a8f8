"""Ids of calls: what each provider accepts, and the ids that stand for others."""

import json
import re

import pytest
from providers import validate_result
from sidecheck_server.core.convert.call_ids import CallIdGrammar
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.result_message import convert_result
from sidecheck_server.core.convert.types import Action, ModelApi

RESULT = {"content": [{"type": "text", "text": "x"}]}
PATTERNS = {
    ModelApi.MISTRAL: r"[A-Za-z0-9]{9}",
    ModelApi.ANTHROPIC: r"[a-zA-Z0-9_-]+",
    ModelApi.BEDROCK: r"[a-zA-Z0-9_.:-]{1,64}",
    ModelApi.OPENAI_RESPONSES: r".{1,64}",
}
IDS = (
    *("abcDEF123", "call_A1b2C3d4E5f6g7", "run1_0", "functions.get:0", "id with space", "a" * 64),
    *("a" * 65, "a" * 500, "é", "abcDEF123\n", "12345678", "toolu_01", "発生"),
)


def sent(api: ModelApi, call_id: str) -> tuple[str, list[str]]:
    """Return the id in the message, and the messages of its losses."""
    message, losses = convert_result(RESULT, PROVIDERS[api], call_id, "t")
    validate_result(api, message)
    assert {loss.action for loss in losses} <= {Action.REWRITTEN}
    text = json.loads(message)
    holder = text.get("toolResult", text)
    names = ("tool_call_id", "tool_use_id", "toolUseId", "call_id")
    return next(holder[name] for name in names if name in holder), [loss.message for loss in losses]


@pytest.mark.parametrize("call_id", IDS)
@pytest.mark.parametrize("api", PATTERNS)
def test_an_id_is_kept_if_it_fits_and_mapped_if_not(api: ModelApi, call_id: str) -> None:
    fits = re.fullmatch(PATTERNS[api], call_id, re.DOTALL) is not None

    mapped, losses = sent(api, call_id)

    assert (mapped == call_id) == fits
    assert re.fullmatch(PATTERNS[api], mapped, re.DOTALL)
    assert (mapped, losses) == sent(api, call_id)
    assert [mapped in loss for loss in losses] == ([] if fits else [True])


@pytest.mark.parametrize("api", PATTERNS)
def test_different_ids_are_mapped_to_different_ones(api: ModelApi) -> None:
    ids = [f"call {number} " + "x" * 64 for number in range(500)]
    grammar = PROVIDERS[api].call_ids
    assert grammar is not None
    assert len({grammar.map_id(call_id) for call_id in ids}) == len(ids)


def test_the_mapping_does_not_change_between_versions() -> None:
    """A conversation may outlive a deployment."""
    assert CallIdGrammar(9, shortest=9, characters="A-Za-z0-9").map_id("run1_0") == "8vIbmeA8r"


@pytest.mark.parametrize("api", [ModelApi.OPENAI_CHAT, ModelApi.OLLAMA, ModelApi.GEMINI])
def test_other_providers_accept_any_id(api: ModelApi) -> None:
    message, losses = convert_result(RESULT, PROVIDERS[api], "a b" * 50, "t")
    assert b'"' + b"a b" * 50 + b'"' in message
    assert losses == ()


def test_allowed_ids_are_described() -> None:
    allowed = {
        api: grammar.allowed
        for api, provider in PROVIDERS.items()
        if (grammar := provider.call_ids) is not None
    }
    assert allowed == {
        ModelApi.OPENAI_RESPONSES: "1 to 64 characters",
        ModelApi.ANTHROPIC: '1 or more ASCII letters, digits, "_" and "-"',
        ModelApi.BEDROCK: '1 to 64 ASCII letters, digits, "_", ".", ":" and "-"',
        ModelApi.MISTRAL: "9 ASCII letters and digits",
    }
