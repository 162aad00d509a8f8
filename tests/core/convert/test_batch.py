"""Tools of one request: which of one name counts, and what becomes of each."""

from dataclasses import replace

from sidecheck_server.core.convert.batch import BatchTool, ToolBatch
from sidecheck_server.core.convert.converted_tool import ConvertedTool, ToolForm
from sidecheck_server.core.convert.names import ToolName
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import RequestLimits
from sidecheck_server.core.convert.schema_size import SchemaSize
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.refusals import Reason, Refusal

PROVIDER = replace(
    PROVIDERS[ModelApi.ANTHROPIC], request_limits=RequestLimits(tools=2, strict_tools=1)
)
SIZE = SchemaSize(0, 1, 0, 0, 0, 0, 0)
FORM = ToolForm("t", "sha256:0", "", b"{}", None, True, None, (), "", SIZE)
A, B, OTHER = ToolName("s", "a"), ToolName("s", "b"), ToolName("t", "a")
BROKEN = Refusal(Reason.INVALID_TOOL, "?")


def together(*tools: BatchTool[int], mode: Mode = Mode.STRICT_IF_LOSSLESS) -> ToolBatch[int]:
    return ToolBatch(tools, PROVIDER, ConversionOptions(mode=mode))


def test_of_one_name_and_server_the_last_that_was_found_counts() -> None:
    """What has no definition refuses nothing, and says itself why it has none."""
    found = together(
        BatchTool(A, 1), BatchTool(OTHER, 2), BatchTool(A, 3), BatchTool(A, BROKEN)
    ).tools

    assert [A, OTHER, A, A] == [one.tool for one in found]
    assert [2, 3, BROKEN] == [one.definition for one in found[1:]]
    assert isinstance(found[0].definition, Refusal)
    assert (Reason.INVALID_REQUEST, {"field": "tools", "tool": "a"}) == (
        found[0].definition.reason,
        found[0].definition.metadata,
    )


def test_only_where_strictness_is_preferred_is_there_a_reason_against_it() -> None:
    """Where it is demanded, too many strict tools are the request's problem."""
    tools: tuple[BatchTool[int], ...] = (BatchTool(A, 1), BatchTool(B, BROKEN), BatchTool(OTHER, 2))
    forms: list[ToolForm | Refusal] = [FORM, BROKEN, FORM]
    *first, last = together(*tools).not_strict_reasons(forms)

    assert ["", ""] == first
    assert "at most 1 strict tools" in last
    assert [""] * 3 == together(*tools, mode=Mode.STRICT).not_strict_reasons(forms)


def test_what_cannot_have_a_mapping_is_rejected_and_no_node_of_the_request() -> None:
    """The pointers of problems lead into the list of those that were converted."""
    long = ToolName("s", "x" * 300_000)
    one = together(BatchTool(long, 1), BatchTool(A, BROKEN), BatchTool(B, 2), BatchTool(OTHER, 3))
    forms: list[ToolForm | Refusal] = [FORM, BROKEN, FORM, FORM]
    outcomes = list(one.outcomes(forms, one.names(), [""] * 4))

    assert [Reason.NOT_CONVERTIBLE, Reason.INVALID_TOOL] == [
        outcome.reason for outcome in outcomes if isinstance(outcome, Refusal)
    ]
    assert ["s__b", "t__a"] == [
        outcome.name for outcome in outcomes if isinstance(outcome, ConvertedTool)
    ]
    assert [("/1", "REQUEST_STRICT_TOOLS")] == [
        (problem.instance_pointer, problem.code)
        for problem in one.check(forms, outcomes).violations
    ]
