"""Encoding of conversion requests by the Python client."""

import re
from typing import Any, cast

import pytest
from sidecheck import (
    CheckOptions,
    ConversionMode,
    ConversionOptions,
    Convertible,
    DefinitionDigest,
    Document,
    ModelApi,
    Options,
    ProtocolContext,
    RegisteredTool,
    ServerPrefix,
    Severity,
    ToolDefinition,
    ToolResult,
    ToolToConvert,
)
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.v1 import options_pb2 as options_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.wire import conversion
from sidecheck.wire.encoders.conversion_options import encode_conversion_options

REGISTERED = target_pb.Target(registered_tool=target_pb.RegisteredTool(server="s", name="n"))


def inline(json: bytes, *documents: target_pb.Document) -> target_pb.Target:
    """Return an inline target for a definition."""
    return target_pb.Target(inline_tool=target_pb.InlineTool(json=json, documents=documents))


@pytest.mark.parametrize(
    ("expected", "tool"),
    [
        pytest.param(
            conversion_pb.ToolToConvert(tool=inline(b'{"name":"n"}')), {"name": "n"}, id="object"
        ),
        pytest.param(conversion_pb.ToolToConvert(tool=inline(b"{ }")), b"{ }", id="bytes"),
        pytest.param(
            conversion_pb.ToolToConvert(
                tool=inline(b"{}", target_pb.Document(uri="u", json=b"true"))
            ),
            ToolDefinition(b"{}", (Document("u", True),)),
            id="definition with documents",
        ),
        pytest.param(
            conversion_pb.ToolToConvert(tool=REGISTERED), RegisteredTool("s", "n"), id="registered"
        ),
        pytest.param(
            conversion_pb.ToolToConvert(tool=target_pb.Target(definition_digest="sha256:d")),
            DefinitionDigest("sha256:d"),
            id="digest",
        ),
        pytest.param(
            conversion_pb.ToolToConvert(tool=inline(b"{}"), server="git"),
            ToolToConvert(ToolDefinition(b"{}"), "git"),
            id="with its server",
        ),
        pytest.param(
            conversion_pb.ToolToConvert(tool=inline(b"{}"), server="git"),
            ToolToConvert({}, "git"),
            id="an object with its server",
        ),
    ],
)
def test_tools_become_messages(expected: conversion_pb.ToolToConvert, tool: Convertible) -> None:
    """Plain JSON is encoded as a tool definition."""
    request = conversion.encode_tools(ModelApi.OLLAMA, [tool, tool], [], None)

    assert (
        conversion_pb.ConvertToolsRequest(api="MODEL_API_OLLAMA", tools=[expected, expected])
        == request
    )


def test_options_and_servers_become_messages() -> None:
    """All options are encoded, and none if the caller passes none."""
    options = ConversionOptions(
        mode=ConversionMode.STRICT_IF_LOSSLESS,
        server_prefix=ServerPrefix.NEVER,
        assume_closed=True,
        description_length=1024,
        include_output_schema=True,
        drop_defaults=True,
    )

    assert conversion_pb.ConvertToolsRequest(
        api="MODEL_API_OPENAI_CHAT",
        options=conversion_pb.ConversionOptions(
            mode="CONVERSION_MODE_STRICT_IF_LOSSLESS",
            server_prefix="SERVER_PREFIX_NEVER",
            assume_closed=True,
            description_length=1024,
            include_output_schema=True,
            drop_defaults=True,
        ),
        servers=["git", "time"],
    ) == conversion.encode_tools(ModelApi.OPENAI_CHAT, (), ("git", "time"), options)
    assert not conversion.encode_tools(ModelApi.OPENAI_CHAT, (), (), None).HasField("options")


def test_the_version_of_the_client_applies_unless_options_name_one() -> None:
    """Other options keep the server's defaults."""
    requests = [
        conversion.encode_tools(ModelApi.GEMINI, (), (), options, "2025-06-18")
        for options in (None, ConversionOptions(), ConversionOptions(protocol_version="2026-07-28"))
    ]

    assert ["2025-06-18", "2025-06-18", "2026-07-28"] == [
        request.options.protocol_version for request in requests
    ]


def test_the_defaults_match_the_server() -> None:
    """These are the values that the server uses for unspecified fields."""
    assert conversion_pb.ConversionOptions(
        mode="CONVERSION_MODE_COMPATIBLE", server_prefix="SERVER_PREFIX_AUTOMATIC"
    ) == encode_conversion_options(ConversionOptions())


def test_values_may_be_plain_strings() -> None:
    """Strings from a configuration need no conversion."""
    api: Any = "gemini-json"
    options = ConversionOptions(mode=cast("Any", "strict"), server_prefix=cast("Any", "always"))

    assert conversion_pb.ConvertToolsRequest(
        api="MODEL_API_GEMINI_JSON",
        options=conversion_pb.ConversionOptions(
            mode="CONVERSION_MODE_STRICT", server_prefix="SERVER_PREFIX_ALWAYS"
        ),
    ) == conversion.encode_tools(api, (), (), options)


@pytest.mark.parametrize(
    ("expected", "mappings"),
    [
        pytest.param([b'{"sidecheck_plan": 1}'], b'{"sidecheck_plan": 1}', id="bytes"),
        pytest.param([b'{"sidecheck_plan":1}'], {"sidecheck_plan": 1}, id="object"),
        pytest.param([b"{}", b'{"a":1}'], [b"{}", {"a": 1}], id="several"),
        pytest.param([], [], id="none"),
    ],
)
def test_calls_become_messages(expected: list[bytes], mappings: Any) -> None:
    """A single mapping is encoded as a list with one item."""
    assert conversion_pb.ConvertToolCallRequest(
        call=b'{"type":"tool_use"}', mappings=expected
    ) == conversion.encode_call({"type": "tool_use"}, mappings, None, None)


def test_calls_may_have_a_tool_and_options() -> None:
    """Tool and options are encoded as in a validation request."""
    request = conversion.encode_call(
        b"{", b"{}", RegisteredTool("s", "n"), Options(hide_values=True)
    )

    assert (b"{", REGISTERED, True) == (request.call, request.tool, request.options.hide_values)
    assert options_pb.ValidationOptions(
        detail="DETAIL_ALL",
        max_violations=20,
        unknown_arguments="UNKNOWN_ARGUMENTS_SCHEMA",
        coercion="COERCION_NONE",
        on_unknown_tool="ON_UNKNOWN_TOOL_ERROR",
        hide_values=True,
    ) == (request.options)


def test_results_become_messages() -> None:
    """Context and options are sent only if the caller passes them."""
    assert conversion_pb.ConvertToolResultRequest(
        api="MODEL_API_ANTHROPIC",
        result=protocol_pb.ToolResult(
            json=b'{"content":[]}', profile="RESULT_PROFILE_TEXT", tool=REGISTERED
        ),
        call_id="c",
        name="n",
        context=protocol_pb.ProtocolContext(protocol_version="2025-11-25"),
        options=protocol_pb.CheckOptions(max_violations=3, min_severity="SEVERITY_ERROR"),
    ) == conversion.encode_result(
        ModelApi.ANTHROPIC,
        ToolResult({"content": []}, "text", RegisteredTool("s", "n")),
        "c",
        "n",
        ProtocolContext("2025-11-25"),
        CheckOptions(max_violations=3, min_severity=Severity.ERROR),
    )
    minimal = conversion.encode_result(ModelApi.OLLAMA, ToolResult(b"{}"), "", "", None, None)
    assert [False, False] == [minimal.HasField(field) for field in ("context", "options")]


API: Any = "openai"
APIS = ", ".join(map(repr, map(str, ModelApi)))
WRONG: list[Any] = [
    pytest.param(
        ValueError,
        f"invalid API 'openai'; expected one of {APIS}",
        lambda: conversion.encode_tools(API, (), (), None),
        id="unknown API",
    ),
    pytest.param(
        ValueError,
        "invalid mode 'lax'; expected one of 'compatible', 'strict-if-lossless', 'strict'",
        lambda: encode_conversion_options(ConversionOptions(mode=cast("Any", "lax"))),
        id="unknown mode",
    ),
    pytest.param(
        TypeError,
        "options must be ConversionOptions, not ConversionMode",
        lambda: encode_conversion_options(cast("Any", ConversionMode.STRICT)),
        id="a mode for options",
    ),
    pytest.param(
        TypeError,
        "mappings must be those of ConvertedTools.mappings, not NoneType",
        lambda: conversion.encode_call({}, cast("Any", None), None, None),
        id="no mappings",
    ),
    pytest.param(
        TypeError,
        "tools must be definitions, one or an iterable of them, or a tools/list result, not int",
        lambda: conversion.encode_tools(ModelApi.OLLAMA, cast("Any", 5), (), None),
        id="a number for tools",
    ),
    pytest.param(
        TypeError,
        "servers must be an iterable of strings, not a single string",
        lambda: conversion.encode_tools(ModelApi.OLLAMA, (), "git", None),
        id="single server",
    ),
    pytest.param(
        TypeError,
        "invalid target of type list; pass a RegisteredTool or ToolDefinition",
        lambda: conversion.encode_tools(ModelApi.OLLAMA, [cast("Any", [])], (), None),
        id="no tool",
    ),
]


@pytest.mark.parametrize(("kind", "message", "encode"), WRONG)
def test_invalid_arguments_are_errors(kind: type[Exception], message: str, encode: Any) -> None:
    """Arguments are checked before a request is sent."""
    with pytest.raises(kind, match=re.escape(message)):
        encode()
