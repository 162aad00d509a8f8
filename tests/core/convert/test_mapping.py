"""Mappings are written, read again unchanged, and rejected if they are invalid."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.mapping import ToolMapping, mapping_from_json, mapping_to_json
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from support.mapping_texts import DIGEST, text

DECODER: dict[str, Any] = {
    "nulls": ["a", "b"],
    "renamed": {"a_b": "a b"},
    "properties": {
        "a": {"items": {"json_text": True}, "prefix": [None, {"ref": "d0"}]},
        "b": {"entries": {"name": "name", "value": "value", "each": {"ref": "d0"}}},
        "c": {"values": {"wrapped": "input", "inner": {"also": [{}]}}},
    },
    "any_of": [
        {
            "when": {
                "types": ["object", "null"],
                "required": ["a"],
                "only": [],
                "constants": {"kind": ["a", 1, None, True]},
            },
            "as": {"ref": "d0"},
        },
        {"when": {}},
    ],
    "ref": "d1",
    "defs": {"d0": {"properties": {"again": {"ref": "d0"}}}, "d1": {"ref": "d0"}},
}


@pytest.mark.parametrize("server", ["s", ""])
@pytest.mark.parametrize(
    "decoder", [None, DECODER, {}], ids=["no guide", "a guide", "an empty guide"]
)
@pytest.mark.parametrize("provider", list(ModelApi))
def test_a_mapping_is_read_as_it_was_written(
    provider: ModelApi, decoder: dict[str, Any] | None, server: str
) -> None:
    mapping = ToolMapping(provider, "n", server, "t", DIGEST, strict=False, decoder=decoder)

    assert mapping == mapping_from_json(mapping_to_json(mapping), Limits())


def test_a_mapping_is_a_json_object_with_its_version() -> None:
    """Absent values are not written."""
    mapping = ToolMapping(ModelApi.GEMINI, "n", "", "t", DIGEST, strict=False, decoder=None)

    assert {
        "sidecheck_mapping": 1,
        "api": "gemini",
        "name": "n",
        "tool": "t",
        "definition_digest": DIGEST,
        "strict": False,
    } == json.loads(mapping_to_json(mapping))


def test_a_mapping_too_large_to_be_read_is_not_written() -> None:
    """The name of a tool may be nearly as long as its definition."""
    mapping = ToolMapping(
        ModelApi.GEMINI, "n", "", "t" * (256 << 10), DIGEST, strict=False, decoder=None
    )
    with pytest.raises(RequestError) as excinfo:
        mapping_to_json(mapping)

    assert ErrorReason.NOT_CONVERTIBLE is excinfo.value.reason


@pytest.mark.parametrize(
    ("mapping", "pointer", "code", "message"),
    [
        pytest.param(b"", "", "PAYLOAD_NOT_JSON", "it is empty", id="nothing"),
        pytest.param(b"{", "", "PAYLOAD_NOT_JSON", "ends before", id="half of a mapping"),
        pytest.param(b'{"api":1,"api":2}', "", "DUPLICATE_KEY", "duplicate key", id="a key twice"),
        pytest.param(b"[]", "", "MAPPING_WRONG_TYPE", "found an empty array", id="an array"),
        pytest.param(b"null", "", "MAPPING_WRONG_TYPE", "found null", id="null"),
        pytest.param(
            b"{}", "", "MAPPING_PROPERTY_MISSING", 'requires "sidecheck_mapping"', id="no version"
        ),
        pytest.param(
            b'{"tools": []}',
            "",
            "MAPPING_PROPERTY_MISSING",
            "send it as the conversion returned it",
            id="another document",
        ),
        *[
            pytest.param(
                text(**{name: ...}), "", "MAPPING_PROPERTY_MISSING", f'"{name}"', id=f"no {name}"
            )
            for name in ("api", "name", "tool", "definition_digest", "strict")
        ],
        pytest.param(
            text(sidecheck_mapping=2, later=1),
            "/sidecheck_mapping",
            "MAPPING_VERSION",
            "expected 1, found version 2",
            id="a later version",
        ),
        pytest.param(
            text(sidecheck_mapping=True),
            "/sidecheck_mapping",
            "MAPPING_VERSION",
            "a boolean",
            id="true",
        ),
        pytest.param(
            text(sidecheck_mapping=1.0),
            "/sidecheck_mapping",
            "MAPPING_VERSION",
            "a number",
            id="1.0",
        ),
        pytest.param(
            text(more=1), "/more", "MAPPING_UNKNOWN_PROPERTY", '"more"', id="unknown property"
        ),
        pytest.param(text(api="other"), "/api", "MAPPING_WRONG_VALUE", "openai-chat,", id="no api"),
        pytest.param(text(api=1), "/api", "MAPPING_WRONG_TYPE", "an integer", id="api is a number"),
        pytest.param(text(name=""), "/name", "MAPPING_WRONG_VALUE", "is empty", id="an empty name"),
        pytest.param(
            text(tool=["t"]), "/tool", "MAPPING_WRONG_TYPE", "1 item", id="tool is an array"
        ),
        pytest.param(text(server=""), "/server", "MAPPING_WRONG_VALUE", "empty", id="empty server"),
        pytest.param(
            text(server=None), "/server", "MAPPING_WRONG_TYPE", "null", id="server is null"
        ),
        pytest.param(
            text(definition_digest="sha256:0"),
            "/definition_digest",
            "MAPPING_WRONG_VALUE",
            "64 lower-case hexadecimal digits",
            id="half of a digest",
        ),
        pytest.param(
            text(strict=1), "/strict", "MAPPING_WRONG_TYPE", "true or false", id="strict 1"
        ),
        pytest.param(
            text(decoder=[]),
            "/decoder",
            "MAPPING_WRONG_TYPE",
            "an object",
            id="decoder is an array",
        ),
    ],
)
def test_an_invalid_mapping_is_rejected(
    mapping: bytes, pointer: str, code: str, message: str
) -> None:
    """The error has the location, the fault and the expected value."""
    with pytest.raises(RequestError) as excinfo:
        mapping_from_json(mapping, Limits())

    assert ErrorReason.INVALID_MAPPING is excinfo.value.reason
    assert {"pointer": pointer, "code": code} == excinfo.value.metadata
    assert message in excinfo.value.message


def deep(levels: int) -> Any:
    decoder: Any = {}
    for _ in range(levels):
        decoder = {"items": decoder}
    return decoder


@pytest.mark.parametrize(
    ("mapping", "bound"),
    [
        pytest.param(text(deep(127)), "schema_depth", id="too deep"),
        pytest.param(
            text({}).replace(b"{}", b'{"items":' * 20_000 + b"{}" + b"}" * 20_000),
            "schema_depth",
            id="far too deep",
        ),
        pytest.param(text({"also": [{}] * 10_000}), "subschemas", id="too many decoders"),
        pytest.param(text(name="n" * (256 << 10)), "schema_bytes", id="too large"),
    ],
)
def test_a_mapping_beyond_a_limit_is_rejected(mapping: bytes, bound: str) -> None:
    """The limits are those of schemas; decoders may nest twice as deep."""
    with pytest.raises(RequestError) as excinfo:
        mapping_from_json(mapping, Limits())

    assert (ErrorReason.LIMIT_EXCEEDED, bound) == (
        excinfo.value.reason,
        excinfo.value.metadata["bound"],
    )


def test_a_mapping_at_the_limits_is_read() -> None:
    """The limits are the depth and the number of decoders."""
    widest: Any = {"also": [{}] * 9_999}
    for decoder in (deep(126), widest):
        assert decoder == mapping_from_json(text(decoder), Limits()).decoder
