"""Attacks through agentgateway's ExtMcp: each has its answer, and bystanders have theirs.

A client of gRPC stands in for the gateway, with one connection for attacks and one for the
bystander.
"""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from attacks.exchanges import quotes
from attacks.requests import BAD_CALL, GOOD_CALL
from attacks.responses import BAD_RESULT, GOOD_RESULT, MARK
from sidecheck_server.gateways.generated.ext_mcp_pb2 import (
    AuthorizationError,
    McpHeader,
    McpRequest,
    McpRequestResult,
    McpResponse,
    McpResponseResult,
)
from support.gateway import ENFORCE
from support.http_mcp_server import TOOL
from support.running import RunningServer

_SECONDS = 180
_VERSION = "mcp-protocol-version"


def _member(text: bytes, name: str) -> bytes:
    return json.dumps(json.loads(text)[name]).encode()


BAD_PARAMS, GOOD_PARAMS = _member(BAD_CALL, "params"), _member(GOOD_CALL, "params")
BAD, GOOD = _member(BAD_RESULT, "result"), _member(GOOD_RESULT, "result")
TOOLS = json.dumps({"tools": [TOOL]}).encode()


def _request(
    params: bytes | None,
    method: str = "tools/call",
    *services: str,
    headers: tuple[tuple[str, bytes], ...] = ((_VERSION, b"2025-11-25"),),
    **metadata: str,
) -> McpRequest:
    request = McpRequest(
        service_names=services or ["echo"],
        method=method,
        mcp_request=params,
        headers=[McpHeader(key=key, value=value) for key, value in headers],
    )
    request.metadata_context.update({**ENFORCE, **metadata})
    return request


def _response(result: bytes, method: str = "tools/call", *services: str, **metadata: str) -> Any:
    response = McpResponse(service_names=services or ["echo"], method=method, mcp_response=result)
    handed_back = {"tool": "echo", "protocol_version": "2025-11-25"}
    response.metadata_context.update({**ENFORCE, **handed_back, **metadata})
    return response


def _texts(valid: bytes) -> dict[str, bytes]:
    """Return texts derived from *valid* that are not JSON objects in UTF-8, by name."""
    return {
        "nothing": b"",
        "null": b"null",
        "an array": b"[%b]" % valid,
        "UTF-16": valid.decode().encode("utf-16"),
        "UTF-16LE": valid.decode().encode("utf-16-le"),
        "a mark": b"\xef\xbb\xbf" + valid,
        "gzip": gzip.compress(valid),
        "two objects": valid * 2,
        "an object and a bracket": valid + b"}",
        "a trailing comma": valid[:-1] + b",}",
        "300,000 quotes": quotes(300_000),
        "50,000 open objects": b'{"a":' * 50_000,
    }


def _nested(depth: int) -> bytes:
    """Return a message of gRPC whose metadata context nests *depth* objects."""
    context = b""
    for _ in range(depth):
        value = _field(5, context)
        context = _field(1, _field(1, b"a") + _field(2, value))
    number = McpRequest.DESCRIPTOR.fields_by_name["metadata_context"].number
    return _field(number, context)


def _field(number: int, content: bytes) -> bytes:
    """Return the field *number* of a message, with a length, in the encoding of Protobuf."""
    size, length = len(content), b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


_OBJECT = "params, and a result, are one JSON object in UTF-8"
_ONE_READING = "what readers may take for different messages does not pass"
_PAYLOAD = "limits.payload_bytes, and the depth of a payload"
_MESSAGE = "the largest message of gRPC, 4 MiB"
_SERVER = "a call is for one server, by a name of 1 to 256 characters"
_ROUTES = "policies are what the gateway says: headers of clients are not"
_DEFINITIONS = "a tool that is not valid is taken out of the list"
_UNVALIDATED = "what cannot be validated does not pass"
_NOTHING = "what is valid passes"

_BEYOND = "not validated by Sidecheck: LIMIT_EXCEEDED"
_UNLISTED = "UNKNOWN not validated by Sidecheck: TOOLS_NOT_LISTED"
_ARGUMENTS = "INVALID Input validation error: The arguments of the call to echo are not valid:"
_TWICE = "duplicate key in the object; JSON parsers disagree on which value counts"
_NO_NAME = "INVALID_ARGUMENT: the gateway must name the server, in 1 to 256 characters"
_NO_MESSAGE = (
    "INVALID_ARGUMENT: the request is not a message of the type agentgateway.dev.ext_mcp.McpRequest"
)
_NO_POLICY = (
    "INVALID_ARGUMENT: unknown policy for arguments from the gateway; "
    "expected one of enforce, audit, off"
)
_NO_TOOL = (
    "INVALID_ARGUMENT: the metadata of the gateway's processor must have tool: "
    "mcpGuardrails.sidecheck_tool"
)
_FAILED_TOOL = "mutated Output validation error: The result of echo is not valid:"

#: By name: the bound or rule that holds it, the message, and the first line of the answer.
ATTACKS: dict[str, tuple[str, Any, str]] = {
    **{
        f"params: {name}": (_OBJECT, _request(text), "INVALID params must be a JSON object")
        for name, text in _texts(BAD_PARAMS).items()
    },
    "params: none": (
        _OBJECT,
        _request(None),
        'INVALID Invalid params: missing required property "params" of tools/call',
    ),
    "params: a name twice": (
        _ONE_READING,
        _request(BAD_PARAMS.replace(b'"name"', b'"name":"none","name"')),
        f"INVALID Invalid request at /params/name: {_TWICE}",
    ),
    "params: an escaped name twice": (
        _ONE_READING,
        _request(BAD_PARAMS.replace(b'"arguments"', b'"arguments":{},"\\u0061rguments"')),
        f"INVALID Invalid request at /params/arguments: {_TWICE}",
    ),
    "params: another case": (
        _ONE_READING,
        _request(BAD_PARAMS.replace(b'"arguments"', b'"Arguments"')),
        "INVALID Invalid request: AMBIGUOUS_NAME at /params/Arguments",
    ),
    "params: NaN": (
        _ONE_READING,
        _request(BAD_PARAMS.replace(b"5", b"NaN")),
        "INVALID Parse error: not JSON: NaN and Infinity are not JSON numbers at line 1, column 93",
    ),
    "params: a key with a lone surrogate": (
        _ONE_READING,
        _request(BAD_PARAMS.replace(b'"name"', b'"\\ud800":1,"name"')),
        "INVALID params must be a JSON object",
    ),
    "params: 50,000 objects in each other": (
        _PAYLOAD,
        _request(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
        f"UNKNOWN {_BEYOND}",
    ),
    "params: 2 MB": (_PAYLOAD, _request(BAD_PARAMS.ljust(2_000_000)), f"UNKNOWN {_BEYOND}"),
    "params: 5 MB": (
        _MESSAGE,
        _request(BAD_PARAMS.ljust(5_000_000)),
        "RESOURCE_EXHAUSTED: SERVER: Received message larger than max (5000150 vs. 4194304)",
    ),
    "params of a call for a list": (
        "an unknown property is no fault",
        _request(BAD_PARAMS, "tools/list"),
        "pass",
    ),
    "no server": (_SERVER, _request(BAD_PARAMS, "tools/call", ""), _NO_NAME),
    "a server with a long name": (_SERVER, _request(BAD_PARAMS, "tools/call", "x" * 257), _NO_NAME),
    "a server twice": (_SERVER, _request(BAD_PARAMS, "tools/call", "echo", "echo"), _ARGUMENTS),
    "10,000 servers": (
        _SERVER,
        _request(BAD_PARAMS, "tools/call", *(f"server-{number}" for number in range(10_000))),
        _UNLISTED,
    ),
    "a tool that was not listed": (
        _UNVALIDATED,
        _request(GOOD_PARAMS.replace(b"echo", b"other")),
        _UNLISTED,
    ),
    "policies in headers": (
        _ROUTES,
        _request(BAD_PARAMS, headers=(("sidecheck-arguments", b"off"), ("arguments", b"off"))),
        _ARGUMENTS,
    ),
    "a version that is not known": (
        _ROUTES,
        _request(BAD_PARAMS, headers=((_VERSION, b"9999-01-01"),)),
        _ARGUMENTS,
    ),
    "a version that is not UTF-8": (
        _ROUTES,
        _request(BAD_PARAMS, headers=(("MCP-Protocol-Version", b"\xff\xfe"),)),
        _ARGUMENTS,
    ),
    "a policy that is none": (
        _ROUTES,
        _request(BAD_PARAMS, arguments="none"),
        _NO_POLICY,
    ),
    "metadata of 5,000 objects in each other": (
        "Protobuf's own bound on nesting",
        _nested(5_000),
        _NO_MESSAGE,
    ),
    "no message": (
        _MESSAGE,
        b"\xff" * 100,
        _NO_MESSAGE,
    ),
    "an invalid call": (_NOTHING, _request(BAD_PARAMS), _ARGUMENTS),
    "a valid call": (_NOTHING, _request(GOOD_PARAMS), "pass"),
    **{
        f"result: {name}": (_OBJECT, _response(text), "INVALID the result must be a JSON object")
        for name, text in _texts(BAD).items()
    },
    "result: structured content twice": (
        _ONE_READING,
        _response(BAD.replace(b'"structured', b'"structuredContent":{"n":1},"structured')),
        _FAILED_TOOL,
    ),
    "result: another case": (
        _ONE_READING,
        _response(GOOD.replace(b'"structured', b'"StructuredContent":{"n":"evil"},"structured')),
        "UNKNOWN the response is invalid: AMBIGUOUS_NAME at /result/StructuredContent",
    ),
    "result: NaN": (
        _ONE_READING,
        _response(BAD.replace(b"{", b'{"a":NaN,', 1)),
        "UNKNOWN the response is invalid: PAYLOAD_NOT_JSON at its root",
    ),
    "result: an error that is none": (
        _NOTHING,
        _response(BAD.replace(b"{", b'{"isError":"true",', 1)),
        _FAILED_TOOL,
    ),
    "result: a task that was not asked for": (
        "a stand-in for a result has been asked for",
        _response(BAD.replace(b"{", b'{"task":{"taskId":"1"},', 1)),
        _FAILED_TOOL,
    ),
    "result: one that is due in another version": (
        "a stand-in for a result is one of the version",
        _response(BAD.replace(b"{", b'{"resultType":"input_required",', 1)),
        _FAILED_TOOL,
    ),
    "result: 50,000 objects in each other": (
        _PAYLOAD,
        _response(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
        f"UNKNOWN {_BEYOND}",
    ),
    "result: 2 MB": (_PAYLOAD, _response(BAD.ljust(2_000_000)), f"UNKNOWN {_BEYOND}"),
    "result: of no tool": (
        _UNVALIDATED,
        _response(BAD, tool=""),
        _NO_TOOL,
    ),
    "result: of a tool that was not listed": (
        _UNVALIDATED,
        _response(BAD, tool="other"),
        _UNLISTED,
    ),
    "list: a tool whose schema is none": (
        _DEFINITIONS,
        _response(b'{"tools":[{"name":"evil","inputSchema":{"type":"int"}}]}', "tools/list", "new"),
        'mutated {"tools":[]}',
    ),
    "list: tools twice": (
        _ONE_READING,
        _response(b'{"tools":[],"tools":[{"name":"evil"}]}', "tools/list", "new"),
        "UNKNOWN the response is invalid: DUPLICATE_KEY at /result/tools",
    ),
    "list: another case": (
        _ONE_READING,
        _response(b'{"tools":[],"Tools":[{"name":"evil"}]}', "tools/list", "new"),
        "UNKNOWN the response is invalid: AMBIGUOUS_NAME at /result/Tools",
    ),
    "list: text": (
        _DEFINITIONS,
        _response(b'{"tools":"evil"}', "tools/list", "new"),
        "UNKNOWN the response is invalid: TYPE at /result/tools",
    ),
    "result: an invalid one": (_NOTHING, _response(BAD), _FAILED_TOOL),
    "result: a valid one": (_NOTHING, _response(GOOD), "pass"),
}


@pytest.fixture(scope="module")
def sidecheck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("ext_mcp"), SIDECHECK_GATEWAYS="ext_mcp")
    yield running
    running.close()


def _connect(address: str) -> grpc.Channel:
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
    return grpc.insecure_channel(address, options)


@pytest.fixture(scope="module")
def bystander(sidecheck: RunningServer) -> Iterator[grpc.Channel]:
    """Yield the connection of a gateway before a server whose tool is listed."""
    with _connect(sidecheck.address) as channel:
        assert check(channel, _response(TOOLS, "tools/list")) == ("pass", TOOLS)
        yield channel


@pytest.fixture
def attacker(sidecheck: RunningServer, bystander: grpc.Channel) -> Iterator[grpc.Channel]:
    """Yield another connection; at its end, a call of the bystander and its result pass."""
    with _connect(sidecheck.address) as channel:
        yield channel
    assert check(bystander, _request(GOOD_PARAMS)) == ("pass", GOOD_PARAMS)
    assert check(bystander, _response(GOOD)) == ("pass", GOOD)


def check(channel: grpc.Channel, message: Any) -> tuple[str, bytes]:
    """Return the first line of the answer to *message*, and what passes in its place."""
    is_response = isinstance(message, McpResponse)
    method: Any = channel.unary_unary(
        f"/agentgateway.dev.ext_mcp.ExtMcp/{'CheckResponse' if is_response else 'CheckRequest'}",
        request_serializer=lambda request: (
            request if isinstance(request, bytes) else request.SerializeToString()
        ),
        response_deserializer=(McpResponseResult if is_response else McpRequestResult).FromString,
    )
    try:
        answer = method(message, timeout=_SECONDS)
    except grpc.RpcError as error:
        status: Any = error
        return f"{status.code().name}: {status.details()}", b""
    match answer.WhichOneof("result"):
        case "error":
            code = AuthorizationError.Code.Name(answer.error.code)
            return f"{code} {answer.error.reason}".split("\n")[0], b""
        case "mutated":
            value = json.loads(answer.mutated)
            text = value["content"][0]["text"] if "content" in value else answer.mutated.decode()
            return f"mutated {text}".split("\n")[0], answer.mutated
    return "pass", message.mcp_response if is_response else message.mcp_request


def _serialize(message: Any) -> Any:
    return message if isinstance(message, bytes) else message.SerializeToString()


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_has_its_answer(attacker: grpc.Channel, name: str) -> None:
    """No invalid result passes."""
    rule, message, expected = ATTACKS[name]
    answer, passed = check(attacker, message)

    assert expected == answer, rule
    assert MARK not in passed.replace(b'\\"evil\\"', b"")


def test_calls_that_are_dropped(attacker: grpc.Channel) -> None:
    """There are as many calls as a connection may have."""
    method: Any = attacker.unary_unary(
        "/agentgateway.dev.ext_mcp.ExtMcp/CheckRequest",
        request_serializer=McpRequest.SerializeToString,
        response_deserializer=McpRequestResult.FromString,
    )
    for _ in range(100):
        method.future(_request(BAD_PARAMS), timeout=_SECONDS).cancel()
