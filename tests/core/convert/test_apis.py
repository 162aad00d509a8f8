"""The facts of APIs: each in the words of 2020-12, of one piece, and with a source."""

import re

import pytest
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.apis.api import Api, Subset
from sidecheck_server.core.convert.apis.vocabulary import ANNOTATIONS, EVERYTHING
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.mcp.name_grammars import PROVIDERS, ProviderGrammar
from sidecheck_server.core.schemas.keywords import KEYWORDS, Draft

_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-[0-3]\d")
_EACH = [pytest.param(api, id=api.key) for api in APIS.values()]
_SUBSETS = [
    pytest.param(subset, id=f"{api.key}-{mode}")
    for api in APIS.values()
    for mode, subset in (("compatible", api.compatible), ("strict", api.strict))
    if subset is not None
]


def test_every_api_has_its_table() -> None:
    assert list(APIS) == list(ModelApi)
    assert all(key is api.key for key, api in APIS.items())


def test_the_vocabulary_is_that_of_2020_12_but_for_references() -> None:
    left_out = {"$defs", "$dynamicRef", "$ref", "definitions", "dependencies"}
    assert set(KEYWORDS[Draft.DRAFT_2020_12]) - EVERYTHING == left_out
    assert EVERYTHING - set(KEYWORDS[Draft.DRAFT_2020_12]) == ANNOTATIONS


@pytest.mark.parametrize("subset", _SUBSETS)
def test_every_keyword_is_one_of_2020_12(subset: Subset) -> None:
    assert (subset.keywords or frozenset()) - EVERYTHING == frozenset()


@pytest.mark.parametrize("subset", _SUBSETS)
def test_what_may_not_stand_at_the_root_may_stand_below(subset: Subset) -> None:
    assert subset.not_at_root - (subset.keywords or EVERYTHING) == frozenset()


@pytest.mark.parametrize("subset", _SUBSETS)
def test_what_every_schema_needs_is_taken_everywhere(subset: Subset) -> None:
    needed = {"type", "properties", "required"}
    assert needed | {"items"} <= (subset.keywords or EVERYTHING)
    assert not needed & subset.not_at_root


@pytest.mark.parametrize("subset", _SUBSETS)
def test_a_closed_object_can_say_so(subset: Subset) -> None:
    takes = "additionalProperties" in (subset.keywords or EVERYTHING) - subset.not_at_root
    assert takes or not subset.closed
    assert subset.closed or not subset.all_required


@pytest.mark.parametrize("subset", _SUBSETS)
def test_null_is_said_in_one_way(subset: Subset) -> None:
    assert not (subset.nullable and subset.type_lists)


@pytest.mark.parametrize("api", _EACH)
def test_every_fact_has_a_place_and_a_day_or_neither(api: Api) -> None:
    for source in api.sources:
        assert source.facts
        assert bool(source.where) == bool(source.read), source
        assert not source.read or _DAY.fullmatch(source.read), source


@pytest.mark.parametrize("api", _EACH)
def test_strict_limits_stand_where_there_is_strictness(api: Api) -> None:
    limits = api.request
    strict = (limits.strict_tools, limits.strict_optional, limits.strict_unions)
    assert api.strict is not None or strict == (None, None, None)


NAMES = {
    ModelApi.OPENAI_CHAT: (64, "A-Za-z0-9_-", ""),
    ModelApi.OPENAI_RESPONSES: (128, "A-Za-z0-9_-", ""),
    ModelApi.ANTHROPIC: (128, "A-Za-z0-9_-", ""),
    ModelApi.GEMINI: (64, "A-Za-z0-9_.:-", "A-Za-z_"),
    ModelApi.GEMINI_JSON: (64, "A-Za-z0-9_.:-", "A-Za-z_"),
    ModelApi.BEDROCK: (64, "A-Za-z0-9_-", ""),
    ModelApi.MISTRAL: (64, "A-Za-z0-9_-", ""),
    ModelApi.OLLAMA: (64, "A-Za-z0-9_-", ""),
}


@pytest.mark.parametrize("api", _EACH)
def test_names_are_those_that_the_api_takes(api: Api) -> None:
    assert (api.names.longest, api.names.characters, api.names.first) == NAMES[api.key]


# The rules on names tell what each text of a provider allows; names given must keep to all.
_TOLD = {
    "TOOL_NAME_OPENAI_CHAT": ModelApi.OPENAI_CHAT,
    "TOOL_NAME_OPENAI_RESPONSES": ModelApi.OPENAI_RESPONSES,
    "TOOL_NAME_ANTHROPIC": ModelApi.ANTHROPIC,
    "TOOL_NAME_GEMINI": ModelApi.GEMINI,
    "TOOL_NAME_VERTEX": ModelApi.GEMINI_JSON,
    "TOOL_NAME_BEDROCK": ModelApi.BEDROCK,
}


@pytest.mark.parametrize("provider", [each for each in PROVIDERS if each.code in _TOLD])
def test_names_that_are_given_are_allowed_by_what_rules_tell(provider: ProviderGrammar) -> None:
    given = APIS[_TOLD[provider.code]].names
    assert given.longest <= provider.grammar.longest
    assert given.characters == provider.grammar.characters
    assert provider.grammar.first in ("", given.first)


MEMBERS = {
    ModelApi.ANTHROPIC: (64, "A-Za-z0-9_.-", ""),
    ModelApi.GEMINI: (64, "A-Za-z0-9_", "A-Za-z_"),
    ModelApi.BEDROCK: (64, "A-Za-z0-9_.-", ""),
}


@pytest.mark.parametrize("api", _EACH)
def test_members_have_names_that_the_api_takes(api: Api) -> None:
    members = api.members
    found = None if members is None else (members.longest, members.characters, members.first)
    assert found == MEMBERS.get(api.key)
