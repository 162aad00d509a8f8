"""CompareTools: the sets of tools, and their comparisons."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner
from sidecheck.v1 import comparison_pb2 as comparison_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck_server.admin.http_methods import write_response
from sidecheck_server.cli import sidecheck
from sidecheck_server.core.compat.changes import ToolComparison, ToolStatus
from sidecheck_server.core.compat.tools import tool_change
from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.mapping.comparison import ComparisonWriter
from support.running import RunningServer
from support.wire import error_info_of

CODES = grpc.StatusCode
ToolSet = registry_pb.ToolSet


def tool(name: str, maximum: int = 5, **more: Any) -> bytes:
    """Return a definition with an argument of a *maximum*, and *more*."""
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": maximum}}}
    return json.dumps({"name": name, "inputSchema": schema, **more}).encode()


def inline(*tools: bytes) -> registry_pb.ToolSet:
    """Return the set of *tools*."""
    return ToolSet(tools=[target_pb2.InlineTool(json=text) for text in tools])


A, B = tool("a"), tool("b", title="B")
NARROWER, WIDER = tool("a", 3), tool("a", 9)
ADDED = json.dumps(
    {
        "name": "a",
        "inputSchema": {
            "type": "object",
            "properties": {"n": {"type": "integer", "maximum": 5}, "m": {"type": "integer"}},
        },
    }
).encode()
REGISTERED = ToolSet(server="compared")


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield a stub of a server with the tools `A` and `B`."""
    server = RunningServer(tmp_path_factory.mktemp("comparing"))
    with grpc.insecure_channel(server.address) as channel:
        stub: Any = RegistryServiceStub(channel)
        tools = [target_pb2.InlineTool(json=text) for text in (A, B)]
        stub.RegisterTools(registry_pb.RegisterToolsRequest(server="compared", tools=tools))
        yield stub
    server.close()


def level_of(value: int) -> str:
    """Return a level as a word."""
    name = comparison_pb.ChangeLevel.Name(value)
    return str(name.removeprefix("CHANGE_LEVEL_").lower())


def in_short(response: registry_pb.CompareToolsResponse) -> list[tuple[str, str, str, str]]:
    """Return the status of each tool, its name, and its levels: assumed closed, as written."""
    status = comparison_pb.ToolComparison.Status
    return [
        (
            status.Name(comparison.status).removeprefix("STATUS_").lower(),
            comparison.name,
            level_of(comparison.assume_closed),
            level_of(comparison.as_written),
        )
        for comparison in response.tools
    ]


@pytest.mark.parametrize(
    ("old", "new", "tools"),
    [
        pytest.param(inline(), inline(), [], id="empty"),
        pytest.param(inline(), inline(A), [("added", "a", *["compatible"] * 2)], id="added"),
        pytest.param(inline(A), inline(), [("removed", "a", *["breaking"] * 2)], id="removed"),
        pytest.param(
            REGISTERED,
            inline(B, NARROWER),
            [("unchanged", "b", *["cosmetic"] * 2), ("changed", "a", *["breaking"] * 2)],
            id="registered and inline",
        ),
        pytest.param(
            ToolSet(server="compared", names=["a"]),
            inline(WIDER),
            [("changed", "a", *["compatible"] * 2)],
            id="by name",
        ),
        pytest.param(
            ToolSet(server="compared", names=["b", "a", "b"]),
            REGISTERED,
            [("unchanged", name, *["cosmetic"] * 2) for name in "ab"],
            id="names repeated",
        ),
        pytest.param(
            inline(A), inline(ADDED), [("changed", "a", "compatible", "breaking")], id="readings"
        ),
        pytest.param(
            inline(A), inline(tool("z")), [("renamed", "z", *["breaking"] * 2)], id="renamed"
        ),
        pytest.param(
            inline(A),
            inline(b'{"name": "a"}'),
            [("changed", "a", *["undecided"] * 2)],
            id="unreadable",
        ),
    ],
)
def test_sets_are_compared(
    stub: Any, old: registry_pb.ToolSet, new: registry_pb.ToolSet, tools: list[Any]
) -> None:
    """The new tools in their order, then the removed ones; the level is that of the reading."""
    for reading, position in (
        (comparison_pb.SCHEMA_READING_UNSPECIFIED, 2),
        (comparison_pb.SCHEMA_READING_AS_WRITTEN, 3),
    ):
        request = registry_pb.CompareToolsRequest(old=old, new=new, reading=reading)
        response = stub.CompareTools(request)
        levels = [tool[position] for tool in tools]
        order = ["breaking", "undecided", "risky", "compatible", "cosmetic"]

        assert tools == in_short(response)
        assert min(levels, key=order.index, default="cosmetic") == level_of(response.level)
        assert response.registry_revision == 1


def test_each_tool_has_its_own_documents(stub: Any) -> None:
    """A reference resolves in the documents of its own side."""
    text = b'{"name": "d", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "x:a"}}}}'
    sets = [
        ToolSet(
            tools=[
                target_pb2.InlineTool(
                    json=text, documents=[target_pb2.Document(uri="x:a", json=document)]
                )
            ]
        )
        for document in (b'{"type": "number"}', b'{"type": "integer"}')
    ]
    response = stub.CompareTools(registry_pb.CompareToolsRequest(old=sets[0], new=sets[1]))

    assert [("changed", "d", "breaking", "breaking")] == in_short(response)


@pytest.mark.parametrize(
    ("request_", "code", "reason", "message"),
    [
        pytest.param(
            {"new": inline(A)},
            CODES.INVALID_ARGUMENT,
            "INVALID_REQUEST",
            "old is not set",
            id="no old set",
        ),
        pytest.param(
            {"old": inline(A)},
            CODES.INVALID_ARGUMENT,
            "INVALID_REQUEST",
            "new is not set",
            id="no new set",
        ),
        pytest.param(
            {"old": inline(), "new": ToolSet(server="s", tools=inline(A).tools)},
            CODES.INVALID_ARGUMENT,
            "INVALID_REQUEST",
            "new has both a server and tools",
            id="two sets in one",
        ),
        pytest.param(
            {"old": ToolSet(names=["a"]), "new": inline()},
            CODES.INVALID_ARGUMENT,
            "INVALID_REQUEST",
            "old has names, but no server",
            id="names without a server",
        ),
        pytest.param(
            {"old": ToolSet(server="comparde"), "new": inline()},
            CODES.INVALID_ARGUMENT,
            "INVALID_REQUEST",
            "no tools are registered for the server 'comparde'",
            id="a server without tools",
        ),
        pytest.param(
            {"old": ToolSet(server="compared", names=["aa"]), "new": inline()},
            CODES.NOT_FOUND,
            "UNKNOWN_TOOL",
            "no tool 'aa' is registered for the server 'compared'; did you mean 'a'?",
            id="an unknown tool",
        ),
        pytest.param(
            {"old": inline(*[b"{}"] * (Limits().batch_items + 1)), "new": inline()},
            CODES.RESOURCE_EXHAUSTED,
            "LIMIT_EXCEEDED",
            "the tools of old",
            id="too many",
        ),
        pytest.param(
            {"old": inline(), "new": inline(), "reading": 9},
            CODES.INVALID_ARGUMENT,
            "INVALID_REQUEST",
            "reading",
            id="an unknown reading",
        ),
    ],
)
def test_sets_that_cannot_be_compared(
    stub: Any, request_: dict[str, Any], code: grpc.StatusCode, reason: str, message: str
) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        stub.CompareTools(registry_pb.CompareToolsRequest(**request_))

    assert isinstance(raised.value, grpc.Call)
    assert (code, reason) == (raised.value.code(), error_info_of(raised.value).reason)
    assert message in (raised.value.details() or "")


def test_the_command_has_the_same_report(stub: Any, tmp_path: Path) -> None:
    """The command prints the JSON form of the response."""
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_bytes(b"[%s, %s]" % (A, B))
    new.write_bytes(b"[%s, %s]" % (ADDED.replace(b'"maximum": 5', b'"maximum": 3'), tool("c", 4)))
    printed = CliRunner().invoke(sidecheck, ["diff", str(old), str(new), "--format", "json"])
    printed_comparison = json.loads(printed.stdout)
    response = stub.CompareTools(
        registry_pb.CompareToolsRequest(
            old=REGISTERED,
            new=inline(
                *(json.dumps(definition).encode() for definition in json.loads(new.read_text()))
            ),
        )
    )

    returned = json.loads(write_response(response))

    assert (printed_comparison["level"], printed_comparison["tools"]) == (
        returned["level"],
        returned["tools"],
    )


def test_details_beyond_the_size_limit_are_omitted() -> None:
    """Levels and names remain; a later smaller tool may have its details."""
    change = tool_change("TITLE_CHANGED", "m" * 600)
    small = ToolComparison(ToolStatus.CHANGED, "small", changes=(change,))
    large = ToolComparison(ToolStatus.CHANGED, "large", changes=(change,) * 2)
    writer = ComparisonWriter(Limits(message_bytes=3000))
    written = [writer.write(comparison) for comparison in (small, large, small, small)]

    assert [("small", 1), ("large", 0), ("small", 1), ("small", 0)] == [
        (comparison.name, len(comparison.changes)) for comparison in written
    ]
    assert 1 == len({level_of(comparison.as_written) for comparison in written})
