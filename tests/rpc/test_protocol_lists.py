"""Rules, names and tools of ProtocolService, with a real server."""

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
from support.wire import error_info_of


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ProtocolServiceStub(channel)


def codes(verdict: verdict_pb2.Verdict) -> list[str]:
    return [violation.code for violation in verdict.violations]


def test_names_are_checked_and_compared(stub: Any) -> None:
    """SDK warnings accompany the verdict; colliding sanitized names are grouped."""
    names = ["get_user", "get user", "get.user", "get_user", "", "é"]
    response = stub.CheckToolNames(v1.CheckToolNamesRequest(names=names))
    has_warnings = [len(outcome.sdk_warnings) > 0 for outcome in response.outcomes]

    assert [True] * 6 == [outcome.verdict.valid for outcome in response.outcomes]
    assert [True, False, True, True, False, False] == [
        outcome.sdk_valid for outcome in response.outcomes
    ]
    assert [False, True, False, False, True, True] == has_warnings
    assert ["get_user", "get_user", "get_user", "get_user", "_", "_"] == [
        outcome.sanitized for outcome in response.outcomes
    ]
    assert [("get_user", [0, 1, 2, 3]), ("_", [4, 5])] == [
        (outcome.sanitized, list(outcome.indexes)) for outcome in response.collisions
    ]
    assert "TOOL_NAME_DUPLICATE" in codes(response.outcomes[3].verdict)
    assert [] == [
        violation.instance_location
        for outcome in response.outcomes
        for violation in outcome.verdict.violations
        if violation.instance_location
    ]


def test_verdicts_on_many_names_are_limited(stub: Any) -> None:
    """Each verdict has at least its most severe violation."""
    names = [f"{number} é😀" for number in range(5000)]
    response = stub.CheckToolNames(v1.CheckToolNamesRequest(names=names))
    counts = [len(outcome.verdict.violations) for outcome in response.outcomes]

    assert (5000, 1) == (len(counts), min(counts))
    last = response.outcomes[-1].verdict
    assert (["TOOL_NAME_CHARACTERS"], True) == (codes(last), last.truncated)


def test_a_response_beyond_the_message_limit_is_rejected(stub: Any) -> None:
    """gRPC clients receive at most 4 MB by default."""
    names = [f"{number} é😀" for number in range(10_000)]
    with pytest.raises(grpc.RpcError) as raised:
        stub.CheckToolNames(v1.CheckToolNamesRequest(names=names))

    assert "message_bytes" in str(raised.value.details())


TOOL = {"name": "greet", "description": "Greets.", "inputSchema": {"type": "object"}}
TOOLS_LIST = {"tools": [TOOL, {**TOOL, "name": "a b"}, {**TOOL, "name": "c", "inputSchema": 3}, 3]}


@pytest.mark.parametrize(
    ("tools_list", "prefix"),
    [
        pytest.param(TOOLS_LIST["tools"], "", id="a list"),
        pytest.param(TOOLS_LIST, "/tools", id="a result"),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "result": TOOLS_LIST}, "/result/tools", id="a response"
        ),
    ],
)
def test_each_tool_of_a_list_has_an_outcome(stub: Any, tools_list: Any, prefix: str) -> None:
    """Outcomes do not depend on other tools of the list."""
    response = stub.CheckTools(v1.CheckToolsRequest(tools_list=json.dumps(tools_list).encode()))
    outcome = v1.ToolOutcome

    assert response.tools_list_verdict.valid
    assert [
        ("greet", f"{prefix}/0", outcome.DISPOSITION_KEEP, True),
        ("a b", f"{prefix}/1", outcome.DISPOSITION_WARN, True),
        ("c", f"{prefix}/2", outcome.DISPOSITION_DROP, False),
        ("", f"{prefix}/3", outcome.DISPOSITION_DROP, False),
    ] == [
        (
            tool_outcome.name,
            tool_outcome.pointer,
            tool_outcome.disposition,
            tool_outcome.verdict.valid,
        )
        for tool_outcome in response.outcomes
    ]


def test_a_tools_list_has_a_verdict(stub: Any) -> None:
    """A text that is not a list has no outcomes."""
    result = {"nextCursor": 3, "tools": [TOOL]}
    response = stub.CheckTools(v1.CheckToolsRequest(tools_list=json.dumps(result).encode()))
    assert [("TYPE", "/nextCursor")] == [
        (violation.code, violation.instance_location)
        for violation in response.tools_list_verdict.violations
    ]
    assert [True] == [outcome.verdict.valid for outcome in response.outcomes]

    broken = stub.CheckTools(v1.CheckToolsRequest(tools_list=b'{"tools": '))
    assert (["PAYLOAD_NOT_JSON"], 0) == (codes(broken.tools_list_verdict), len(broken.outcomes))


def test_documents_belong_to_the_list_or_to_a_tool(stub: Any) -> None:
    """Inline tools have their own documents."""
    referring = {**TOOL, "inputSchema": {"type": "object", "$ref": "https://example.com/s"}}
    document = target_pb2.Document(uri="https://example.com/s", json=b"{}")
    tool = target_pb2.InlineTool(json=json.dumps(referring).encode(), documents=[document])
    tools_list = json.dumps([referring]).encode()
    requests = [
        v1.CheckToolsRequest(tools=[tool]),
        v1.CheckToolsRequest(tools_list=tools_list, documents=[document]),
        v1.CheckToolsRequest(tools=[target_pb2.InlineTool(json=tool.json)]),
        v1.CheckToolsRequest(tools_list=tools_list),
    ]

    drop = v1.ToolOutcome.DISPOSITION_DROP
    assert [False, False, True, True] == [
        stub.CheckTools(request).outcomes[0].disposition == drop for request in requests
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
def test_a_list_or_inline_tools_must_be_set(stub: Any, request_: Any) -> None:
    """Exactly one of the two fields must be set."""
    with pytest.raises(grpc.RpcError) as raised:
        stub.CheckTools(request_)

    assert "INVALID_REQUEST" == error_info_of(raised.value).reason


HOSTILE = [
    pytest.param(b"[" * 10_000, id="deep"),
    pytest.param(b'{"inputSchema": ' * 5_000 + b"1" + b"}" * 5_000, id="deep tools"),
    pytest.param(b'{"name": "' + b"x" * 3_000_000 + b'"}', id="a large tool"),
    pytest.param(b"[" + b"[]," * 9_999 + b"0]", id="ten thousand invalid tools"),
    pytest.param(b"[" + b"0," * 1_500_000 + b"0]", id="a million items"),
    pytest.param(b"\xff", id="not UTF-8"),
    pytest.param(b"3", id="a number"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_tools_get_a_verdict_or_an_error(stub: Any, text: bytes) -> None:
    """Hostile texts are sent as a list and as an inline tool."""
    results = []
    tool = target_pb2.InlineTool(json=text)
    for request in (v1.CheckToolsRequest(tools_list=text), v1.CheckToolsRequest(tools=[tool])):
        try:
            response = stub.CheckTools(request)
        except grpc.RpcError as error:
            results.append(error_info_of(error).reason)
        else:
            verdicts = [
                response.tools_list_verdict,
                *(verdict.verdict for verdict in response.outcomes),
            ]
            results.append("OK" if all(verdict.valid for verdict in verdicts) else "INVALID")

    assert {"LIMIT_EXCEEDED", "INVALID"} >= set(results)


def test_rules_are_listed_by_page(stub: Any) -> None:
    """Pages are sorted by code and complete."""
    rules: list[v1.Rule] = []
    token = ""
    while True:
        page = stub.ListRules(v1.ListRulesRequest(page_size=7, page_token=token))
        rules += page.rules
        token = page.next_page_token
        if not token:
            break
        assert 7 == len(page.rules)

    assert sorted(CATALOGUE) == [rule.code for rule in rules]
    rule = next(rule for rule in rules if rule.code == "REQUEST_ID_IN_USE")
    assert (
        v1.Rule(
            code="REQUEST_ID_IN_USE",
            severity=verdict_pb2.SEVERITY_ERROR,
            protocol_versions=["2026-07-28"],
            spec_url="https://modelcontextprotocol.io/specification/2026-07-28/basic#requests",
            requirement=CATALOGUE["REQUEST_ID_IN_USE"].requirement,
            subjects=["JSONRPCMessage"],
        )
        == rule
    )


def test_rules_can_be_filtered_by_version(stub: Any) -> None:
    """A large page has all rules of the version."""
    for version in ("2024-11-05", "2026-07-28"):
        request = v1.ListRulesRequest(protocol_version=version, page_size=2000)
        expected = sorted(code for code, rule in CATALOGUE.items() if rule.holds_in(version))
        assert expected == [rule.code for rule in stub.ListRules(request).rules]


def test_a_page_has_a_hundred_rules_by_default(stub: Any) -> None:
    """The default is that of pages of tools."""
    assert min(100, len(CATALOGUE)) == len(stub.ListRules(v1.ListRulesRequest()).rules)


def test_invalid_pages_are_rejected(stub: Any) -> None:
    """A token of another list is invalid."""
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
        with pytest.raises(grpc.RpcError) as raised:
            stub.ListRules(request)
        assert reason == error_info_of(raised.value).reason
