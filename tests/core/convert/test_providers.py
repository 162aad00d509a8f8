"""Facts of providers: consistent, in keywords of 2020-12, and with sources."""

import re

import pytest
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.providers.subset import ALL_KEYWORDS, Subset
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.mcp import name_grammars
from sidecheck_server.core.schemas.keywords import KEYWORDS
from sidecheck_server.core.types import Draft

_ANNOTATIONS = {
    "$comment",
    "contentEncoding",
    "contentMediaType",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
}
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-[0-3]\d")
_ALL = [pytest.param(provider, id=provider.key) for provider in PROVIDERS.values()]
_SUBSETS = [
    pytest.param(subset, id=f"{provider.key}-{mode}")
    for provider in PROVIDERS.values()
    for mode, subset in (("compatible", provider.compatible), ("strict", provider.strict))
    if subset is not None
]


def test_every_api_has_a_provider() -> None:
    assert list(PROVIDERS) == list(ModelApi)
    assert all(key is provider.key for key, provider in PROVIDERS.items())


def test_all_keywords_equal_2020_12_without_references() -> None:
    excluded = {"$defs", "$dynamicRef", "$ref", "definitions", "dependencies"}
    assert set(KEYWORDS[Draft.DRAFT_2020_12]) - ALL_KEYWORDS == excluded
    assert ALL_KEYWORDS - set(KEYWORDS[Draft.DRAFT_2020_12]) == _ANNOTATIONS


@pytest.mark.parametrize("subset", _SUBSETS)
def test_keywords_of_a_subset_are_in_2020_12(subset: Subset) -> None:
    assert (subset.keywords or frozenset()) - ALL_KEYWORDS == frozenset()


# Not of MCP: what one target excludes at the root, another may exclude everywhere. The root is
# transformed first, so what the rest of the transforms would put there must be known by then.
@pytest.mark.parametrize("subset", [item for item in _SUBSETS if item.id != "mcp-compatible"])
def test_keywords_excluded_at_the_root_are_supported_below(subset: Subset) -> None:
    assert subset.not_at_root - (subset.keywords or ALL_KEYWORDS) == frozenset()


@pytest.mark.parametrize("subset", _SUBSETS)
def test_essential_keywords_are_supported_everywhere(subset: Subset) -> None:
    required = {"type", "properties", "required"}
    assert required | {"items"} <= (subset.keywords or ALL_KEYWORDS)
    assert not required & subset.not_at_root


@pytest.mark.parametrize("subset", _SUBSETS)
def test_a_subset_of_closed_objects_has_additional_properties(subset: Subset) -> None:
    supported = "additionalProperties" in (subset.keywords or ALL_KEYWORDS) - subset.not_at_root
    assert supported or not subset.closed
    assert subset.closed or not subset.all_required


@pytest.mark.parametrize("subset", _SUBSETS)
def test_null_has_one_spelling(subset: Subset) -> None:
    assert not (subset.nullable and subset.type_lists)


@pytest.mark.parametrize("provider", _ALL)
def test_every_source_has_a_reference_and_a_date_or_neither(provider: Provider) -> None:
    for source in provider.sources:
        assert source.facts
        assert bool(source.reference) == bool(source.date), source
        assert not source.date or _DATE.fullmatch(source.date), source


@pytest.mark.parametrize("provider", _ALL)
def test_limits_of_strict_tools_require_a_strict_mode(provider: Provider) -> None:
    limits = provider.request_limits
    strict = (limits.strict_tools, limits.strict_optional, limits.strict_unions)
    assert provider.strict is not None or strict == (None, None, None)


TOOL_NAMES = {
    ModelApi.OPENAI_CHAT: (64, "A-Za-z0-9_-", ""),
    ModelApi.OPENAI_RESPONSES: (128, "A-Za-z0-9_-", ""),
    ModelApi.ANTHROPIC: (128, "A-Za-z0-9_-", ""),
    ModelApi.GEMINI: (64, "A-Za-z0-9_.:-", "A-Za-z_"),
    ModelApi.GEMINI_JSON: (64, "A-Za-z0-9_.:-", "A-Za-z_"),
    ModelApi.BEDROCK: (64, "A-Za-z0-9_-", ""),
    ModelApi.MISTRAL: (64, "A-Za-z0-9_-", ""),
    ModelApi.OLLAMA: (64, "A-Za-z0-9_-", ""),
    # Clients join the name of the server and that of the tool in 60 or 64 characters.
    ModelApi.MCP: (48, "A-Za-z0-9_-", "A-Za-z_"),
}


@pytest.mark.parametrize("provider", _ALL)
def test_grammar_of_tool_names(provider: Provider) -> None:
    grammar = provider.tool_names
    assert (grammar.longest, grammar.characters, grammar.first) == TOOL_NAMES[provider.key]


# The rules on names are about each document of a provider; assigned names must satisfy all.
_BY_RULE = {
    "TOOL_NAME_OPENAI_CHAT": ModelApi.OPENAI_CHAT,
    "TOOL_NAME_OPENAI_RESPONSES": ModelApi.OPENAI_RESPONSES,
    "TOOL_NAME_ANTHROPIC": ModelApi.ANTHROPIC,
    "TOOL_NAME_GEMINI": ModelApi.GEMINI,
    "TOOL_NAME_VERTEX": ModelApi.GEMINI_JSON,
    "TOOL_NAME_BEDROCK": ModelApi.BEDROCK,
}


@pytest.mark.parametrize(
    "rule", [rule for rule in name_grammars.PROVIDERS if rule.code in _BY_RULE]
)
def test_assigned_tool_names_satisfy_the_rules(rule: name_grammars.ProviderGrammar) -> None:
    assigned = PROVIDERS[_BY_RULE[rule.code]].tool_names
    assert assigned.longest <= rule.grammar.longest
    assert assigned.characters == rule.grammar.characters
    assert rule.grammar.first in ("", assigned.first)


PROPERTY_NAMES = {
    ModelApi.ANTHROPIC: (64, "A-Za-z0-9_.-", ""),
    ModelApi.GEMINI: (64, "A-Za-z0-9_", "A-Za-z_"),
    ModelApi.BEDROCK: (64, "A-Za-z0-9_.-", ""),
    ModelApi.MCP: (64, "A-Za-z0-9_", "A-Za-z_"),
}


@pytest.mark.parametrize("provider", _ALL)
def test_grammar_of_property_names(provider: Provider) -> None:
    grammar = provider.property_names
    facts = None if grammar is None else (grammar.longest, grammar.characters, grammar.first)
    assert facts == PROPERTY_NAMES.get(provider.key)
