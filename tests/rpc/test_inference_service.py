"""InferTools, through a real server: a transcript, the shared cases, and texts that mean harm."""

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
    """Return the code of each diagnostic, whom it is about, and its line."""
    return [
        (entry.code, entry.function, entry.parameter, entry.line) for entry in response.diagnostics
    ]


def test_a_transcript(stub: Any) -> None:
    """What can be told is; what cannot has its place, and does not affect the others."""
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


def test_a_diagnostic_has_its_place(stub: Any) -> None:
    """In characters, from 1, and its end."""
    response = stub.InferTools(request_for("def f(ö: str, a: Query): ..."))
    (found,) = MessageToDict(response)["diagnostics"]

    assert found.pop("message").startswith("Query is neither defined in the source nor imported")
    assert {
        "code": "UNRESOLVED_NAME",
        "severity": "SEVERITY_ERROR",
        "line": 1,
        "column": 18,
        "endLine": 1,
        "endColumn": 23,
        "function": "f",
        "parameter": "a",
    } == found


def test_options_say_what_is_inferred_and_what_is_no_argument(stub: Any) -> None:
    """Each of them."""
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
    """A natural one has any output schema, and a box where the version wants one."""
    (tool,) = stub.InferTools(request_for(SERVER)).tools
    target = target_pb2.Target(inline_tool=target_pb2.InlineTool(json=tool.json))
    boxes = [
        stub.AdaptTool(v1.AdaptToolRequest(tool=target, protocol_version=version)).wrapped_property
        for version in ("2025-06-18", "2026-07-28")
    ]

    assert ["result", ""] == boxes


@pytest.mark.parametrize("case", CASES)
def test_a_shared_case(case: dict[str, Any], stub: Any) -> None:
    """As in the core."""
    response = stub.InferTools(request_for(case["source"]))
    want = case["want"]

    assert want["tools"] == [json.loads(tool.json) for tool in response.tools]
    assert want["diagnostics"] == [
        [found.code, found.line, found.column] for found in response.diagnostics
    ]


def test_no_tools_are_an_answer(stub: Any) -> None:
    """Of a text without functions, and of none at all."""
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
        pytest.param("TOO_DEEP", b"x = " + b"-" * 65_000 + b"1", id="signs"),
    ],
)
def test_a_text_that_cannot_be_parsed_is_an_answer(code: str, source: bytes, stub: Any) -> None:
    """One error, and no tools."""
    response = stub.InferTools(request_for(source))

    assert ([], [code]) == (list(response.tools), [found.code for found in response.diagnostics])


@pytest.mark.parametrize("name", SOURCES)
def test_a_text_that_means_harm_is_answered(name: str, stub: Any) -> None:
    """As in the core, and within the seconds that a worker has; nothing of it runs."""
    source = SOURCES[name][: 64 << 10]
    response = stub.InferTools(request_for(source))

    assert inferred_to_proto(infer_tools(source, InferenceOptions(), Limits())) == response
    assert not Path("/tmp/inferred").exists()


@pytest.mark.parametrize(
    ("expected", "request_"),
    [
        pytest.param(
            ("LIMIT_EXCEEDED", {"bound": "source_bytes", "limit": "65536", "found": "66560"}),
            request_for(b" " * (65 << 10)),
            id="65 KiB",
        ),
        pytest.param(
            ("LIMIT_EXCEEDED", {"bound": "batch_items", "limit": "10000", "found": "10001"}),
            request_for(b"", functions=["f"] * 10_001),
            id="too many names",
        ),
        pytest.param(
            ("INVALID_REQUEST", {"field": "on_unsupported"}),
            request_for(b"", on_unsupported=9),
            id="an unknown word",
        ),
    ],
)
def test_what_cannot_be_done_is_rejected(expected: Any, request_: Any, stub: Any) -> None:
    """With the bound or the field."""
    with pytest.raises(grpc.RpcError) as error:
        stub.InferTools(request_)
    request_error = error_info_of(error.value)

    assert expected == (request_error.reason, dict(request_error.metadata))


def test_what_takes_too_long_is_rejected(tmp_path: Path) -> None:
    """For the seconds, since nothing else ends Python's parser."""
    running = RunningServer(
        tmp_path,
        SIDECHECK_LIMITS__SOURCE_BYTES="1000000",
        SIDECHECK_LIMITS__COMPILE_SECONDS="1",
        SIDECHECK_LIMITS__WORKER_BYTES=str(2 << 30),
    )
    try:
        with grpc.insecure_channel(running.address) as channel:
            stub: Any = InferenceServiceStub(channel)
            with pytest.raises(grpc.RpcError) as error:
                stub.InferTools(request_for("x=lambda:0\n" * 90_000))
            after = stub.InferTools(request_for("def f(): ..."))
    finally:
        running.close()
    request_error = error_info_of(error.value)

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
def test_it_can_be_switched_off(
    flags: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    """By itself: definitions are adapted, and the service is well."""
    running = RunningServer(tmp_path, *flags, **environment)
    tool = target_pb2.Target(inline_tool=target_pb2.InlineTool(json=json.dumps(ADD).encode()))
    try:
        with grpc.insecure_channel(running.address) as channel:
            stub: Any = InferenceServiceStub(channel)
            with pytest.raises(grpc.RpcError) as error:
                stub.InferTools(request_for(b"def f(): ..."))
            adapt_schema = stub.AdaptTool(v1.AdaptToolRequest(tool=tool))
            health: Any = health_pb2_grpc.HealthStub(channel)
            name = "sidecheck.v1.InferenceService"
            status = health.Check(health_pb2.HealthCheckRequest(service=name)).status
    finally:
        running.close()
    request_error = error_info_of(error.value)

    assert (grpc.StatusCode.FAILED_PRECONDITION, "FEATURE_DISABLED", {"setting": "inference"}) == (
        error.value.code(),
        request_error.reason,
        dict(request_error.metadata),
    )
    assert ADD == json.loads(adapt_schema.json)
    assert health_pb2.HealthCheckResponse.SERVING == status


def test_the_log_has_counts_and_codes_alone(server: RunningServer) -> None:
    """Nothing of a text: no names, no values, no messages."""
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
            stub.InferTools(request_for(SECRET * 10_000, injected_types=[SECRET]))
    text = server.log_text()
    events = [event for event in server.events if event.get("method") == "InferTools"]
    kept = ("event", "level", "tools", "errors", "codes", "reason")

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
    ] == [{key: event[key] for key in kept if key in event} for event in events]
