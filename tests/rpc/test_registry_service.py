"""RegistryService, through a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import registry_service_pb2 as wire_tools
from sidecheck.v1 import target_pb2
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from support.running import RunningServer
from support.wire import refusal_of

Action = wire_tools.RegistrationOutcome.Action


@pytest.fixture
def stub(shared_server: RunningServer) -> Iterator[Any]:
    """A stub of a server whose registry has none of our namespaces."""
    with grpc.insecure_channel(shared_server.address) as channel:
        stub: Any = RegistryServiceStub(channel)
        yield stub
        for server in ("s", "one", "two"):
            stub.DeleteTools(wire_tools.DeleteToolsRequest(server=server, all=True))


def tool(name: str, **schema: Any) -> bytes:
    return json.dumps({"name": name, "inputSchema": {"type": "object", **schema}}).encode()


def register(stub: Any, *tools: bytes, server: str = "s", **options: Any) -> Any:
    return stub.RegisterTools(
        wire_tools.RegisterToolsRequest(
            server=server, tools=[target_pb2.InlineTool(json=one) for one in tools], **options
        )
    )


def actions(response: Any) -> list[str]:
    return [Action.Name(one.action).removeprefix("ACTION_") for one in response.outcomes]


def names(stub: Any, server: str = "s") -> list[str]:
    return [one.name for one in stub.ListTools(wire_tools.ListToolsRequest(server=server)).tools]


def test_registering_again_changes_nothing(stub: Any) -> None:
    """The same definition in another layout is the same definition."""
    first = register(stub, tool("a"))
    again = register(stub, b' {"inputSchema": {"type": "object"}, "name": "a"} ')

    assert (["CREATED"], ["UNCHANGED"]) == (actions(first), actions(again))
    assert first.registry_revision == again.registry_revision
    assert first.outcomes[0].definition_digest == again.outcomes[0].definition_digest


def test_the_bytes_are_returned_untouched(stub: Any) -> None:
    """Order, spaces and unknown keys too."""
    text = b'{"x": 1.50,  "inputSchema": {"type":"object", "b":1, "a":2}, "name": "a"}'
    register(stub, text)

    assert text == stub.GetTool(wire_tools.GetToolRequest(server="s", name="a")).tool.json


def test_one_bad_tool_costs_the_others_nothing(stub: Any) -> None:
    """Each has an outcome, and problems that lead into its JSON."""
    response = register(
        stub,
        tool("a"),
        b"{",
        b'{"name": "c"}',
        tool("d", properties={"x": {"type": "any"}}),
        tool("e", properties={"x": {"pattern": "("}}),
        tool("f"),
    )
    problems = [
        [(one.instance_location, one.code) for one in outcome.violations]
        for outcome in response.outcomes
    ]

    assert ["CREATED", "REFUSED", "REFUSED", "REFUSED", "REFUSED", "CREATED"] == actions(response)
    assert [
        [],
        [("", "PAYLOAD_NOT_JSON")],
        [("", "REQUIRED")],
        [("/inputSchema/properties/x/type", "ENUM")],
        [("/inputSchema/properties/x/pattern", "INVALID_PATTERN")],
        [],
    ] == problems
    assert ["a", "f"] == names(stub)


def test_replacing_removes_what_is_not_named(stub: Any) -> None:
    """A tool that is named but broken stays as it was."""
    register(stub, tool("a"), tool("b"), tool("c"))
    response = register(
        stub, tool("a"), tool("b", type="any"), mode=wire_tools.REGISTRATION_MODE_REPLACE
    )

    assert ["c"] == list(response.removed)
    assert ["a", "b"] == names(stub)


def test_namespaces_are_apart(stub: Any) -> None:
    """The same name under two servers is two tools."""
    register(stub, tool("a"), server="one")
    register(stub, tool("a", maxProperties=1), server="two")

    listed = stub.ListTools(wire_tools.ListToolsRequest()).tools
    assert [("one", "a"), ("two", "a")] == [
        (one.server, one.name) for one in listed if one.server in ("one", "two")
    ]


def test_validate_only_changes_nothing(stub: Any) -> None:
    """It answers what would happen."""
    response = register(stub, tool("a"), validate_only=True)

    assert ["CREATED"] == actions(response)
    assert [] == names(stub)


@pytest.mark.parametrize(
    ("change_policy", "action", "codes", "kept"),
    [
        pytest.param(wire_tools.CHANGE_POLICY_ACCEPT, "CHANGED", [], 2, id="accept"),
        pytest.param(
            wire_tools.CHANGE_POLICY_REPORT, "CHANGED", ["DEFINITION_CHANGED"], 2, id="report"
        ),
        pytest.param(
            wire_tools.CHANGE_POLICY_REJECT, "REFUSED", ["DEFINITION_CHANGED"], 1, id="refuse"
        ),
    ],
)
def test_a_changed_definition_is_taken_told_or_refused(
    stub: Any, change_policy: Any, action: str, codes: list[str], kept: int
) -> None:
    """As the request says."""
    first = register(stub, tool("a", maxProperties=1)).outcomes[0]
    second = register(stub, tool("a", maxProperties=2), change_policy=change_policy)
    bound = stub.GetTool(wire_tools.GetToolRequest(server="s", name="a")).tool

    assert [action] == actions(second)
    assert codes == [one.code for one in second.outcomes[0].violations]
    assert first.definition_digest == second.outcomes[0].previous_definition_digest
    assert kept == json.loads(bound.json)["inputSchema"]["maxProperties"]


def test_a_name_twice_in_a_request_is_told(stub: Any) -> None:
    """The last definition counts."""
    response = register(stub, tool("a", maxProperties=1), tool("a", maxProperties=2))

    assert [["TOOL_NAME_DUPLICATE"]] * 2 == [
        [one.code for one in outcome.violations] for outcome in response.outcomes
    ]
    bound = stub.GetTool(wire_tools.GetToolRequest(server="s", name="a")).tool
    assert 2 == json.loads(bound.json)["inputSchema"]["maxProperties"]


def test_pages_cover_the_list_once(stub: Any) -> None:
    """In the order of names, whatever the size of a page."""
    wanted = [f"tool{number:02}" for number in range(25)]
    register(stub, *map(tool, wanted))
    got, token = [], ""
    while True:
        request = wire_tools.ListToolsRequest(server="s", page_size=10, page_token=token)
        page = stub.ListTools(request)
        got += [one.name for one in page.tools]
        token = page.next_page_token
        if not token:
            break

    assert wanted == got


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(wire_tools.ListToolsRequest(page_token="x"), id="garbled token"),
        pytest.param(wire_tools.ListToolsRequest(page_token="W10="), id="empty token"),
        pytest.param(wire_tools.ListToolsRequest(page_size=-1), id="negative size"),
    ],
)
def test_a_bad_page_is_refused(stub: Any, request_: Any) -> None:
    """INVALID_ARGUMENT, with the field."""
    with pytest.raises(grpc.RpcError) as caught:
        stub.ListTools(request_)

    assert "INVALID_REQUEST" == refusal_of(caught.value).reason


def test_a_token_of_another_list_is_refused(stub: Any) -> None:
    """AIP-158: the arguments of a list do not change between its pages."""
    register(stub, tool("a"), tool("b"))
    token = stub.ListTools(wire_tools.ListToolsRequest(page_size=1)).next_page_token
    with pytest.raises(grpc.RpcError) as caught:
        stub.ListTools(wire_tools.ListToolsRequest(server="s", page_token=token))

    assert "page_token" == refusal_of(caught.value).metadata["field"]


def test_deleting_says_what_was_there(stub: Any) -> None:
    """By names, then all."""
    register(stub, tool("a"), tool("b"), tool("c"))
    some = stub.DeleteTools(wire_tools.DeleteToolsRequest(server="s", names=["b", "x"]))
    rest = stub.DeleteTools(wire_tools.DeleteToolsRequest(server="s", all=True))

    assert (["b"], ["x"]) == (list(some.deleted), list(some.unknown))
    assert ["a", "c"] == list(rest.deleted)
    assert some.registry_revision + 1 == rest.registry_revision


@pytest.mark.parametrize("more", [{}, {"names": ["a"], "all": True}], ids=["neither", "both"])
def test_deleting_needs_names_or_all(stub: Any, more: dict[str, Any]) -> None:
    """An empty request deletes nothing by mistake."""
    with pytest.raises(grpc.RpcError) as caught:
        stub.DeleteTools(wire_tools.DeleteToolsRequest(server="s", **more))

    assert "INVALID_REQUEST" == refusal_of(caught.value).reason


def test_a_server_needs_a_name(stub: Any) -> None:
    """Of 1 to 256 characters."""
    with pytest.raises(grpc.RpcError) as caught:
        register(stub, tool("a"), server="")

    assert "server" == refusal_of(caught.value).metadata["field"]


def test_documents_are_a_part_of_the_definition(stub: Any) -> None:
    """The same text with another document is another definition."""

    def with_document(type_: str) -> Any:
        document = target_pb2.Document(
            uri="https://example.com/d", json=b'{"type": "%s"}' % type_.encode()
        )
        text = b'{"name": "a", "inputSchema": {"type": "object", "$ref": "https://example.com/d"}}'
        one = target_pb2.InlineTool(json=text, documents=[document])
        return stub.RegisterTools(wire_tools.RegisterToolsRequest(server="s", tools=[one]))

    assert ["CREATED"] == actions(with_document("object"))
    assert ["CHANGED"] == actions(with_document("array"))


def test_tools_are_checked_by_the_rules_of_a_version(stub: Any) -> None:
    """Warnings are told, and block nothing."""
    listing = json.dumps(
        {
            "name": "a b",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "array"},
        }
    ).encode()
    got = {
        version: register(stub, listing, protocol_version=version, validate_only=True)
        for version in ("", "2025-11-25", "2026-07-28", "2024-11-05")
    }

    assert {
        "": (["REFUSED"], ["TOOL_NAME_CHARACTERS", "CONST"]),
        "2025-11-25": (["REFUSED"], ["TOOL_NAME_CHARACTERS", "CONST"]),
        "2026-07-28": (["CREATED"], ["TOOL_NAME_CHARACTERS"]),
        "2024-11-05": (["CREATED"], []),
    } == {
        version: (actions(response), [one.code for one in response.outcomes[0].violations])
        for version, response in got.items()
    }


def test_an_unknown_version_is_refused(stub: Any) -> None:
    """Before any tool is looked at."""
    with pytest.raises(grpc.RpcError) as caught:
        register(stub, tool("a"), protocol_version="2025-11-26")

    assert "UNKNOWN_PROTOCOL_VERSION" == refusal_of(caught.value).reason
