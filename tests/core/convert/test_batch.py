"""Tools of one request: duplicates, and the outcome of each."""

from dataclasses import replace

from sidecheck_server.core.convert.batch import BatchTool, ToolBatch
from sidecheck_server.core.convert.converted_tool import ConvertedTool, ToolForm
from sidecheck_server.core.convert.names import ToolName
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import RequestLimits
from sidecheck_server.core.convert.schema_size import SchemaSize
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError

PROVIDER = replace(
    PROVIDERS[ModelApi.ANTHROPIC], request_limits=RequestLimits(tools=2, strict_tools=1)
)
SIZE = SchemaSize(0, 1, 0, 0, 0, 0, 0)
FORM = ToolForm("t", "sha256:0", "", b"{}", None, True, None, (), "", SIZE)
A, B, OTHER = ToolName("s", "a"), ToolName("s", "b"), ToolName("t", "a")
BROKEN = RequestError(ErrorReason.INVALID_TOOL, "?")


def together(*tools: BatchTool[int], mode: Mode = Mode.STRICT_IF_LOSSLESS) -> ToolBatch[int]:
    return ToolBatch(tools, PROVIDER, ConversionOptions(mode=mode))


def test_the_last_tool_with_a_name_and_server_is_used() -> None:
    """A tool without a definition rejects no other, and keeps its own error."""
    result = together(
        BatchTool(A, 1), BatchTool(OTHER, 2), BatchTool(A, 3), BatchTool(A, BROKEN)
    ).tools

    assert [A, OTHER, A, A] == [item.tool for item in result]
    assert [2, 3, BROKEN] == [item.definition for item in result[1:]]
    assert isinstance(result[0].definition, RequestError)
    assert (ErrorReason.INVALID_REQUEST, {"field": "tools", "tool": "a"}) == (
        result[0].definition.reason,
        result[0].definition.metadata,
    )


def test_tools_have_a_reason_only_if_strict_mode_is_preferred() -> None:
    """In strict mode, too many strict tools are a violation of the request."""
    tools: tuple[BatchTool[int], ...] = (BatchTool(A, 1), BatchTool(B, BROKEN), BatchTool(OTHER, 2))
    forms: list[ToolForm | RequestError] = [FORM, BROKEN, FORM]
    *first, last_reasons = together(*tools).not_strict_reasons(forms)

    assert ["", ""] == first
    assert "at most 1 strict tools" in last_reasons
    assert [""] * 3 == together(*tools, mode=Mode.STRICT).not_strict_reasons(forms)


def test_a_tool_without_a_mapping_is_rejected_and_not_in_the_request() -> None:
    """Locations are indexes of the converted tools."""
    long = ToolName("s", "x" * 300_000)
    item = together(BatchTool(long, 1), BatchTool(A, BROKEN), BatchTool(B, 2), BatchTool(OTHER, 3))
    forms: list[ToolForm | RequestError] = [FORM, BROKEN, FORM, FORM]
    outcomes = list(item.outcomes(forms, item.names(), [""] * 4))

    assert [ErrorReason.NOT_CONVERTIBLE, ErrorReason.INVALID_TOOL] == [
        outcome.reason for outcome in outcomes if isinstance(outcome, RequestError)
    ]
    assert ["s__b", "t__a"] == [
        outcome.name for outcome in outcomes if isinstance(outcome, ConvertedTool)
    ]
    assert [("/1", "REQUEST_STRICT_TOOLS")] == [
        (problem.instance_location, problem.code)
        for problem in item.check(forms, outcomes).violations
    ]
