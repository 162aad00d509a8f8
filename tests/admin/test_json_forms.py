"""The JSON form of messages: exact bytes, names, alternatives, and rejected input."""

import json
from typing import Any

import pytest
from google.protobuf.message import Message
from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    options_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
    verdict_pb2,
)
from sidecheck.wire.rpcs import RPCS
from sidecheck_server.admin import json_shapes
from sidecheck_server.admin.json_requests import read_request
from sidecheck_server.admin.json_shapes import Form, shape_of
from sidecheck_server.core.errors import RequestError

MODULES = (
    conversion_service_pb2,
    inference_service_pb2,
    options_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
    verdict_pb2,
)

_EXACT = b'{ "a":1.0,"a": 1e400 ,"\\u0061":[ "\\ud83d\\ude00" ],"n":123456789012345678901234567890}'


def validate(body: bytes) -> validation_service_pb2.ValidateRequest:
    """Return the request to validate in *body*."""
    message = read_request(validation_service_pb2.ValidateRequest, body)
    assert isinstance(message, validation_service_pb2.ValidateRequest)
    return message


def test_json_keeps_its_bytes() -> None:
    """Duplicate keys, spellings of numbers, escapes and white space are those of the body."""
    request = validate(b'{"tool":' + _EXACT + b' , "arguments"  :  ' + _EXACT + b"}")

    assert _EXACT == request.target.inline_tool.json
    assert _EXACT == request.subject.arguments


def test_null_is_a_value_of_json_and_absent_elsewhere() -> None:
    """A payload may be null; an option that is null has its default."""
    request = validate(b'{"schema": true, "arguments": null, "options": null, "server": null}')

    assert b"null" == request.subject.arguments
    assert not request.HasField("options")
    assert "inline_schema" == request.target.WhichOneof("target")


def test_json_may_be_in_a_string() -> None:
    """The output of a model may not be JSON."""
    request = validate(rb'{"schema_text": "{\"type\":", "arguments_text": "{\"a\u0022"}')

    assert b'{"type":' == request.target.inline_schema.json
    assert b'{"a"' == request.subject.arguments


@pytest.mark.parametrize(
    ("properties", "target"),
    [
        (
            {"server": "s", "name": "t"},
            {"registered_tool": target_pb2.RegisteredTool(server="s", name="t")},
        ),
        (
            {"definition_digest": "d", "server": "s"},
            {"registered_tool": target_pb2.RegisteredTool(server="s", definition_digest="d")},
        ),
        ({"definition_digest": "d"}, {"definition_digest": "d"}),
        ({"schema_digest": "d"}, {"schema_digest": "d"}),
        (
            {"documents": [{"uri": "u", "json": 1}], "tool": {}},
            {
                "inline_tool": target_pb2.InlineTool(
                    json=b"{}", documents=[target_pb2.Document(uri="u", json=b"1")]
                )
            },
        ),
        (
            {"documents": [{"uri": "u", "json": 1}], "schema": {}, "default_dialect": "x"},
            {
                "inline_schema": target_pb2.InlineSchema(
                    json=b"{}",
                    documents=[target_pb2.Document(uri="u", json=b"1")],
                    default_dialect="x",
                )
            },
        ),
    ],
)
def test_a_target_is_properties_of_the_request(
    properties: dict[str, Any], target: dict[str, Any]
) -> None:
    """A digest beside a server pins it; documents belong to the tool or to the schema."""
    assert target_pb2.Target(**target) == validate(json.dumps(properties).encode()).target


def test_the_server_of_a_tool_depends_on_its_form() -> None:
    """With a name it is the server of the registration, with a definition its origin."""
    body = b'{"tools": [{"tool": {}, "server": "a"}, {"server": "a", "name": "t"}]}'
    request = read_request(conversion_service_pb2.ConvertToolsRequest, body)

    inline = target_pb2.Target(inline_tool=target_pb2.InlineTool(json=b"{}"))
    registered = target_pb2.Target(registered_tool=target_pb2.RegisteredTool(server="a", name="t"))
    assert request == conversion_service_pb2.ConvertToolsRequest(
        tools=[
            conversion_service_pb2.ToolToConvert(tool=inline, server="a"),
            conversion_service_pb2.ToolToConvert(tool=registered),
        ]
    )


def test_tools_stand_alone_or_with_documents() -> None:
    """Most have none."""
    alone: Any = read_request(registry_service_pb2.RegisterToolsRequest, b'{"tools": [{"a": 1}]}')
    body = b'{"tools_with_documents": [{"tool": {"a": 1}, "documents": [{"uri": "u", "json": 2}]}]}'
    together: Any = read_request(registry_service_pb2.RegisterToolsRequest, body)

    assert [b'{"a": 1}'] == [tool.json for tool in alone.tools]
    assert [(b'{"a": 1}', b"2")] == [(tool.json, tool.documents[0].json) for tool in together.tools]


def test_a_mark_is_true() -> None:
    """Absent structured content has no value."""
    marked = validate(b'{"absent_structured_content": true}')
    unmarked = validate(b'{"absent_structured_content": false}')

    assert marked.subject.HasField("absent_structured_content")
    assert not unmarked.subject.HasField("absent_structured_content")


def test_source_text_is_a_string() -> None:
    """It is no JSON."""
    request: Any = read_request(
        inference_service_pb2.InferToolsRequest, '{"source": "a = \'é\'"}'.encode()
    )

    assert "a = 'é'".encode() == request.source


@pytest.mark.parametrize(
    ("body", "message", "field"),
    [
        (b"{} x", "the body is not JSON: trailing characters at line 1, column 5", None),
        (b"\xef\xbb\xbf{}", "the body is not JSON: invalid character at line 1, column 1", None),
        (b"null", "expected an object, found null as the body", None),
        (
            b'{"arguments":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "the body nests too deeply",
            None,
        ),
        (b'{"tol": {}}', 'unknown property "tol"; did you mean "tool"?', "/tol"),
        (b'{"inputs": {}}', 'unknown property "inputs"', "/inputs"),
        (b'{"tool": {}, "schema": {}}', '"schema" and "tool" exclude each other', "/schema"),
        (b'{"server": "s", "tool": {}}', '"server" and "tool" exclude each other', "/tool"),
        (
            b'{"arguments": 1, "call_params": 1}',
            '"arguments" and "call_params" exclude each other',
            "/call_params",
        ),
        (
            b'{"tool": {}, "tool_text": ""}',
            '"tool" and "tool_text" exclude each other',
            "/tool_text",
        ),
        (b'{"documents": []}', '"documents" requires "schema" or "tool"', "/documents"),
        (
            b'{"options": {"details": "all"}}',
            'unknown property "details" in /options; did you mean "detail"?',
            "/options/details",
        ),
        (
            b'{"options": {"max_violations": 1.5}}',
            "expected an integer from 0 to 4,294,967,295, found 1.5 at /options/max_violations",
            "/options/max_violations",
        ),
        (
            b'{"options": {"max_violations": 4294967296}}',
            (
                "expected an integer from 0 to 4,294,967,295, found 4294967296 "
                "at /options/max_violations"
            ),
            "/options/max_violations",
        ),
        (
            b'{"options": {"max_violations": ' + b"9" * 5_000 + b"}}",
            (
                "expected an integer from 0 to 4,294,967,295, found a number "
                "at /options/max_violations"
            ),
            "/options/max_violations",
        ),
        (
            b'{"tool": {}, "documents": {}}',
            "expected an array, found an object at /documents",
            "/documents",
        ),
        (
            b'{"tool": {}, "documents": [{"uri": "u"}, {"url": "u"}]}',
            'unknown property "url" in /documents/1',
            "/documents/1/url",
        ),
        (
            b'{"name": "\\ud800"}',
            "the body is not JSON: it ends early, or an escape in it has half of a surrogate pair",
            None,
        ),
    ],
)
def test_an_invalid_request_is_rejected(body: bytes, message: str, field: str | None) -> None:
    """The error has the location and the name, and suggests the nearest valid name."""
    with pytest.raises(RequestError) as caught:
        validate(body)

    assert message == caught.value.message
    assert field == caught.value.metadata.get("field")


@pytest.mark.parametrize(
    "body",
    [
        b'{"items": [' + b"{}," * 100_000 + b"{}]}",
        b'{"items": [' + b'{"documents": [{}, {}, {}], "tool": 1},' * 20_000 + b"{}]}",
        b"{" + b",".join(b'"%d": 1' % number for number in range(100_001)) + b"}",
    ],
    ids=["elements", "nested elements", "properties"],
)
def test_the_values_of_a_body_are_bounded(body: bytes) -> None:
    """Each value takes time to parse."""
    with pytest.raises(RequestError) as caught:
        read_request(validation_service_pb2.ValidateBatchRequest, body)

    assert "body_values" == caught.value.metadata["bound"]


@pytest.mark.parametrize(
    "rpc", [rpc for rpc in RPCS if not rpc.streaming], ids=lambda rpc: rpc.name
)
def test_every_field_has_one_name(rpc: Any) -> None:
    """Two fields share a property only where a place before them decides which is meant."""
    allowed = {"definition_digest", "documents", "server"}
    for message in (rpc.request, rpc.response):
        for name, property_shape in shape_of(message.DESCRIPTOR).properties.items():
            assert len(property_shape.paths) == 1 or name in allowed


@pytest.mark.parametrize(
    "rpc", [rpc for rpc in RPCS if not rpc.streaming], ids=lambda rpc: rpc.name
)
def test_every_property_can_be_read(rpc: Any) -> None:
    """Each alone, where it needs no other."""
    values = {
        Form.JSON: {},
        Form.JSON_TEXT: "{}",
        Form.STRING: "a",
        Form.BOOLEAN: True,
        Form.INTEGER: 1,
        Form.OBJECT: {},
        Form.MARK: True,
    }
    for name, property_shape in shape_of(rpc.request.DESCRIPTOR).properties.items():
        if property_shape.form is Form.WORD or name == "documents":
            continue
        value = values[property_shape.form]
        body = json.dumps({name: [value] if property_shape.is_repeated else value})
        message: Message = read_request(rpc.request, body.encode())

        assert message.ListFields()


def test_the_tables_match_the_api() -> None:
    """A name of a removed field would be an exception without effect."""
    messages = {
        name: message
        for module in MODULES
        for name, message in module.DESCRIPTOR.message_types_by_name.items()
    }
    fields = {
        f"{name}.{field.name}" for name, message in messages.items() for field in message.fields
    }

    assert json_shapes.DISSOLVED <= messages.keys()
    assert json_shapes.TEXTS <= fields
    assert json_shapes.RENAMED.keys() <= fields
