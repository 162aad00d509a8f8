"""Rules, names and tools of ProtocolService, through a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1 import target_pb2, verdict_pb2
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from support.running import RunningServer
from support.wire import refusal_of


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ProtocolServiceStub(channel)


def codes(verdict: verdict_pb2.Verdict) -> list[str]:
    return [found.code for found in verdict.violations]


def test_names_are_checked_each_and_all_together(stub: Any) -> None:
    """What the SDK says stands beside the verdict; what becomes one is told."""
    names = ["get_user", "get user", "get.user", "get_user", "", "é"]
    response = stub.CheckToolNames(v1.CheckToolNamesRequest(names=names))
    warned = [len(one.sdk_warnings) > 0 for one in response.outcomes]

    assert [True] * 6 == [one.verdict.valid for one in response.outcomes]
    assert [True, False, True, True, False, False] == [one.sdk_valid for one in response.outcomes]
    assert [False, True, False, False, True, True] == warned
    assert ["get_user", "get_user", "get_user", "get_user", "_", "_"] == [
        one.sanitized for one in response.outcomes
    ]
    assert [("get_user", [0, 1, 2, 3]), ("_", [4, 5])] == [
        (one.sanitized, list(one.places)) for one in response.collisions
    ]
    assert "TOOL_NAME_DUPLICATE" in codes(response.outcomes[3].verdict)
    assert [] == [
        found.instance_location
        for one in response.outcomes
        for found in one.verdict.violations
        if found.instance_location
    ]


def test_many_odd_names_are_told_of_within_bounds(stub: Any) -> None:
    """Each has a verdict of its own, with its gravest violation at least."""
    names = [f"{number} é😀" for number in range(5000)]
    response = stub.CheckToolNames(v1.CheckToolNamesRequest(names=names))
    told = [len(one.verdict.violations) for one in response.outcomes]

    assert (5000, 1) == (len(told), min(told))
    last = response.outcomes[-1].verdict
    assert (["TOOL_NAME_CHARACTERS"], True) == (codes(last), last.truncated)


def test_an_answer_that_no_client_would_receive_is_refused(stub: Any) -> None:
    """gRPC receives 4 MB if nobody tells it otherwise."""
    names = [f"{number} é😀" for number in range(10_000)]
    with pytest.raises(grpc.RpcError) as refused:
        stub.CheckToolNames(v1.CheckToolNamesRequest(names=names))

    assert "message_bytes" in str(refused.value.details())


TOOL = {"name": "greet", "description": "Greets.", "inputSchema": {"type": "object"}}
LISTING = {"tools": [TOOL, {**TOOL, "name": "a b"}, {**TOOL, "name": "c", "inputSchema": 3}, 3]}


@pytest.mark.parametrize(
    ("listing", "prefix"),
    [
        pytest.param(LISTING["tools"], "", id="a list"),
        pytest.param(LISTING, "/tools", id="a result"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "result": LISTING}, "/result/tools", id="a whole"),
    ],
)
def test_each_tool_of_a_listing_has_an_outcome(stub: Any, listing: Any, prefix: str) -> None:
    """Whatever the others are."""
    response = stub.CheckTools(v1.CheckToolsRequest(tools_list=json.dumps(listing).encode()))
    outcome = v1.ToolOutcome

    assert response.listing.valid
    assert [
        ("greet", f"{prefix}/0", outcome.DISPOSITION_KEEP, True),
        ("a b", f"{prefix}/1", outcome.DISPOSITION_WARN, True),
        ("c", f"{prefix}/2", outcome.DISPOSITION_DROP, False),
        ("", f"{prefix}/3", outcome.DISPOSITION_DROP, False),
    ] == [(one.name, one.pointer, one.disposition, one.verdict.valid) for one in response.outcomes]


def test_what_stands_around_the_tools_is_judged_by_itself(stub: Any) -> None:
    """And a text that lists nothing has no outcomes."""
    around = {"nextCursor": 3, "tools": [TOOL]}
    response = stub.CheckTools(v1.CheckToolsRequest(tools_list=json.dumps(around).encode()))
    assert [("TYPE", "/nextCursor")] == [
        (found.code, found.instance_location) for found in response.listing.violations
    ]
    assert [True] == [one.verdict.valid for one in response.outcomes]

    broken = stub.CheckTools(v1.CheckToolsRequest(tools_list=b'{"tools": '))
    assert (["PAYLOAD_NOT_JSON"], 0) == (codes(broken.listing), len(broken.outcomes))


def test_tools_may_come_one_by_one_with_their_documents(stub: Any) -> None:
    """Those of a listing have theirs beside it."""
    referring = {**TOOL, "inputSchema": {"type": "object", "$ref": "https://example.com/s"}}
    document = target_pb2.Document(uri="https://example.com/s", json=b"{}")
    tool = target_pb2.InlineTool(json=json.dumps(referring).encode(), documents=[document])
    listing = json.dumps([referring]).encode()
    requests = [
        v1.CheckToolsRequest(tools=[tool]),
        v1.CheckToolsRequest(tools_list=listing, documents=[document]),
        v1.CheckToolsRequest(tools=[target_pb2.InlineTool(json=tool.json)]),
        v1.CheckToolsRequest(tools_list=listing),
    ]

    assert [True, True, False, False] == [
        stub.CheckTools(request).outcomes[0].verdict.valid for request in requests
    ]


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(v1.CheckToolsRequest(), id="neither"),
        pytest.param(
            v1.CheckToolsRequest(tools_list=b"[]", tools=[target_pb2.InlineTool()]), id="both"
        ),
    ],
)
def test_tools_come_in_one_way(stub: Any, request_: Any) -> None:
    """In a listing or by themselves."""
    with pytest.raises(grpc.RpcError) as caught:
        stub.CheckTools(request_)

    assert "INVALID_REQUEST" == refusal_of(caught.value).reason


HOSTILE = [
    pytest.param(b"[" * 10_000, id="deep"),
    pytest.param(b'{"inputSchema": ' * 5_000 + b"1" + b"}" * 5_000, id="deep tools"),
    pytest.param(b'{"name": "' + b"x" * 3_000_000 + b'"}', id="a large tool"),
    pytest.param(b"[" + b"[]," * 9_999 + b"0]", id="ten thousand of none"),
    pytest.param(b"[" + b"0," * 1_500_000 + b"0]", id="a million"),
    pytest.param(b"\xff", id="no text"),
    pytest.param(b"3", id="a number"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_tools_get_a_verdict_or_a_refusal(stub: Any, text: bytes) -> None:
    """In a listing, and by themselves."""
    seen = []
    tool = target_pb2.InlineTool(json=text)
    for request in (v1.CheckToolsRequest(tools_list=text), v1.CheckToolsRequest(tools=[tool])):
        try:
            response = stub.CheckTools(request)
        except grpc.RpcError as error:
            seen.append(refusal_of(error).reason)
        else:
            verdicts = [response.listing, *(one.verdict for one in response.outcomes)]
            seen.append("OK" if all(one.valid for one in verdicts) else "INVALID")

    assert {"LIMIT_EXCEEDED", "INVALID"} >= set(seen)


def test_rules_come_page_by_page(stub: Any) -> None:
    """In the order of their codes; the pages are the whole."""
    listed: list[v1.Rule] = []
    token = ""
    while True:
        page = stub.ListRules(v1.ListRulesRequest(page_size=7, page_token=token))
        listed += page.rules
        token = page.next_page_token
        if not token:
            break
        assert 7 == len(page.rules)

    assert sorted(CATALOGUE) == [rule.code for rule in listed]
    rule = next(one for one in listed if one.code == "REQUEST_ID_IN_USE")
    assert (
        v1.Rule(
            code="REQUEST_ID_IN_USE",
            severity=verdict_pb2.SEVERITY_ERROR,
            protocol_versions=["2026-07-28"],
            spec_url="https://modelcontextprotocol.io/specification/2026-07-28/basic#requests",
            requirement=CATALOGUE["REQUEST_ID_IN_USE"].sentence,
            subjects=["JSONRPCMessage"],
        )
        == rule
    )


def test_the_rules_of_a_version_can_be_asked_for(stub: Any) -> None:
    """Those that hold in it, on one page if it is large enough."""
    for version in ("2024-11-05", "2026-07-28"):
        request = v1.ListRulesRequest(protocol_version=version, page_size=2000)
        expected = sorted(code for code, rule in CATALOGUE.items() if rule.holds_in(version))
        assert expected == [rule.code for rule in stub.ListRules(request).rules]


def test_a_page_has_a_hundred_rules_by_default(stub: Any) -> None:
    """As pages of tools have."""
    assert min(100, len(CATALOGUE)) == len(stub.ListRules(v1.ListRulesRequest()).rules)


def test_what_is_no_page_is_refused(stub: Any) -> None:
    """Also a token of another list."""
    token = stub.ListRules(v1.ListRulesRequest(page_size=1)).next_page_token
    requests = [
        (v1.ListRulesRequest(page_size=-1), "INVALID_REQUEST"),
        (v1.ListRulesRequest(page_token="x"), "INVALID_REQUEST"),
        (
            v1.ListRulesRequest(page_token=token, protocol_version="2025-11-25"),
            "INVALID_REQUEST",
        ),
        (v1.ListRulesRequest(protocol_version="1"), "UNKNOWN_PROTOCOL_VERSION"),
    ]
    for request, reason in requests:
        with pytest.raises(grpc.RpcError) as caught:
            stub.ListRules(request)
        assert reason == refusal_of(caught.value).reason
