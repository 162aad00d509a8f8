"""What an API takes of all tools of a request together."""

from dataclasses import replace

import pytest
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.apis.api import Api, RequestLimits
from sidecheck_server.core.convert.counting import Counts
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.requests import reasons_against_strict, request_problems
from sidecheck_server.core.convert.words import ModelApi

ANTHROPIC = APIS[ModelApi.ANTHROPIC]
OLLAMA = replace(APIS[ModelApi.OLLAMA], request=RequestLimits())
#: Few of everything.
SMALL = replace(
    ANTHROPIC,
    request=RequestLimits(tools=4, strict_tools=3, strict_optional=2, strict_unions=1),
)


def form(*, strict: bool | None = True, optional: int = 0, unions: int = 0) -> Form:
    counts = Counts(
        properties=0,
        depth=1,
        text=0,
        enum_values=0,
        enum_text=0,
        optional=optional,
        unions=unions,
    )
    return Form("t", "sha256:0", "", b"{}", None, strict, None, (), "", counts)


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
def test_what_is_too_many_is_told_at_the_first_that_is(
    forms: list[Form], expected: list[tuple[str, str, int]]
) -> None:
    """Once for each limit, with how many there are."""
    verdict = request_problems(forms, SMALL)

    assert expected == [
        (one.instance_location, one.code, int(one.message.rsplit(" ", 1)[1]))
        for one in verdict.violations
    ]
    assert (not expected) is verdict.valid


def test_what_is_too_many_is_told_with_the_limit_and_its_source() -> None:
    """The API is named, and the page that says so."""
    [found] = request_problems([form(optional=25)], ANTHROPIC).violations

    assert (
        "Anthropic's Messages takes at most 24 optional members of strict tools in one "
        "request; these are 25"
    ) == found.message
    assert "structured-outputs" in found.clause


@pytest.mark.parametrize(
    "api", [api for api in APIS.values() if api.request.tools], ids=lambda api: api.key
)
def test_how_many_tools_there_may_be_has_a_source(api: Api) -> None:
    """Wherever an API has a limit."""
    [found] = request_problems([LOOSE] * 200, api).violations

    assert ("REQUEST_TOOLS", "/128") == (found.code, found.instance_location)
    assert found.clause


@pytest.mark.parametrize("api", [OLLAMA, ANTHROPIC], ids=["without limits", "not strict"])
def test_an_api_without_limits_takes_any_number(api: Api) -> None:
    """And limits of strict tools bind no others."""
    assert request_problems([LOOSE] * 200, api).valid


def test_those_are_strict_that_come_first_and_fit() -> None:
    """What does not fit takes nothing from those after it."""
    forms = [form(optional=2), LOOSE, form(optional=1), form(unions=2), PLAIN, PLAIN, PLAIN]
    reasons = reasons_against_strict(forms, SMALL)

    optional = (
        "Anthropic's Messages takes at most 2 optional members of strict tools in one "
        "request, and the tools before it leave too few"
    )
    unions = optional.replace("2 optional members", "1 members").replace(
        "strict tools in", "strict tools whose type is a union in"
    )
    tools = (
        "Anthropic's Messages takes at most 3 strict tools in one request, and the tools "
        "before it leave too few"
    )
    assert ["", "", optional, unions, "", "", tools] == reasons


def test_those_that_may_be_strict_are_a_request_that_is_taken() -> None:
    """Whatever the others become."""
    forms = [form(optional=each % 3, unions=each % 2) for each in range(40)]
    reasons = reasons_against_strict(forms, ANTHROPIC)
    kept = [one for one, why_not in zip(forms, reasons, strict=True) if not why_not]

    assert 0 < len(kept) < len(forms)
    assert request_problems(kept, ANTHROPIC).valid
