"""The Python client translates what is to be converted into the messages of requests."""

import re
from typing import Any, cast

import pytest
from sidecheck import (
    CheckOptions,
    ConversionOptions,
    Convertible,
    DefinitionDigest,
    Document,
    Mode,
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
from sidecheck.wire import conversion_requests as requests

REGISTERED = target_pb.Target(registered_tool=target_pb.RegisteredTool(server="s", name="n"))


def inline(json: bytes, *documents: target_pb.Document) -> target_pb.Target:
    """Return the target that a definition sent along is."""
    return target_pb.Target(inline_tool=target_pb.InlineTool(json=json, documents=documents))


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param(
            conversion_pb.ToolToConvert(tool=inline(b'{"name":"n"}')), {"name": "n"}, id="object"
        ),
        pytest.param(conversion_pb.ToolToConvert(tool=inline(b"{ }")), "{ }", id="text"),
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
def test_tools_become_messages(expected: conversion_pb.ToolToConvert, given: Convertible) -> None:
    """Bare JSON is a definition, as it is for a registration."""
    request = requests.tools_request(ModelApi.OLLAMA, [given, given], [], None)

    assert (
        conversion_pb.ConvertToolsRequest(api="MODEL_API_OLLAMA", tools=[expected, expected])
        == request
    )


def test_options_and_servers_become_messages() -> None:
    """All of them, and none where the caller gives none."""
    how = ConversionOptions(
        mode=Mode.STRICT_IF_LOSSLESS,
        server_prefix=ServerPrefix.NEVER,
        assume_closed=True,
        description_length=1024,
        include_output_schema=True,
    )

    assert conversion_pb.ConvertToolsRequest(
        api="MODEL_API_OPENAI_CHAT",
        options=conversion_pb.ConversionOptions(
            mode="CONVERSION_MODE_STRICT_IF_LOSSLESS",
            server_prefix="SERVER_PREFIX_NEVER",
            assume_closed=True,
            description_length=1024,
            include_output_schema=True,
        ),
        servers=["git", "time"],
    ) == requests.tools_request(ModelApi.OPENAI_CHAT, (), ("git", "time"), how)
    assert not requests.tools_request(ModelApi.OPENAI_CHAT, (), (), None).HasField("options")


def test_the_defaults_are_those_of_the_server() -> None:
    """What is unspecified on the wire means these."""
    assert conversion_pb.ConversionOptions(
        mode="CONVERSION_MODE_COMPATIBLE", server_prefix="SERVER_PREFIX_AUTOMATIC"
    ) == requests.options(ConversionOptions())


@pytest.mark.parametrize(
    ("labels", "table"),
    [
        pytest.param(conversion_pb.ModelApi.keys(), requests.APIS, id="APIs"),
        pytest.param(conversion_pb.ConversionMode.keys(), requests.MODES, id="modes"),
        pytest.param(conversion_pb.ServerPrefix.keys(), requests.PREFIXES, id="prefixes"),
    ],
)
def test_words_are_those_of_the_api(labels: list[str], table: dict[str, str]) -> None:
    """A label added to the API without a word for it fails."""
    assert {label for label in labels if not label.endswith("_UNSPECIFIED")} == set(table.values())


def test_words_may_be_plain_strings() -> None:
    """As they come out of a configuration."""
    api: Any = "gemini-json"
    how = ConversionOptions(mode=cast("Any", "strict"), server_prefix=cast("Any", "always"))

    assert conversion_pb.ConvertToolsRequest(
        api="MODEL_API_GEMINI_JSON",
        options=conversion_pb.ConversionOptions(
            mode="CONVERSION_MODE_STRICT", server_prefix="SERVER_PREFIX_ALWAYS"
        ),
    ) == requests.tools_request(api, (), (), how)


@pytest.mark.parametrize(
    ("expected", "plans"),
    [
        pytest.param([b'{"sidecheck_plan": 1}'], b'{"sidecheck_plan": 1}', id="one, as text"),
        pytest.param([b"{}"], "{}", id="one, as a string"),
        pytest.param([b'{"sidecheck_plan":1}'], {"sidecheck_plan": 1}, id="one, as an object"),
        pytest.param([b"{}", b'{"a":1}'], [b"{}", {"a": 1}], id="several"),
        pytest.param([], [], id="none"),
    ],
)
def test_calls_become_messages(expected: list[bytes], plans: Any) -> None:
    """One plan stands for a list of it."""
    assert conversion_pb.ConvertToolCallRequest(
        call=b'{"type":"tool_use"}', mappings=expected
    ) == requests.call_request({"type": "tool_use"}, plans, None, None)


def test_calls_may_say_their_tool_and_options() -> None:
    """As those of a validation."""
    request = requests.call_request(
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
    """With all that is known of them, or nothing."""
    assert conversion_pb.ConvertToolResultRequest(
        api="MODEL_API_ANTHROPIC",
        result=protocol_pb.ToolResult(
            json=b'{"content":[]}', profile="RESULT_PROFILE_TEXT", tool=REGISTERED
        ),
        call_id="c",
        name="n",
        context=protocol_pb.ProtocolContext(protocol_version="2025-11-25"),
        options=protocol_pb.CheckOptions(max_violations=3, min_severity="SEVERITY_ERROR"),
    ) == requests.result_request(
        ModelApi.ANTHROPIC,
        ToolResult({"content": []}, "text", RegisteredTool("s", "n")),
        "c",
        "n",
        ProtocolContext("2025-11-25"),
        CheckOptions(max_violations=3, min_severity=Severity.ERROR),
    )
    bare = requests.result_request(ModelApi.OLLAMA, ToolResult(b"{}"), "", "", None, None)
    assert [False, False] == [bare.HasField(field) for field in ("context", "options")]


API: Any = "openai"
APIS = ", ".join(map(repr, map(str, ModelApi)))
WRONG: list[Any] = [
    pytest.param(
        ValueError,
        f"the API is one of {APIS}, not 'openai'",
        lambda: requests.tools_request(API, (), (), None),
        id="an API that there is not",
    ),
    pytest.param(
        ValueError,
        "the mode is one of 'compatible', 'strict_if_lossless', 'strict', not 'lax'",
        lambda: requests.options(ConversionOptions(mode=cast("Any", "lax"))),
        id="a mode that there is not",
    ),
    pytest.param(
        TypeError,
        "options are ConversionOptions, not a Mode",
        lambda: requests.options(cast("Any", Mode.STRICT)),
        id="a mode for options",
    ),
    pytest.param(
        TypeError,
        "plans are those of `ConvertedTools.plans`, not a NoneType",
        lambda: requests.call_request("{}", cast("Any", None), None, None),
        id="no plans",
    ),
    pytest.param(
        TypeError,
        "tools are given as several, not as one",
        lambda: requests.tools_request(ModelApi.OLLAMA, cast("Any", {"name": "n"}), (), None),
        id="one tool",
    ),
    pytest.param(
        TypeError,
        "servers are given as several strings, not as one",
        lambda: requests.tools_request(ModelApi.OLLAMA, (), "git", None),
        id="one server",
    ),
    pytest.param(
        TypeError,
        "a list is no target; give a ToolDefinition, for example",
        lambda: requests.tools_request(ModelApi.OLLAMA, [cast("Any", [])], (), None),
        id="no tool",
    ),
]


@pytest.mark.parametrize(("kind", "said", "asked"), WRONG)
def test_what_cannot_be_meant_is_said(kind: type[Exception], said: str, asked: Any) -> None:
    """Before anything is sent."""
    with pytest.raises(kind, match=re.escape(said)):
        asked()
