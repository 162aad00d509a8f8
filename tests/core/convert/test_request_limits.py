"""Limits of all tools of one request."""

from dataclasses import replace

import pytest
from sidecheck_server.core.convert.batch import check_request, not_strict_reasons
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import Provider, RequestLimits
from sidecheck_server.core.convert.schema_size import SchemaSize
from sidecheck_server.core.convert.types import ModelApi

ANTHROPIC = PROVIDERS[ModelApi.ANTHROPIC]
OLLAMA = replace(PROVIDERS[ModelApi.OLLAMA], request_limits=RequestLimits())
#: Few of everything.
SMALL = replace(
    ANTHROPIC,
    request_limits=RequestLimits(tools=4, strict_tools=3, strict_optional=2, strict_unions=1),
)


def form(*, strict: bool | None = True, optional: int = 0, unions: int = 0) -> ToolForm:
    size = SchemaSize(
        properties=0,
        depth=1,
        text=0,
        enum_values=0,
        enum_text=0,
        optional=optional,
        unions=unions,
    )
    return ToolForm("t", "sha256:0", "", b"{}", None, strict, None, (), "", size)


LOOSE = form(strict=False, optional=9, unions=9)
PLAIN = form()


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        ([], []),
        ([PLAIN] * 3 + [LOOSE], []),
        ([LOOSE] * 5, [("/4", "REQUEST_TOOLS", 5)]),
        ([LOOSE] * 9, [("/4", "REQUEST_TOOLS", 9)]),
        ([LOOSE] + [PLAIN] * 3, []),
        ([PLAIN] * 4, [("/3", "REQUEST_STRICT_TOOLS", 4)]),
        ([form(optional=2), PLAIN], []),
        ([form(optional=1), LOOSE, form(optional=2)], [("/2", "REQUEST_STRICT_OPTIONAL", 3)]),
        ([form(unions=1), form(unions=1)], [("/1", "REQUEST_STRICT_UNIONS", 2)]),
        (
            [form(optional=3, unions=2)],
            [("/0", "REQUEST_STRICT_OPTIONAL", 3), ("/0", "REQUEST_STRICT_UNIONS", 2)],
        ),
    ],
)
def test_a_violation_is_at_the_first_tool_beyond_the_limit(
    forms: list[ToolForm], expected: list[tuple[str, str, int]]
) -> None:
    """There is one for each limit, with the total."""
    verdict = check_request(forms, SMALL)

    assert expected == [
        (item.instance_location, item.code, int(item.message.rsplit(" ", 1)[1]))
        for item in verdict.violations
    ]
    assert (not expected) is verdict.valid


def test_a_violation_has_the_limit_and_its_source() -> None:
    """It has the name of the provider too."""
    [result] = check_request([form(optional=25)], ANTHROPIC).violations

    assert (
        "Anthropic's Messages accepts at most 24 optional properties of strict tools in "
        "one request; this request has 25"
    ) == result.message
    assert "structured-outputs" in result.spec_url


@pytest.mark.parametrize(
    "provider",
    [provider for provider in PROVIDERS.values() if provider.request_limits.tools],
    ids=lambda provider: provider.key,
)
def test_the_limit_of_tools_has_a_source(provider: Provider) -> None:
    """Every provider with such a limit is tested."""
    [result] = check_request([LOOSE] * 200, provider).violations

    assert ("REQUEST_TOOLS", "/128") == (result.code, result.instance_location)
    assert result.spec_url


@pytest.mark.parametrize("provider", [OLLAMA, ANTHROPIC], ids=["without limits", "not strict"])
def test_a_provider_without_limits_accepts_any_number(provider: Provider) -> None:
    """Limits of strict tools do not apply to others."""
    assert check_request([LOOSE] * 200, provider).valid


def test_the_first_tools_within_the_limits_are_strict() -> None:
    """A tool that is not uses nothing of the limits."""
    forms = [form(optional=2), LOOSE, form(optional=1), form(unions=2), PLAIN, PLAIN, PLAIN]
    reasons = not_strict_reasons(forms, SMALL)

    optional = (
        "Anthropic's Messages accepts at most 2 optional properties of strict tools in one "
        "request, and earlier tools leave too few"
    )
    unions = optional.replace("2 optional properties", "1 properties").replace(
        "strict tools in", "strict tools whose type is a union in"
    )
    tools = (
        "Anthropic's Messages accepts at most 3 strict tools in one request, and earlier "
        "tools leave too few"
    )
    assert ["", "", optional, unions, "", "", tools] == reasons


def test_the_strict_tools_are_a_valid_request() -> None:
    """The other tools do not matter."""
    forms = [form(optional=item % 3, unions=item % 2) for item in range(40)]
    reasons = not_strict_reasons(forms, ANTHROPIC)
    strict_forms = [item for item, why_not in zip(forms, reasons, strict=True) if not why_not]

    assert 0 < len(strict_forms) < len(forms)
    assert check_request(strict_forms, ANTHROPIC).valid
