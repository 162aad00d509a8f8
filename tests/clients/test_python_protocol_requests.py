"""Encoding of protocol check requests by the Python client."""

import re
from types import MappingProxyType
from typing import Any, cast

import pytest
from google.protobuf.message import Message
from sidecheck import (
    CheckItem,
    CheckOptions,
    Document,
    Elicitation,
    ElicitationResult,
    ProtocolContext,
    ProtocolMessage,
    RegisteredTool,
    Sampling,
    Severity,
    ToolDefinition,
    ToolResult,
)
from sidecheck.protocol import SessionMessage
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.wire import protocol, tool_checks

PROTOCOL_CONTEXT = ProtocolContext("2025-11-25", {"sampling": {}}, b"{}")
CONTEXT = protocol_pb.ProtocolContext(
    protocol_version="2025-11-25", client_capabilities=b'{"sampling":{}}', server_capabilities=b"{}"
)
CHECK_OPTIONS = CheckOptions(max_violations=3, hide_values=True, min_severity=Severity.ERROR)
OPTIONS = protocol_pb.CheckOptions(
    max_violations=3, hide_values=True, min_severity="SEVERITY_ERROR"
)
TOOL = RegisteredTool("s", "n")
TARGET = target_pb.Target(registered_tool=target_pb.RegisteredTool(server="s", name="n"))
SENDER: Any = protocol_pb.Sender

CHECKS: list[Any] = [
    pytest.param(
        protocol_pb.CheckElicitationRequest,
        {"elicitation": protocol_pb.Elicitation(params=b'{"message":"?"}')},
        Elicitation({"message": "?"}),
        id="elicitation",
    ),
    pytest.param(
        protocol_pb.CheckElicitationResultRequest,
        {"elicitation_result": protocol_pb.ElicitationResult(result=b'{"action":"cancel"}')},
        ElicitationResult({"action": "cancel"}),
        id="result of an elicitation",
    ),
    pytest.param(
        protocol_pb.CheckElicitationResultRequest,
        {"elicitation_result": protocol_pb.ElicitationResult(result=b"{}", params=b'{"a": 1}')},
        ElicitationResult(b"{}", b'{"a": 1}'),
        id="result of a known elicitation",
    ),
    pytest.param(
        protocol_pb.CheckSamplingRequest,
        {"sampling": protocol_pb.Sampling(params=b'{"messages":[]}')},
        Sampling(MappingProxyType({"messages": ()})),
        id="sampling",
    ),
    pytest.param(
        protocol_pb.CheckToolResultRequest,
        {"tool_result": protocol_pb.ToolResult(json=b"{}", profile="RESULT_PROFILE_SPECIFICATION")},
        ToolResult(b"{}"),
        id="result of a tool",
    ),
    pytest.param(
        protocol_pb.CheckToolResultRequest,
        {
            "tool_result": protocol_pb.ToolResult(
                json=b"{}", profile="RESULT_PROFILE_TEXT", tool=TARGET
            )
        },
        ToolResult(b"{}", "text", TOOL),
        id="result of a known tool, with the text profile",
    ),
    pytest.param(
        protocol_pb.CheckMessageRequest,
        {"message": protocol_pb.ProtocolMessage(json=b"[]", sender="SENDER_UNSPECIFIED")},
        ProtocolMessage([]),
        id="message",
    ),
    pytest.param(
        protocol_pb.CheckMessageRequest,
        {
            "message": protocol_pb.ProtocolMessage(
                json=b'{"id":1,"result":{}}',
                sender="SENDER_SERVER",
                request_method="ping",
                request=b'{"id":1,"method":"ping"}',
            )
        },
        ProtocolMessage(
            {"id": 1, "result": {}}, "server", "ping", request=b'{"id":1,"method":"ping"}'
        ),
        id="message with all fields",
    ),
]


@pytest.mark.parametrize(("request_class", "fields", "item"), CHECKS)
def test_checks_become_messages(
    request_class: Any, fields: dict[str, Message], item: CheckItem
) -> None:
    """Every kind of check has its own request, and the same message in a batch."""
    assert request_class(context=CONTEXT, options=OPTIONS, **fields) == protocol.encode_check(
        item, PROTOCOL_CONTEXT, CHECK_OPTIONS
    )
    batch = protocol_pb.CheckBatchRequest(items=[protocol_pb.CheckItem(**fields)])  # type: ignore[arg-type]
    assert batch == protocol.encode_batch([protocol.encode_item(item)], None, None)


def test_omitted_fields_are_not_sent() -> None:
    """Context, options and unknown capabilities are unset by default."""
    request = protocol.encode_check(Sampling(b"{}"), None, None)
    assert protocol_pb.CheckSamplingRequest(sampling=protocol_pb.Sampling(params=b"{}")) == request
    batch = protocol.encode_batch([], ProtocolContext(), CheckOptions())
    assert (
        protocol_pb.CheckBatchRequest(
            context=protocol_pb.ProtocolContext(),
            options=protocol_pb.CheckOptions(max_violations=20, min_severity="SEVERITY_INFO"),
        )
        == batch
    )
    assert [False, False] == [
        batch.context.HasField(name) for name in ("client_capabilities", "server_capabilities")
    ]


@pytest.mark.parametrize("sender", ["", "client", "server"])
def test_senders_match_the_api(sender: Any) -> None:
    """The test fails if the API has a sender without a value here."""
    assert 3 == len(SENDER.keys())
    number = protocol.encode_message(ProtocolMessage(b"", sender)).sender
    assert f"SENDER_{sender.upper() or 'UNSPECIFIED'}" == SENDER.Name(number)


def test_an_unknown_sender_is_an_error() -> None:
    """The error is raised at run time too."""
    with pytest.raises(ValueError, match="invalid sender 'peer'"):
        protocol.encode_message(ProtocolMessage(b"{}", "peer"))  # type: ignore[arg-type]


def test_names_become_a_message() -> None:
    """Names are sent in order."""
    assert protocol_pb.CheckToolNamesRequest(
        context=CONTEXT, options=OPTIONS, names=["b", "a"]
    ) == tool_checks.encode_names(["b", "a"], PROTOCOL_CONTEXT, CHECK_OPTIONS)


@pytest.mark.parametrize(
    ("expected", "tools", "documents"),
    [
        pytest.param(
            protocol_pb.CheckToolsRequest(
                tools_list=b'{"tools":[]}', documents=[target_pb.Document(uri="u", json=b"true")]
            ),
            {"tools_list": {"tools": []}},
            [Document("u", True)],
            id="tools list with documents",
        ),
        pytest.param(
            protocol_pb.CheckToolsRequest(tools_list=b'[{"name": "n"}]'),
            {"tools_list": b'[{"name": "n"}]'},
            [],
            id="tools list as text",
        ),
        pytest.param(
            protocol_pb.CheckToolsRequest(
                tools=[
                    target_pb.InlineTool(json=b'{"name":"n"}'),
                    target_pb.InlineTool(
                        json=b"{}", documents=[target_pb.Document(uri="u", json=b"{}")]
                    ),
                ]
            ),
            {"definitions": [{"name": "n"}, ToolDefinition(b"{}", (Document("u", b"{}"),))]},
            [],
            id="separate definitions",
        ),
    ],
)
def test_tools_become_a_message(
    expected: protocol_pb.CheckToolsRequest, tools: dict[str, Any], documents: list[Document]
) -> None:
    """A tools list is sent as a single text; definitions are separate messages."""
    arguments: dict[str, Any] = {"tools_list": None, "definitions": None, **tools}
    assert expected == tool_checks.encode_tools(
        **arguments, documents=documents, context=None, options=None
    )


@pytest.mark.parametrize(
    ("tools_list", "definitions", "message"),
    [
        (None, None, "needs either tools_list, which a server sent, or definitions"),
        (b"[]", [b"{}"], "needs either tools_list"),
        (ToolDefinition(b"{}"), None, "tools_list must be JSON, not ToolDefinition; definitions="),
        ([b"{}"], None, "tools_list"),
        (None, 5, "tools must be definitions"),
    ],
)
def test_the_reading_of_tools_is_named(tools_list: Any, definitions: Any, message: str) -> None:
    """The form of the argument does not determine it."""
    with pytest.raises((TypeError, ValueError), match=message):
        tool_checks.encode_tools(tools_list, definitions, [], None, None)


def test_documents_belong_to_a_tools_list() -> None:
    """With separate definitions, documents would be ambiguous."""
    with pytest.raises(ValueError, match="documents belong to a tools list"):
        tool_checks.encode_tools(None, [b"{}"], [Document("u", b"{}")], None, None)


def test_a_session_opens_with_its_defaults() -> None:
    """Every item has an id; the placeholder of an unsent message has nothing else."""
    assert [
        protocol_pb.CheckSessionRequest(
            defaults=protocol_pb.SessionDefaults(
                context=CONTEXT, options=OPTIONS, from_beginning=False
            )
        ),
        protocol_pb.CheckSessionRequest(
            item=protocol_pb.SessionItem(
                id="1",
                message=protocol_pb.ProtocolMessage(json=b"{}", sender="SENDER_CLIENT"),
                http_status=401,
            )
        ),
        protocol_pb.CheckSessionRequest(item=protocol_pb.SessionItem(id="2")),
    ] == [
        protocol.encode_session_defaults(PROTOCOL_CONTEXT, CHECK_OPTIONS, from_beginning=False),
        protocol.encode_session_item("1", SessionMessage(ProtocolMessage(b"{}", "client"), 401)),
        protocol.encode_session_item("2", None),
    ]


WRONG: list[Any] = [
    (TypeError, "cannot check a dict", ({}, None)),
    (
        TypeError,
        "invalid target of type dict",
        (ToolResult({}, tool=cast("Any", {"name": "n"})), None),
    ),
    (
        ValueError,
        "invalid sender 'klient'; expected one of '', 'client', 'server'",
        (ProtocolMessage({}, cast("Any", "klient")), None),
    ),
    (
        ValueError,
        "invalid profile 'txt'; expected one of 'specification', 'text'",
        (ToolResult({}, cast("Any", "txt")), None),
    ),
]


@pytest.mark.parametrize(("kind", "message", "arguments"), WRONG)
def test_invalid_arguments_are_errors(kind: type[Exception], message: str, arguments: Any) -> None:
    """Messages have the invalid and the expected values."""
    with pytest.raises(kind, match=re.escape(message)):
        protocol.encode_check(arguments[0], arguments[1], None)


def test_no_capabilities_are_not_unknown_capabilities() -> None:
    """Empty capabilities are sent, and unknown ones are unset."""
    opening = protocol.encode_session_defaults(
        ProtocolContext("", {}, {}), None, from_beginning=True
    )
    context = opening.defaults.context

    assert (
        protocol_pb.ProtocolContext(client_capabilities=b"{}", server_capabilities=b"{}") == context
    )


def test_none_is_null_in_required_fields() -> None:
    """In optional fields, None leaves the field unset."""
    request = protocol.encode_check(ProtocolMessage(cast("Any", None)), None, None)

    assert protocol_pb.ProtocolMessage(json=b"null") == request.message  # type: ignore[attr-defined]
