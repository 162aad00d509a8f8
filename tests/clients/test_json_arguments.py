"""Every method of the client that takes JSON reads it by one rule."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import BaseModel, Field
from sidecheck import (
    Arguments,
    BlockingClient,
    CallParams,
    CallResult,
    Client,
    ConversionClient,
    Document,
    Elicitation,
    ElicitationResult,
    InferenceClient,
    Item,
    ModelApi,
    ProtocolClient,
    ProtocolContext,
    ProtocolMessage,
    RegisteredTool,
    Sampling,
    Schema,
    Session,
    SidecheckError,
    Stream,
    StructuredContent,
    ToolDefinition,
    ToolResult,
    ToolToConvert,
    Validator,
)
from sidecheck._async.registry import RegistryMethods
from support.running import RunningServer
from support.scripted_calls import capture, scripted_client


class Model(BaseModel):
    """A model with an alias and an optional property."""

    label: str = Field(serialization_alias="name")
    note: str | None = None


@dataclass
class Record:
    """A dataclass with an optional property."""

    name: str
    note: str | None = None


TARGET = RegisteredTool("s", "n")

#: The parameters that take a payload: the method, how to pass the JSON, where it is sent.
PAYLOADS: list[Any] = [
    ("validate", "arguments", lambda c, j: c.validate(TARGET, j), "subject.arguments"),
    (
        "validate_structured_content",
        "content",
        lambda c, j: c.validate_structured_content(TARGET, j),
        "subject.structured_content",
    ),
    (
        "validate_batch",
        "arguments",
        lambda c, j: c.validate_batch([Item(Arguments(j), TARGET)]),
        "items.0.subject.arguments",
    ),
    (
        "validate_batch",
        "content",
        lambda c, j: c.validate_batch([Item(StructuredContent(j), TARGET)]),
        "items.0.subject.structured_content",
    ),
    (
        "protocol.normalize_tool_result",
        "value",
        lambda c, j: c.protocol.normalize_tool_result(j),
        "value",
    ),
]

#: The parameters that take JSON of the protocol, in the same form.
PROTOCOL: list[Any] = [
    (
        "validate_call",
        "params",
        lambda c, j: c.validate_call(TARGET, j),
        "subject.call_params",
    ),
    (
        "validate_call_result",
        "result",
        lambda c, j: c.validate_call_result(TARGET, j),
        "subject.call_result",
    ),
    (
        "validate_batch",
        "params",
        lambda c, j: c.validate_batch([Item(CallParams(j), TARGET)]),
        "items.0.subject.call_params",
    ),
    (
        "validate_batch",
        "result",
        lambda c, j: c.validate_batch([Item(CallResult(j), TARGET)]),
        "items.0.subject.call_result",
    ),
    (
        "validate",
        "Schema.json",
        lambda c, j: c.validate(Schema(j), {}),
        "target.inline_schema.json",
    ),
    (
        "validate",
        "Document.json",
        lambda c, j: c.validate(Schema(True, (Document("u", j),)), {}),
        "target.inline_schema.documents.0.json",
    ),
    (
        "validate",
        "ToolDefinition.json",
        lambda c, j: c.validate(ToolDefinition(j), {}),
        "target.inline_tool.json",
    ),
    ("register", "tools", lambda c, j: c.register("s", j), "tools.0.json"),
    ("register", "tools[0]", lambda c, j: c.register("s", [j]), "tools.0.json"),
    (
        "register",
        "ToolDefinition.json",
        lambda c, j: c.register("s", ToolDefinition(j)),
        "tools.0.json",
    ),
    ("compare", "tools", lambda c, j: c.compare(j, []), "old.tools.0.json"),
    ("compare", "tools[0]", lambda c, j: c.compare([], [j]), "new.tools.0.json"),
    (
        "compare",
        "ToolDefinition.json",
        lambda c, j: c.compare([], ToolDefinition(j)),
        "new.tools.0.json",
    ),
    ("protocol.check_tools", "tools_list", lambda c, j: c.protocol.check_tools(j), "tools_list"),
    (
        "protocol.check_tools",
        "tools[0]",
        lambda c, j: c.protocol.check_tools(definitions=iter([j])),
        "tools.0.json",
    ),
    (
        "protocol.check_names",
        "client_capabilities",
        lambda c, j: c.protocol.check_names([], context=ProtocolContext(client_capabilities=j)),
        "context.client_capabilities",
    ),
    (
        "protocol.check_names",
        "server_capabilities",
        lambda c, j: c.protocol.check_names([], context=ProtocolContext(server_capabilities=j)),
        "context.server_capabilities",
    ),
    (
        "protocol.check_elicitation",
        "params",
        lambda c, j: c.protocol.check_elicitation(j),
        "elicitation.params",
    ),
    (
        "protocol.check_elicitation_result",
        "result",
        lambda c, j: c.protocol.check_elicitation_result(j),
        "elicitation_result.result",
    ),
    (
        "protocol.check_elicitation_result",
        "params",
        lambda c, j: c.protocol.check_elicitation_result({}, params=j),
        "elicitation_result.params",
    ),
    (
        "protocol.check_sampling",
        "params",
        lambda c, j: c.protocol.check_sampling(j),
        "sampling.params",
    ),
    (
        "protocol.check_tool_result",
        "result",
        lambda c, j: c.protocol.check_tool_result(j),
        "tool_result.json",
    ),
    (
        "protocol.check_message",
        "message",
        lambda c, j: c.protocol.check_message(j),
        "message.json",
    ),
    (
        "protocol.check_message",
        "request",
        lambda c, j: c.protocol.check_message({}, request=j),
        "message.request",
    ),
    *[
        (
            "protocol.check_batch",
            path.rpartition(".")[2].replace("json", name),
            lambda c, j, kind=kind: c.protocol.check_batch([kind(j)]),
            f"items.0.{path}",
        )
        for kind, name, path in (
            (Elicitation, "params", "elicitation.params"),
            (ElicitationResult, "result", "elicitation_result.result"),
            (Sampling, "params", "sampling.params"),
            (ToolResult, "result", "tool_result.json"),
            (ProtocolMessage, "message", "message.json"),
        )
    ],
    (
        "protocol.normalize_tool_result",
        "content",
        lambda c, j: c.protocol.normalize_tool_result(content=j),
        "content",
    ),
    (
        "protocol.normalize_tool_result",
        "result",
        lambda c, j: c.protocol.normalize_tool_result(result=j),
        "result",
    ),
    (
        "conversion.convert_tools",
        "tools",
        lambda c, j: c.conversion.convert_tools(ModelApi.OLLAMA, j),
        "tools.0.tool.inline_tool.json",
    ),
    (
        "conversion.convert_tools",
        "tools[0]",
        lambda c, j: c.conversion.convert_tools(ModelApi.OLLAMA, [ToolToConvert(j)]),
        "tools.0.tool.inline_tool.json",
    ),
    (
        "conversion.convert_tool_call",
        "call",
        lambda c, j: c.conversion.convert_tool_call(j, []),
        "call",
    ),
    (
        "conversion.convert_tool_call",
        "mappings",
        lambda c, j: c.conversion.convert_tool_call({}, j),
        "mappings.0",
    ),
    (
        "conversion.convert_tool_call",
        "mappings",
        lambda c, j: c.conversion.convert_tool_call({}, [j]),
        "mappings.0",
    ),
    (
        "conversion.convert_tool_result",
        "result",
        lambda c, j: c.conversion.convert_tool_result(ModelApi.OLLAMA, j),
        "result.json",
    ),
    (
        "inference.adapt_tool",
        "tool",
        lambda c, j: c.inference.adapt_tool(j),
        "tool.inline_tool.json",
    ),
]

#: Public methods without JSON, and those whose items `test_streams_read_json_likewise` covers.
OTHERS = {
    "close",
    "conversion",
    "delete",
    "delete_all",
    "get",
    "inference",
    "inference.infer_tools",
    "info",
    "list",
    "min_revision",
    "on_unavailable",
    "protocol",
    "protocol.list_rules",
    "protocol.session",
    "stream",
    "validate_stream",
    "watch",
}

FORMS: list[Any] = [
    pytest.param(b'{"name": "n"}', b'{"name": "n"}', id="bytes"),
    pytest.param(b'{"name": "n"}', bytearray(b'{"name": "n"}'), id="bytearray"),
    pytest.param(b'{"name": "n"}', memoryview(b'{"name": "n"}'), id="memoryview"),
    pytest.param(b'{"name":"n"}', {"name": "n"}, id="object"),
    pytest.param(b'{"name":"n","note":null}', {"name": "n", "note": None}, id="null of an object"),
    pytest.param(b'{"name":"n"}', MappingProxyType({"name": "n"}), id="mapping"),
]


def ids(rows: list[Any]) -> list[str]:
    return [f"{method} {name}" for method, name, *_ in rows]


def sent(call: Callable[[BlockingClient, Any], object], value: Any, path: str) -> object:
    """Return what *call* sends for *value*, at *path* in the request."""
    (request,) = capture(scripted_client(), lambda client: call(client, value))
    inner: Any = request
    for name in path.split("."):
        inner = inner[int(name)] if name.isdecimal() else getattr(inner, name)
    result: object = inner
    return result


@pytest.mark.parametrize(("expected", "value"), FORMS)
@pytest.mark.parametrize(
    ("method", "name", "call", "path"), PAYLOADS + PROTOCOL, ids=ids(PAYLOADS + PROTOCOL)
)
def test_bytes_are_text_and_objects_are_encoded(
    expected: bytes, value: Any, method: str, name: str, call: Any, path: str
) -> None:
    """Text is sent unchanged, and a null in a mapping is data."""
    assert expected == sent(call, value, path)


@pytest.mark.parametrize("value", [Model(label="n"), Record("n")], ids=["model", "dataclass"])
@pytest.mark.parametrize(("method", "name", "call", "path"), PAYLOADS, ids=ids(PAYLOADS))
def test_objects_in_payloads_keep_their_nulls(
    value: Any, method: str, name: str, call: Any, path: str
) -> None:
    """Models are encoded by alias."""
    assert b'{"name":"n","note":null}' == sent(call, value, path)


@pytest.mark.parametrize("value", [Model(label="n"), Record("n")], ids=["model", "dataclass"])
@pytest.mark.parametrize(("method", "name", "call", "path"), PROTOCOL, ids=ids(PROTOCOL))
def test_objects_of_the_protocol_omit_nulls(
    value: Any, method: str, name: str, call: Any, path: str
) -> None:
    """The protocol has no null for a property that is absent."""
    assert b'{"name":"n"}' == sent(call, value, path)


@pytest.mark.parametrize(("method", "name", "call", "path"), PAYLOADS, ids=ids(PAYLOADS))
def test_a_str_is_a_string_in_a_payload(method: str, name: str, call: Any, path: str) -> None:
    """It may look like JSON text."""
    assert b'"{}"' == sent(call, "{}", path)


@pytest.mark.parametrize(("method", "name", "call", "path"), PROTOCOL, ids=ids(PROTOCOL))
def test_a_str_is_an_error_elsewhere(method: str, name: str, call: Any, path: str) -> None:
    """The message names the parameter and the remedy; nothing is sent."""
    with pytest.raises(TypeError) as raised:
        sent(call, '{"name": "n"}', path)
    # What it could be meant as, where a server could be named.
    server = "; ServerTools(name) are the tools of a server" if path == "old.tools.0.json" else ""
    assert (
        f"{name} must not be a str; pass bytes for JSON text, as in text.encode(),"
        f" or the decoded value{server}"
    ) == str(raised.value)


@pytest.mark.parametrize(
    ("method", "name", "call", "path"), PAYLOADS + PROTOCOL, ids=ids(PAYLOADS + PROTOCOL)
)
def test_values_without_a_json_form_are_errors(
    method: str, name: str, call: Any, path: str
) -> None:
    """The message has the parameter and the location; nothing is sent."""
    with pytest.raises(ValueError, match=r": /a/0 is of type complex, which has no JSON") as raised:
        sent(call, {"a": [1j]}, path)
    assert str(raised.value).startswith(f"{name}: ")


def test_every_public_method_is_in_a_table() -> None:
    """A method is added to a table here, or to the methods without JSON."""
    clients = (
        ("", Client),
        ("", RegistryMethods),
        ("", Validator),
        ("protocol.", ProtocolClient),
        ("conversion.", ConversionClient),
        ("inference.", InferenceClient),
    )
    public = {prefix + name for prefix, kind in clients for name in vars(kind) if name[0] != "_"}
    assert public == OTHERS | {method for method, *_ in PAYLOADS + PROTOCOL}
    assert {"check", "finish"} == {name for name in vars(Session) if name[0] != "_"}
    assert {"finish", "send"} == {name for name in vars(Stream) if name[0] != "_"}


def test_streams_read_json_likewise(shared_server: RunningServer) -> None:
    """An item that cannot be sent has an error; the session raises it."""
    message = "params must not be a str; pass bytes for JSON text"
    schema, params = Schema({"type": "string"}), '{"name": "n"}'
    with BlockingClient(shared_server.address, timeout=120) as client:
        items: list[tuple[str, Item]] = [
            ("payload", Item(Arguments("{}"))),
            ("text", Item(Arguments(b"{}"))),
            ("model", Item(Arguments(Record("n")))),
            ("params", Item(CallParams(params))),  # type: ignore[arg-type]
        ]
        outcomes: dict[str, Any] = dict(client.validate_stream(items, target=schema))
        error = outcomes.pop("params")
        assert isinstance(error, SidecheckError)
        assert message in error.message
        assert {"payload": True, "text": False, "model": False} == {
            id_: outcome.valid for id_, outcome in outcomes.items()
        }
        with client.protocol.session() as session:
            with pytest.raises(TypeError, match="message must not be a str; pass bytes"):
                session.check('{"id": 1}')
            assert session.check(b"{").verdict.violations
