"""RegistryService with a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from support.running import RunningServer
from support.wire import error_info_of

Action = registry_pb.RegistrationOutcome.Action


@pytest.fixture
def stub(shared_server: RunningServer) -> Iterator[Any]:
    """Yield a stub of a shared server, and remove the tools of these tests at the end."""
    with grpc.insecure_channel(shared_server.address) as channel:
        stub: Any = RegistryServiceStub(channel)
        yield stub
        for server in ("s", "one", "two"):
            stub.DeleteTools(registry_pb.DeleteToolsRequest(server=server, all=True))


def tool(name: str, **schema: Any) -> bytes:
    return json.dumps({"name": name, "inputSchema": {"type": "object", **schema}}).encode()


def register(stub: Any, *tools: bytes, server: str = "s", **options: Any) -> Any:
    return stub.RegisterTools(
        registry_pb.RegisterToolsRequest(
            server=server, tools=[target_pb2.InlineTool(json=text) for text in tools], **options
        )
    )


def actions(response: Any) -> list[str]:
    return [Action.Name(outcome.action).removeprefix("ACTION_") for outcome in response.outcomes]


def names(stub: Any, server: str = "s") -> list[str]:
    return [
        listed_tool.name
        for listed_tool in stub.ListTools(registry_pb.ListToolsRequest(server=server)).tools
    ]


def test_registering_again_changes_nothing(stub: Any) -> None:
    """Another layout of a definition is the same definition."""
    first = register(stub, tool("a"))
    again = register(stub, b' {"inputSchema": {"type": "object"}, "name": "a"} ')

    assert (["CREATED"], ["UNCHANGED"]) == (actions(first), actions(again))
    assert first.registry_revision == again.registry_revision
    assert first.outcomes[0].definition_digest == again.outcomes[0].definition_digest


def test_tools_are_returned_verbatim(stub: Any) -> None:
    """Key order, whitespace and unknown keys are preserved."""
    text = b'{"x": 1.50,  "inputSchema": {"type":"object", "b":1, "a":2}, "name": "a"}'
    register(stub, text)

    assert text == stub.GetTool(registry_pb.GetToolRequest(server="s", name="a")).tool.json


def test_an_invalid_tool_does_not_affect_others(stub: Any) -> None:
    """Each outcome has violations with locations in the tool's JSON."""
    response = register(
        stub,
        tool("a"),
        b"{",
        b'{"name": "c"}',
        tool("d", properties={"x": {"type": "any"}}),
        tool("e", properties={"x": {"pattern": "("}}),
        tool("f"),
    )
    violations = [
        [(violation.instance_location, violation.code) for violation in outcome.violations]
        for outcome in response.outcomes
    ]

    assert ["CREATED", "REJECTED", "REJECTED", "REJECTED", "REJECTED", "CREATED"] == actions(
        response
    )
    assert [
        [],
        [("", "PAYLOAD_NOT_JSON")],
        [("", "REQUIRED")],
        [("/inputSchema/properties/x/type", "ENUM")],
        [("/inputSchema/properties/x/pattern", "INVALID_PATTERN")],
        [],
    ] == violations
    assert ["a", "f"] == names(stub)


def test_replacing_removes_unnamed_tools(stub: Any) -> None:
    """A named tool that is invalid keeps its binding."""
    register(stub, tool("a"), tool("b"), tool("c"))
    response = register(
        stub, tool("a"), tool("b", type="any"), mode=registry_pb.REGISTRATION_MODE_REPLACE
    )

    assert ["c"] == list(response.removed)
    assert ["a", "b"] == names(stub)


def test_servers_have_separate_namespaces(stub: Any) -> None:
    """Two servers can have different tools of the same name."""
    register(stub, tool("a"), server="one")
    register(stub, tool("a", maxProperties=1), server="two")

    listed = stub.ListTools(registry_pb.ListToolsRequest()).tools
    assert [("one", "a"), ("two", "a")] == [
        (listed_tool.server, listed_tool.name)
        for listed_tool in listed
        if listed_tool.server in ("one", "two")
    ]


def test_validate_only_changes_nothing(stub: Any) -> None:
    """The outcomes are those of a registration."""
    response = register(stub, tool("a"), validate_only=True)

    assert ["CREATED"] == actions(response)
    assert [] == names(stub)


@pytest.mark.parametrize(
    ("change_policy", "action", "codes", "bound_size"),
    [
        pytest.param(registry_pb.CHANGE_POLICY_ACCEPT, "CHANGED", [], 2, id="accept"),
        pytest.param(
            registry_pb.CHANGE_POLICY_REPORT, "CHANGED", ["DEFINITION_CHANGED"], 2, id="report"
        ),
        pytest.param(
            registry_pb.CHANGE_POLICY_REJECT, "REJECTED", ["DEFINITION_CHANGED"], 1, id="reject"
        ),
    ],
)
def test_a_change_is_accepted_reported_or_rejected(
    stub: Any, change_policy: Any, action: str, codes: list[str], bound_size: int
) -> None:
    """The change policy of the request applies."""
    first = register(stub, tool("a", maxProperties=1)).outcomes[0]
    second = register(stub, tool("a", maxProperties=2), change_policy=change_policy)
    bound = stub.GetTool(registry_pb.GetToolRequest(server="s", name="a")).tool

    assert [action] == actions(second)
    assert codes == [violation.code for violation in second.outcomes[0].violations]
    assert first.definition_digest == second.outcomes[0].previous_definition_digest
    assert bound_size == json.loads(bound.json)["inputSchema"]["maxProperties"]


def test_a_duplicate_name_is_a_violation(stub: Any) -> None:
    """The last definition is registered."""
    response = register(stub, tool("a", maxProperties=1), tool("a", maxProperties=2))

    assert [["TOOL_NAME_DUPLICATE"]] * 2 == [
        [violation.code for violation in outcome.violations] for outcome in response.outcomes
    ]
    bound = stub.GetTool(registry_pb.GetToolRequest(server="s", name="a")).tool
    assert 2 == json.loads(bound.json)["inputSchema"]["maxProperties"]


def test_pages_list_every_tool_once(stub: Any) -> None:
    """Pages are sorted by name."""
    expected = [f"tool{number:02}" for number in range(25)]
    register(stub, *map(tool, expected))
    results, token = [], ""
    while True:
        request = registry_pb.ListToolsRequest(server="s", page_size=10, page_token=token)
        page = stub.ListTools(request)
        results += [listed_tool.name for listed_tool in page.tools]
        token = page.next_page_token
        if not token:
            break

    assert expected == results


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(registry_pb.ListToolsRequest(page_token="x"), id="garbled token"),
        pytest.param(registry_pb.ListToolsRequest(page_token="W10="), id="empty token"),
        pytest.param(registry_pb.ListToolsRequest(page_size=-1), id="negative size"),
    ],
)
def test_invalid_pages_are_rejected(stub: Any, request_: Any) -> None:
    """The error reason is INVALID_REQUEST."""
    with pytest.raises(grpc.RpcError) as raised:
        stub.ListTools(request_)

    assert "INVALID_REQUEST" == error_info_of(raised.value).reason


def test_a_token_of_another_list_is_rejected(stub: Any) -> None:
    """The parameters of a list must not change between pages (AIP-158)."""
    register(stub, tool("a"), tool("b"))
    token = stub.ListTools(registry_pb.ListToolsRequest(page_size=1)).next_page_token
    with pytest.raises(grpc.RpcError) as raised:
        stub.ListTools(registry_pb.ListToolsRequest(server="s", page_token=token))

    assert "page_token" == error_info_of(raised.value).metadata["field"]


def test_deleting_returns_deleted_and_unknown_names(stub: Any) -> None:
    """Tools are deleted by name, then all."""
    register(stub, tool("a"), tool("b"), tool("c"))
    by_name = stub.DeleteTools(registry_pb.DeleteToolsRequest(server="s", names=["b", "x"]))
    remaining = stub.DeleteTools(registry_pb.DeleteToolsRequest(server="s", all=True))

    assert (["b"], ["x"]) == (list(by_name.deleted), list(by_name.unknown))
    assert ["a", "c"] == list(remaining.deleted)
    assert by_name.registry_revision + 1 == remaining.registry_revision


@pytest.mark.parametrize("more", [{}, {"names": ["a"], "all": True}], ids=["neither", "both"])
def test_deleting_needs_names_or_all(stub: Any, more: dict[str, Any]) -> None:
    """An empty request must not delete anything by mistake."""
    with pytest.raises(grpc.RpcError) as raised:
        stub.DeleteTools(registry_pb.DeleteToolsRequest(server="s", **more))

    assert "INVALID_REQUEST" == error_info_of(raised.value).reason


def test_a_server_needs_a_name(stub: Any) -> None:
    """Names have 1 to 256 characters."""
    with pytest.raises(grpc.RpcError) as raised:
        register(stub, tool("a"), server="")

    assert "server" == error_info_of(raised.value).metadata["field"]


def test_documents_are_part_of_the_definition(stub: Any) -> None:
    """The same text with another document is another definition."""

    def with_document(type_: str) -> Any:
        document = target_pb2.Document(
            uri="https://example.com/d", json=b'{"type": "%s"}' % type_.encode()
        )
        text = b'{"name": "a", "inputSchema": {"type": "object", "$ref": "https://example.com/d"}}'
        inline_tool = target_pb2.InlineTool(json=text, documents=[document])
        return stub.RegisterTools(registry_pb.RegisterToolsRequest(server="s", tools=[inline_tool]))

    assert ["CREATED"] == actions(with_document("object"))
    assert ["CHANGED"] == actions(with_document("array"))


def test_tools_are_checked_by_the_rules_of_a_version(stub: Any) -> None:
    """Warnings do not prevent registration."""
    definition = json.dumps(
        {
            "name": "a b",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "array"},
        }
    ).encode()
    results = {
        version: register(stub, definition, protocol_version=version, validate_only=True)
        for version in ("", "2025-11-25", "2026-07-28", "2024-11-05")
    }

    assert {
        "": (["CREATED"], ["TOOL_NAME_CHARACTERS", "OUTPUT_SCHEMA_WRAPPED"]),
        "2025-11-25": (["CREATED"], ["TOOL_NAME_CHARACTERS", "OUTPUT_SCHEMA_WRAPPED"]),
        "2026-07-28": (["CREATED"], ["TOOL_NAME_CHARACTERS"]),
        "2024-11-05": (["CREATED"], []),
    } == {
        version: (
            actions(response),
            [violation.code for violation in response.outcomes[0].violations],
        )
        for version, response in results.items()
    }


def test_an_unknown_version_is_rejected(stub: Any) -> None:
    """The version is checked before any tool."""
    with pytest.raises(grpc.RpcError) as raised:
        register(stub, tool("a"), protocol_version="2025-11-26")

    assert "UNKNOWN_PROTOCOL_VERSION" == error_info_of(raised.value).reason
