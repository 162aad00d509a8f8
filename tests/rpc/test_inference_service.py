"""InferTools with a real server: examples, shared cases, hostile sources."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from grpc_health.v1 import health_pb2, health_pb2_grpc
from sidecheck.v1 import inference_service_pb2 as v1
from sidecheck.v1 import target_pb2
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceStub
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.mapping.inference import inferred_to_proto
from support.inference_sources import SOURCES
from support.running import RunningServer
from support.shared_material import REPOSITORY
from support.wire import error_info_of

SECRET = "hunter2"
CASES = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in sorted((REPOSITORY / "tests" / "cases" / "infer").glob("*.json"))
    for case in json.loads(path.read_text())["cases"]
]
SERVER = '''\
from mcp.server.fastmcp import Context, FastMCP
from elsewhere import Query, Session

server = FastMCP("weather")


@server.tool()
def get_forecast(city: str, days: int = 3, context: Context = None) -> list[float]:
    """Tells how warm it gets.

    Args:
        city: The name of the city.
    """


@server.tool()
async def search(query: Query, session: Session, limit=10) -> str:
    """Searches stations."""


class Stations:
    def add(self, name: str, private: bool) -> None:
        """Adds a station."""
'''
FORECAST: Any = {
    "name": "get_forecast",
    "description": "Tells how warm it gets.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The name of the city."},
            "days": {"type": "integer", "default": 3},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "array", "items": {"type": "number"}},
}
SEARCH = {
    "name": "search",
    "description": "Searches stations.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {}, "limit": {"default": 10}},
        "required": ["query"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "string"},
}
ADD = {
    "name": "add",
    "description": "Adds a station.",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    },
}


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield InferenceServiceStub(channel)


def request_for(source: str | bytes, **more: Any) -> v1.InferToolsRequest:
    text = source.encode() if isinstance(source, str) else source
    return v1.InferToolsRequest(source=text, **more)


def reported(response: v1.InferToolsResponse) -> list[tuple[str, str, str, int]]:
    """Return code, function, parameter and line of each diagnostic."""
    return [
        (diagnostic.code, diagnostic.function, diagnostic.parameter, diagnostic.line)
        for diagnostic in response.diagnostics
    ]


def test_tools_and_diagnostics_of_a_source(stub: Any) -> None:
    """Functions that cannot be inferred have diagnostics and do not affect others."""
    response = stub.InferTools(request_for(SERVER))
    (tool,) = response.tools

    assert (FORECAST, "get_forecast", 8, digest_of(FORECAST)) == (
        json.loads(tool.json),
        tool.function,
        tool.line,
        tool.definition_digest,
    )
    assert [
        ("UNRESOLVED_NAME", "search", "query", 17),
        ("UNRESOLVED_NAME", "search", "session", 17),
        ("MISSING_ANNOTATION", "search", "limit", 17),
    ] == reported(response)


def test_a_diagnostic_has_a_source_range(stub: Any) -> None:
    """Lines and columns count from 1, in characters."""
    response = stub.InferTools(request_for("def f(ö: str, a: Query): ..."))
    (diagnostic,) = MessageToDict(response)["diagnostics"]

    assert diagnostic.pop("message").startswith(
        "Query is neither defined in the source nor imported"
    )
    assert {
        "code": "UNRESOLVED_NAME",
        "severity": "SEVERITY_ERROR",
        "line": 1,
        "column": 18,
        "endLine": 1,
        "endColumn": 23,
        "function": "f",
        "parameter": "a",
    } == diagnostic


def test_options_select_functions_and_injected_parameters(stub: Any) -> None:
    """Every option of the request is applied."""
    response = stub.InferTools(
        request_for(
            SERVER,
            functions=["search", "Stations.add", "gone"],
            on_unsupported="ON_UNSUPPORTED_ANY",
            injected_types=["Session"],
            injected_parameters=["private"],
        )
    )

    assert [SEARCH, ADD] == [json.loads(tool.json) for tool in response.tools]
    assert ["search", "Stations.add"] == [tool.function for tool in response.tools]
    assert [
        ("UNKNOWN_FUNCTION", "gone", "", 0),
        ("UNRESOLVED_NAME", "search", "query", 17),
        ("MISSING_ANNOTATION", "search", "limit", 17),
    ] == reported(response)


def test_a_definition_can_be_adapted(stub: Any) -> None:
    """A canonical definition is wrapped where the protocol version requires it."""
    (tool,) = stub.InferTools(request_for(SERVER)).tools
    target = target_pb2.Target(inline_tool=target_pb2.InlineTool(json=tool.json))
    wrapped_properties = [
        stub.AdaptTool(v1.AdaptToolRequest(tool=target, protocol_version=version)).wrapped_property
        for version in ("2025-06-18", "2026-07-28")
    ]

    assert ["result", ""] == wrapped_properties


@pytest.mark.parametrize("case", CASES)
def test_a_shared_case(case: dict[str, Any], stub: Any) -> None:
    """The server returns what the core returns."""
    response = stub.InferTools(request_for(case["source"]))
    expected_result = case["want"]

    assert expected_result["tools"] == [json.loads(tool.json) for tool in response.tools]
    assert expected_result["diagnostics"] == [
        [diagnostic.code, diagnostic.line, diagnostic.column] for diagnostic in response.diagnostics
    ]


def test_a_source_without_functions_has_no_tools(stub: Any) -> None:
    """The response to an empty text is empty too."""
    assert [v1.InferToolsResponse()] * 2 == [
        stub.InferTools(request_for(text)) for text in ("", "x = 1")
    ]


@pytest.mark.parametrize(
    ("code", "source"),
    [
        pytest.param("SYNTAX_ERROR", b"(" * (64 << 10), id="parentheses"),
        pytest.param("SYNTAX_ERROR", b"def f(a: int\0): ...", id="null byte"),
        pytest.param("SYNTAX_ERROR", b"\0" * (64 << 10), id="null bytes"),
        pytest.param("SYNTAX_ERROR", b"def f(a: '\xff'): ...", id="invalid UTF-8"),
        pytest.param("SYNTAX_ERROR", "def f(): ...".encode("utf-16"), id="UTF-16"),
        pytest.param("TOO_DEEP", b"x = " + b"-" * 65_000 + b"1", id="unary operators"),
    ],
)
def test_an_unparseable_source_has_one_diagnostic(code: str, source: bytes, stub: Any) -> None:
    """Syntax errors are diagnostics, not request errors."""
    response = stub.InferTools(request_for(source))

    assert ([], [code]) == (
        list(response.tools),
        [diagnostic.code for diagnostic in response.diagnostics],
    )


@pytest.mark.parametrize("name", SOURCES)
def test_hostile_sources_are_not_executed(name: str, stub: Any) -> None:
    """The response equals that of the core, within the worker's time limit."""
    source = SOURCES[name][: 256 << 10]
    response = stub.InferTools(request_for(source))

    assert inferred_to_proto(infer_tools(source, InferenceOptions(), Limits())) == response
    assert not Path("/tmp/inferred").exists()


@pytest.mark.parametrize(
    ("expected", "request_"),
    [
        pytest.param(
            ("LIMIT_EXCEEDED", {"bound": "source_bytes", "limit": "262144", "found": "263168"}),
            request_for(b" " * (257 << 10)),
            id="257 KiB",
        ),
        pytest.param(
            ("LIMIT_EXCEEDED", {"bound": "batch_items", "limit": "10000", "found": "10001"}),
            request_for(b"", functions=["f"] * 10_001),
            id="too many names",
        ),
        pytest.param(
            ("INVALID_REQUEST", {"field": "on_unsupported"}),
            request_for(b"", on_unsupported=9),
            id="an unknown enum value",
        ),
    ],
)
def test_invalid_requests_are_rejected(expected: Any, request_: Any, stub: Any) -> None:
    """The error names the limit or the field."""
    with pytest.raises(grpc.RpcError) as raised:
        stub.InferTools(request_)
    request_error = error_info_of(raised.value)

    assert expected == (request_error.reason, dict(request_error.metadata))


def test_slow_sources_are_rejected(tmp_path: Path) -> None:
    """Only the time limit of workers ends Python's parser."""
    running = RunningServer(
        tmp_path,
        SIDECHECK_LIMITS__SOURCE_BYTES="1000000",
        SIDECHECK_LIMITS__COMPILE_SECONDS="1",
        SIDECHECK_LIMITS__WORKER_BYTES=str(2 << 30),
    )
    try:
        with grpc.insecure_channel(running.address) as channel:
            stub: Any = InferenceServiceStub(channel)
            with pytest.raises(grpc.RpcError) as raised:
                stub.InferTools(request_for("x=lambda:0\n" * 90_000))
            after = stub.InferTools(request_for("def f(): ..."))
    finally:
        running.close()
    request_error = error_info_of(raised.value)

    assert ("LIMIT_EXCEEDED", {"bound": "compile_seconds", "limit": "1"}) == (
        request_error.reason,
        dict(request_error.metadata),
    )
    assert ["f"] == [tool.function for tool in after.tools]


@pytest.mark.parametrize(
    ("flags", "environment"),
    [(["--no-inference"], {}), ([], {"SIDECHECK_INFERENCE": "false"})],
    ids=["flag", "variable"],
)
def test_inference_can_be_disabled(
    flags: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    """Adaptation and the health status are unaffected."""
    running = RunningServer(tmp_path, *flags, **environment)
    tool = target_pb2.Target(inline_tool=target_pb2.InlineTool(json=json.dumps(ADD).encode()))
    try:
        with grpc.insecure_channel(running.address) as channel:
            stub: Any = InferenceServiceStub(channel)
            with pytest.raises(grpc.RpcError) as raised:
                stub.InferTools(request_for(b"def f(): ..."))
            adapted = stub.AdaptTool(v1.AdaptToolRequest(tool=tool))
            health: Any = health_pb2_grpc.HealthStub(channel)
            name = "sidecheck.v1.InferenceService"
            status = health.Check(health_pb2.HealthCheckRequest(service=name)).status
    finally:
        running.close()
    request_error = error_info_of(raised.value)

    assert (grpc.StatusCode.FAILED_PRECONDITION, "FEATURE_DISABLED", {"setting": "inference"}) == (
        raised.value.code(),
        request_error.reason,
        dict(request_error.metadata),
    )
    assert ADD == json.loads(adapted.json)
    assert health_pb2.HealthCheckResponse.SERVING == status


def test_the_log_has_only_counts_and_codes(server: RunningServer) -> None:
    """No names, values or messages are logged."""
    source = f'''
from {SECRET} import Other
@tool(name="{SECRET}")
def {SECRET}({SECRET}: int = 3, b: str = "{SECRET}"): "{SECRET}"
@tool
def {SECRET}2(a: Other, {SECRET}): ...
'''
    with grpc.insecure_channel(server.address) as channel:
        stub: Any = InferenceServiceStub(channel)
        stub.InferTools(request_for(source, functions=[SECRET, f"{SECRET}2", f"{SECRET}3"]))
        stub.InferTools(request_for(f"def {SECRET}(: {SECRET}"))
        stub.InferTools(request_for(source, functions=[SECRET]))
        with pytest.raises(grpc.RpcError):
            stub.InferTools(request_for(SECRET * 40_000, injected_types=[SECRET]))
    text = server.log_text()
    events = [event for event in server.events if event.get("method") == "InferTools"]
    fields = ("event", "level", "tools", "errors", "codes", "reason")

    assert SECRET not in text
    assert [
        {
            "event": "rpc.completed",
            "level": "info",
            "tools": 1,
            "errors": 2,
            "codes": ["MISSING_ANNOTATION", "UNKNOWN_FUNCTION", "UNRESOLVED_NAME"],
        },
        {
            "event": "rpc.completed",
            "level": "info",
            "tools": 0,
            "errors": 1,
            "codes": ["SYNTAX_ERROR"],
        },
        {"event": "rpc.completed", "level": "debug", "tools": 1, "errors": 0, "codes": []},
        {"event": "rpc.rejected", "level": "info", "reason": "LIMIT_EXCEEDED"},
    ] == [{key: event[key] for key in fields if key in event} for event in events]
