"""The Python client translates checks into the messages of requests."""

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
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.wire import protocol_requests as requests
from sidecheck.wire import rpcs

PEERS = ProtocolContext("2025-11-25", {"sampling": {}}, b"{}")
CONTEXT = protocol_pb.ProtocolContext(
    protocol_version="2025-11-25", client_capabilities=b'{"sampling":{}}', server_capabilities=b"{}"
)
HOW = CheckOptions(max_violations=3, hide_values=True, min_severity=Severity.ERROR)
OPTIONS = protocol_pb.CheckOptions(
    max_violations=3, hide_values=True, min_severity="SEVERITY_ERROR"
)
TOOL = RegisteredTool("s", "n")
TARGET = target_pb.Target(registered_tool=target_pb.RegisteredTool(server="s", name="n"))
SENDER: Any = protocol_pb.Sender

CHECKS: list[Any] = [
    pytest.param(
        rpcs.CHECK_ELICITATION,
        {"elicitation": protocol_pb.Elicitation(params=b'{"message":"?"}')},
        Elicitation({"message": "?"}),
        id="elicitation",
    ),
    pytest.param(
        rpcs.CHECK_ELICITATION_RESULT,
        {"elicitation_result": protocol_pb.ElicitationResult(result=b'{"action":"cancel"}')},
        ElicitationResult({"action": "cancel"}),
        id="result of an elicitation",
    ),
    pytest.param(
        rpcs.CHECK_ELICITATION_RESULT,
        {"elicitation_result": protocol_pb.ElicitationResult(result=b"{}", params=b'{"a": 1}')},
        ElicitationResult("{}", '{"a": 1}'),
        id="result of an elicitation that is known",
    ),
    pytest.param(
        rpcs.CHECK_SAMPLING,
        {"sampling": protocol_pb.Sampling(params=b'{"messages":[]}')},
        Sampling(MappingProxyType({"messages": ()})),
        id="sampling",
    ),
    pytest.param(
        rpcs.CHECK_TOOL_RESULT,
        {"tool_result": protocol_pb.ToolResult(json=b"{}", profile="RESULT_PROFILE_SPECIFICATION")},
        ToolResult(b"{}"),
        id="result of a tool",
    ),
    pytest.param(
        rpcs.CHECK_TOOL_RESULT,
        {
            "tool_result": protocol_pb.ToolResult(
                json=b"{}", profile="RESULT_PROFILE_TEXT", tool=TARGET
            )
        },
        ToolResult(b"{}", "text", TOOL),
        id="result of a tool that is known, under the text contract",
    ),
    pytest.param(
        rpcs.CHECK_MESSAGE,
        {"message": protocol_pb.ProtocolMessage(json=b"[]", sender="SENDER_UNSPECIFIED")},
        ProtocolMessage([]),
        id="message",
    ),
    pytest.param(
        rpcs.CHECK_MESSAGE,
        {
            "message": protocol_pb.ProtocolMessage(
                json=b'{"id":1,"result":{}}',
                sender="SENDER_SERVER",
                request_method="ping",
                request=b'{"id":1,"method":"ping"}',
            )
        },
        ProtocolMessage(
            {"id": 1, "result": {}}, "server", "ping", request='{"id":1,"method":"ping"}'
        ),
        id="message with all that is known of it",
    ),
]


@pytest.mark.parametrize(("rpc", "fields", "item"), CHECKS)
def test_checks_become_messages(
    rpc: rpcs.Rpc[Any, Any], fields: dict[str, Message], item: CheckItem
) -> None:
    """Each kind has a procedure of its own, and the same message in a batch."""
    assert (
        rpc,
        rpc.request(context=CONTEXT, options=OPTIONS, **fields),
    ) == requests.check_request(item, PEERS, HOW)
    batch = protocol_pb.CheckBatchRequest(items=[protocol_pb.CheckItem(**fields)])  # type: ignore[arg-type]
    assert batch == requests.batch_request([requests.batch_item(item)], None, None)


def test_what_the_caller_leaves_out_is_left_to_the_server() -> None:
    """Neither context nor options are sent; nor capabilities that are not known."""
    _, request = requests.check_request(Sampling(b"{}"), None, None)
    assert protocol_pb.CheckSamplingRequest(sampling=protocol_pb.Sampling(params=b"{}")) == request
    batch = requests.batch_request([], ProtocolContext(), CheckOptions())
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


@pytest.mark.parametrize(
    ("expected", "json"),
    [
        pytest.param(b'{"a":1,"a":2', b'{"a":1,"a":2', id="bytes untouched"),
        pytest.param(b'{ "id": 1 }', '{ "id": 1 }', id="str is JSON text, as read from a pipe"),
        pytest.param(b'{"n":18446744073709551617}', {"n": 2**64 + 1}, id="values encoded"),
        pytest.param(b"null", None, id="null"),
    ],
)
def test_json_of_the_protocol_becomes_text(expected: bytes, json: Any) -> None:
    """A message is never a bare string, so a string is text."""
    assert expected == requests.protocol_text(json)


@pytest.mark.parametrize("sender", ["", "client", "server"])
def test_senders_are_those_of_the_api(sender: Any) -> None:
    """A sender added to the API without a word for it fails."""
    assert 3 == len(SENDER.keys())
    number = requests.message(ProtocolMessage(b"", sender)).sender
    assert f"SENDER_{sender.upper() or 'UNSPECIFIED'}" == SENDER.Name(number)


def test_an_unknown_word_is_an_error() -> None:
    """Whoever does not check types learns of a misspelling all the same."""
    with pytest.raises(ValueError, match="not 'peer'"):
        requests.message(ProtocolMessage(b"{}", "peer"))  # type: ignore[arg-type]


def test_names_become_a_message() -> None:
    """In their order."""
    assert protocol_pb.CheckToolNamesRequest(
        context=CONTEXT, options=OPTIONS, names=["b", "a"]
    ) == requests.names_request(["b", "a"], PEERS, HOW)


@pytest.mark.parametrize(
    ("expected", "tools", "documents"),
    [
        pytest.param(
            protocol_pb.CheckToolsRequest(
                tools_list=b'{"tools":[]}', documents=[target_pb.Document(uri="u", json=b"true")]
            ),
            {"tools": []},
            [Document("u", True)],
            id="listing with documents",
        ),
        pytest.param(
            protocol_pb.CheckToolsRequest(tools_list=b'[{"name": "n"}]'),
            '[{"name": "n"}]',
            [],
            id="listing as text",
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
            [{"name": "n"}, ToolDefinition(b"{}", (Document("u", "{}"),))],
            [],
            id="definitions one by one",
        ),
    ],
)
def test_tools_become_a_message(
    expected: protocol_pb.CheckToolsRequest, tools: Any, documents: list[Document]
) -> None:
    """A listing is one text; definitions given one by one are each their own."""
    assert expected == requests.tools_request(tools, documents, None, None)


def test_documents_belong_to_a_listing() -> None:
    """It would not be clear which of the definitions they are for."""
    with pytest.raises(ValueError, match="brings its own documents"):
        requests.tools_request([b"{}"], [Document("u", "{}")], None, None)


def test_a_session_opens_with_what_is_known() -> None:
    """Then each message has an id; one that cannot be sent has only that."""
    assert [
        protocol_pb.CheckSessionRequest(
            defaults=protocol_pb.SessionDefaults(context=CONTEXT, options=OPTIONS)
        ),
        protocol_pb.CheckSessionRequest(
            item=protocol_pb.SessionItem(
                id="1", message=protocol_pb.ProtocolMessage(json=b"{}", sender="SENDER_CLIENT")
            )
        ),
        protocol_pb.CheckSessionRequest(item=protocol_pb.SessionItem(id="2")),
    ] == [
        requests.session_defaults(PEERS, HOW),
        requests.session_item("1", ProtocolMessage(b"{}", "client")),
        requests.session_item("2", None),
    ]


WRONG: list[Any] = [
    (TypeError, "Peers, not a str", (ProtocolMessage({}), "2025-11-25")),
    (TypeError, "a dict is nothing to check", ({}, None)),
    (TypeError, "a dict is no target", (ToolResult({}, tool=cast("Any", {"name": "n"})), None)),
    (
        ValueError,
        "sender is one of '', 'client', 'server', not 'klient'",
        (ProtocolMessage({}, cast("Any", "klient")), None),
    ),
    (
        ValueError,
        "profile is one of 'specification', 'text', not 'txt'",
        (ToolResult({}, cast("Any", "txt")), None),
    ),
]


@pytest.mark.parametrize(("kind", "said", "given"), WRONG)
def test_what_cannot_be_meant_is_said(kind: type[Exception], said: str, given: Any) -> None:
    """Nothing is left out in silence."""
    with pytest.raises(kind, match=re.escape(said)):
        requests.check_request(given[0], given[1], None)


def test_no_capabilities_are_not_unknown_capabilities() -> None:
    """With none declared, everything needs one; unknown, nothing does."""
    declared = requests.session_defaults(ProtocolContext("", {}, {}), None).defaults.context

    assert (
        protocol_pb.ProtocolContext(client_capabilities=b"{}", server_capabilities=b"{}")
        == declared
    )


def test_none_is_null_where_something_must_be() -> None:
    """And nothing where it may be unknown."""
    _, request = requests.check_request(ProtocolMessage(cast("Any", None)), None, None)

    assert protocol_pb.ProtocolMessage(json=b"null") == request.message  # type: ignore[attr-defined]
