"""Tools of one request: which of one name counts, and what becomes of each."""

from dataclasses import replace

from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.apis.api import RequestLimits
from sidecheck_server.core.convert.converted import ConvertedTool
from sidecheck_server.core.convert.counting import Counts
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.names import Named
from sidecheck_server.core.convert.together import Found, Together
from sidecheck_server.core.convert.words import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError

API = replace(APIS[ModelApi.ANTHROPIC], request=RequestLimits(tools=2, strict_tools=1))
COUNTS = Counts(0, 1, 0, 0, 0, 0, 0)
FORM = Form("t", "sha256:0", "", b"{}", None, True, None, (), "", COUNTS)
A, B, OTHER = Named("s", "a"), Named("s", "b"), Named("t", "a")
BROKEN = RequestError(ErrorReason.INVALID_TOOL, "?")


def together(*tools: Found[int], mode: Mode = Mode.STRICT_IF_LOSSLESS) -> Together[int]:
    return Together(tools, API, ConversionOptions(mode=mode))


def test_of_one_name_and_server_the_last_that_was_found_counts() -> None:
    """What has no definition refuses nothing, and says itself why it has none."""
    found = together(Found(A, 1), Found(OTHER, 2), Found(A, 3), Found(A, BROKEN)).tools

    assert [A, OTHER, A, A] == [one.tool for one in found]
    assert [2, 3, BROKEN] == [one.definition for one in found[1:]]
    assert isinstance(found[0].definition, RequestError)
    assert (ErrorReason.INVALID_REQUEST, {"field": "tools", "tool": "a"}) == (
        found[0].definition.reason,
        found[0].definition.metadata,
    )


def test_only_where_strictness_is_preferred_is_there_a_reason_against_it() -> None:
    """Where it is demanded, too many strict tools are the request's problem."""
    tools: tuple[Found[int], ...] = (Found(A, 1), Found(B, BROKEN), Found(OTHER, 2))
    forms: list[Form | RequestError] = [FORM, BROKEN, FORM]
    *first, last = together(*tools).against_strict(forms)

    assert ["", ""] == first
    assert "at most 1 strict tools" in last
    assert [""] * 3 == together(*tools, mode=Mode.STRICT).against_strict(forms)


def test_what_cannot_have_a_plan_is_refused_and_no_part_of_the_request() -> None:
    """The pointers of problems lead into the list of those that were converted."""
    long = Named("s", "x" * 300_000)
    one = together(Found(long, 1), Found(A, BROKEN), Found(B, 2), Found(OTHER, 3))
    forms: list[Form | RequestError] = [FORM, BROKEN, FORM, FORM]
    outcomes = list(one.outcomes(forms, one.names(), [""] * 4))

    assert [ErrorReason.NOT_CONVERTIBLE, ErrorReason.INVALID_TOOL] == [
        outcome.reason for outcome in outcomes if isinstance(outcome, RequestError)
    ]
    assert ["s__b", "t__a"] == [
        outcome.name for outcome in outcomes if isinstance(outcome, ConvertedTool)
    ]
    assert [("/1", "REQUEST_STRICT_TOOLS")] == [
        (problem.instance_location, problem.code)
        for problem in one.violations(forms, outcomes).violations
    ]
