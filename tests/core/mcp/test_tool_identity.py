"""Identity of definitions: what `read_tool` returned has it when it is read again."""

import json

import pytest
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import ToolIdentity, identify_tool, read_tool
from sidecheck_server.core.types import Document
from support.shared_material import read_records, shared

SCHEMA = b'{"type":"object"}'
DOCUMENTS = (Document("urn:b", b"1"), Document("urn:a", b"{}"))


@pytest.mark.parametrize("documents", [(), DOCUMENTS])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b' {"inputSchema": {"type": "object"}, "name": "a"} ', id="as it is sent"),
        pytest.param(b'{"name":"","inputSchema":{},"outputSchema":{}}', id="an empty name"),
        pytest.param(
            b'{"name":"a","title":null,"outputSchema":null,"annotations":{"title":null},'
            b'"inputSchema":{"default":null}}',
            id="nulls of what is not set",
        ),
        pytest.param(
            b'{"name":"a","input_schema":{"type":"object"},"output_schema":{"x":1.0},'
            b'"annotations":{"read_only_hint":true}}',
            id="names of Python",
        ),
        pytest.param(
            b'{"name":"a","title":null,"inputSchema":{"maximum":1e300,"minimum":-0.0,'
            b'"multipleOf":1e-7,"default":[9007199254740993,18446744073709551615,0.1]}}',
            id="numbers, written anew",
        ),
        pytest.param(
            '{"name":"ä\U0001f9f0","title":null,"inputSchema":{"\U0001f9f0":1,"\ufffd":"\\u0000/"}}'.encode(),
            id="texts, written anew",
        ),
    ],
)
def test_a_definition_that_was_read_keeps_its_identity(
    text: bytes, documents: tuple[Document, ...]
) -> None:
    """A definition that was rewritten for the protocol keeps it too."""
    tool = read_tool(text, documents, Limits())

    assert ToolIdentity(
        tool.name, tool.digest, tool.input_digest, tool.output_digest
    ) == identify_tool(tool.json, documents)


@pytest.mark.parametrize("documents", [(), DOCUMENTS])
def test_the_digests_equal_those_of_the_values(documents: tuple[Document, ...]) -> None:
    """Each digest is that of the canonical JSON of the schema or the definition."""
    tool = {"z": [1.5], "name": "a", "outputSchema": {"b": 1, "a": {}}, "inputSchema": {}}
    identity = ToolIdentity(
        "a",
        digest_of(tool, documents),  # type: ignore[arg-type]
        digest_of({}, documents),
        digest_of({"b": 1, "a": {}}, documents),
    )

    assert identity == identify_tool(json.dumps(tool).encode(), documents)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"name":"a"}',
        b'{"inputSchema":{}}',
        b'{"name":1,"inputSchema":{}}',
        b'{"name":"a","inputSchema":{},"outputSchema":null}',
        b'{"name":"a","inputSchema":{},"name":"a"}',
        b'{"name":"a","inputSchema":{"a":' + b"[" * 5000 + b"]" * 5000 + b"}}",
    ],
)
def test_an_unreadable_definition_has_no_identity(text: bytes) -> None:
    """The function does not raise for any content of a damaged file."""
    assert identify_tool(text, ()) is None


@pytest.mark.corpus
def test_published_definitions_keep_their_identity() -> None:
    """The digests that are made of one serialization are those of several."""
    for record in read_records(shared("corpus/tools.jsonl.gz")):
        tool = record["tool"]
        identity = identify_tool(json.dumps(tool).encode(), ())
        output = tool.get("outputSchema")
        assert (
            ToolIdentity(
                tool["name"],
                digest_of(tool),
                digest_of(tool["inputSchema"]),
                None if output is None else digest_of(output),
            )
            == identity
        )
