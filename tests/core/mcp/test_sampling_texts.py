"""Messages of sampling rules equal those of the Python SDK, which is the oracle."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.validation import validate_sampling_tools, validate_tool_use_result_messages
from mcp.shared.exceptions import MCPError
from mcp_types import ClientCapabilities, SamplingMessage, Tool, ToolChoice
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, Sampling
from sidecheck_server.core.types import Severity, Violation
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS

_TEXT = {"type": "text", "text": "Hello"}
_IDS = st.sampled_from(["a", "b", "c"])
_USE = _IDS.map(lambda id_: {"type": "tool_use", "id": id_, "name": "t", "input": {}})
_RESULT = _IDS.map(lambda id_: {"type": "tool_result", "toolUseId": id_, "content": []})


def _message(role: str, block: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    blocks = st.lists(st.one_of(st.just(_TEXT), block), min_size=1, max_size=3)
    return blocks.map(lambda content: {"role": role, "content": content})


_MESSAGES = st.lists(
    st.one_of(_message("assistant", _USE), _message("user", _RESULT)), min_size=1, max_size=4
)


def violations_of(params: dict[str, Any], **context: Any) -> tuple[Violation, ...]:
    subject = Sampling(json.dumps({"maxTokens": 100, **params}).encode())
    checked = check(
        CheckRequest(subject, Context(**context), ReportLimits(max_violations=100)),
        LIMITS,
        PROTOCOL_SCHEMAS,
    )
    return checked.findings.verdict().violations


def errors_of(params: dict[str, Any], **context: Any) -> list[str]:
    violations = violations_of(params, **context)
    return [violation.message for violation in violations if violation.severity is Severity.ERROR]


def sdk_error_text(messages: list[dict[str, Any]]) -> str:
    try:
        validate_tool_use_result_messages([SamplingMessage.model_validate(m) for m in messages])
    except ValueError as error:
        return str(error)
    return ""


@given(_MESSAGES)
def test_messages_equal_those_of_the_sdk(messages: list[dict[str, Any]]) -> None:
    text = sdk_error_text(messages)
    errors = errors_of({"messages": messages})
    assert not text or any(error.startswith(text) for error in errors), (text, errors)


def _turn(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


_A = {"type": "tool_use", "id": "a", "name": "t", "input": {}}
_OF_A = {"type": "tool_result", "toolUseId": "a", "content": []}
_OF_B = {"type": "tool_result", "toolUseId": "b", "content": []}


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "The last message must contain only tool_result content if any is present",
            [_turn("assistant", _A), _turn("user", _TEXT, _OF_A)],
        ),
        ("tool_result requires a previous message containing tool_use", [_turn("user", _OF_A)]),
        (
            "tool_result blocks do not match any tool_use in the previous message",
            [_turn("assistant", _TEXT), _turn("user", _OF_A)],
        ),
        (
            "ids of tool_result blocks and tool_use blocks from previous message do not match",
            [_turn("assistant", _A), _turn("user", _OF_B)],
        ),
        (
            "ids of tool_result blocks and tool_use blocks from previous message do not match",
            [_turn("assistant", _A), _turn("user", _TEXT)],
        ),
    ],
)
def test_every_sdk_message_has_a_case(text: str, messages: list[dict[str, Any]]) -> None:
    assert text == sdk_error_text(messages)
    assert [True] == sorted({error.startswith(text) for error in errors_of({"messages": messages})})


#: Histories that the SDK accepts, since it checks only the last two messages.
_PASSED: list[list[dict[str, Any]]] = [
    [_turn("assistant", _A), _turn("user", _TEXT), _turn("assistant", _TEXT)],
    [_turn("user", _TEXT), _turn("assistant", _A)],
    [_turn("assistant", _A), _turn("user", _TEXT, _OF_A), _turn("assistant", _TEXT)],
    [_turn("assistant", _A), _turn("assistant", _OF_A)],
    [_turn("user", _A), _turn("user", _OF_A)],
    [_turn("assistant", _A, _A), _turn("user", _OF_A)],
    [_turn("assistant", _A), _turn("user", _OF_A, _OF_A)],
    [_turn("user", _OF_A), _turn("assistant", _TEXT), _turn("user", _TEXT)],
]


@pytest.mark.parametrize("messages", _PASSED, ids=range(len(_PASSED)))
def test_the_whole_history_is_checked(messages: list[dict[str, Any]]) -> None:
    assert sdk_error_text(messages) == ""
    assert violations_of({"messages": messages})


@pytest.mark.parametrize("capabilities", [{}, {"sampling": {}}, {"sampling": {"tools": {}}}])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"tools": []},
        {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
        {"toolChoice": {}},
    ],
)
def test_capability_checks_agree_with_the_sdk(
    capabilities: dict[str, Any], params: dict[str, Any]
) -> None:
    tools, choice = params.get("tools"), params.get("toolChoice")

    def create_message() -> None:
        validate_sampling_tools(
            ClientCapabilities.model_validate(capabilities),
            None if tools is None else [Tool.model_validate(tool) for tool in tools],
            None if choice is None else ToolChoice.model_validate(choice),
        )

    errors = errors_of(
        {"messages": [{"role": "user", "content": _TEXT}], **params},
        client_capabilities=capabilities,
    )
    if params and "tools" not in capabilities.get("sampling", {}):
        with pytest.raises(MCPError) as excinfo:
            create_message()
        assert excinfo.value.error.code == -32602
        assert excinfo.value.error.message in errors
    else:
        create_message()
        assert "Client does not support sampling tools capability" not in errors
