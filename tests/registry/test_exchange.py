"""Exports of registries: their lines, and errors of invalid lines."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.types import Document
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.registry.exchange import DamagedExport, export_lines, read_export
from sidecheck_server.registry.location import PostgresLocation, RegistryLocation
from sidecheck_server.registry.opening import open_registry
from support.definitions import define_tool
from support.running_postgres import RunningPostgres

Tools = Mapping[str, Sequence[Definition]]

OLDER = define_tool("é", version="2024-11-05", spaces=1)
REFERRING = define_tool("b", documents=(Document("urn:a", b"\xff"), Document("urn:b", b"{}")))
TEXT = (
    '{"format":"sidecheck-registry","version":1,"tools":3}\n'
    f'{{"server":"a","digest":"{REFERRING.digest}","protocol_version":"2025-11-25",'
    '"definition":"{\\"name\\": \\"b\\", \\"inputSchema\\": {\\"type\\": \\"object\\"}}",'
    '"documents":[{"uri":"urn:a","json":{"base64":"/w=="}},{"uri":"urn:b","json":"{}"}]}\n'
    f'{{"server":"a","digest":"{OLDER.digest}","protocol_version":"2024-11-05",'
    '"definition":"{\\"name\\": \\"é\\", \\"inputSchema\\": {\\"type\\": \\"object\\"}} ",'
    '"documents":[]}\n'
    f'{{"server":"ß","digest":"{OLDER.digest}","protocol_version":"2024-11-05",'
    '"definition":"{\\"name\\": \\"é\\", \\"inputSchema\\": {\\"type\\": \\"object\\"}} ",'
    '"documents":[]}\n'
)


def export_of(servers: Tools, location: RegistryLocation = None) -> bytes:
    """Register the tools of *servers* at *location*, and return the export of all that it has."""
    with closing(open_registry(location)) as registry:
        for server, definitions in servers.items():
            registry.register(server, definitions, keep=None)
        return b"".join(f"{line}\n".encode() for line in export_lines(registry))


def test_an_export_is_sorted_lines() -> None:
    """Texts stay as they are; documents that are no text are in base64. There is no revision."""
    text = export_of({"ß": [OLDER], "a": [OLDER, REFERRING]})

    assert TEXT == text.decode()
    assert {"a": [REFERRING, OLDER], "ß": [OLDER]} == read_export(text.splitlines(keepends=True))
    assert b'{"format":"sidecheck-registry","version":1,"tools":0}\n' == export_of({})
    assert {} == read_export([export_of({})])


def with_line(number: int, **values: Any) -> list[bytes]:
    """Return the lines of an export, one of them with other *values*."""
    lines = TEXT.encode().splitlines()
    lines[number - 1] = json.dumps({**json.loads(lines[number - 1]), **values}).encode()
    return lines


LINES = TEXT.encode().splitlines()
NO_HEADER = 'line 1: is not the header of an export; expected {"format":"sidecheck-registry",…}'
NO_TOOL = (
    "line 3: is not a tool; expected an object with the strings server, digest, protocol_version "
    "and definition, and with documents"
)
NO_COUNT = "line 1: does not say how many tools follow; expected a number"
ONE_LINE = "expected an object on one line"
NO_DEFINITION = "line 3: has a definition that is not a tool definition"
SCHEMA = '"inputSchema":{"type":"object"}'


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param([], NO_HEADER, id="nothing"),
        pytest.param(LINES[1:], NO_HEADER, id="no header"),
        pytest.param([b'{"tools": []}'], NO_HEADER, id="a list of tools"),
        pytest.param([b"[]"], "line 1: is not an object; expected a JSON object", id="a list"),
        pytest.param([b"\x1f\x8b\x08"], f"line 1: is not JSON; {ONE_LINE}", id="compressed"),
        pytest.param(
            with_line(1, version=2), "line 1: is of another version; expected 1", id="version"
        ),
        pytest.param(with_line(1, tools="3"), NO_COUNT, id="no number"),
        pytest.param(with_line(1, tools=-1), NO_COUNT, id="a negative number"),
        pytest.param(with_line(1, tools=True), NO_COUNT, id="true"),
        pytest.param(
            LINES[:3],
            "line 3: is the last line, after 2 tools; the header says 3",
            id="a line too few",
        ),
        pytest.param(
            with_line(1, tools=2),
            "line 4: is the last line, after 3 tools; the header says 2",
            id="a line too many",
        ),
        pytest.param(
            LINES[:1], "line 1: is the last line, after 0 tools; the header says 3", id="no lines"
        ),
        pytest.param(
            [*LINES[:3], LINES[3][:40]], f"line 4: is not JSON; {ONE_LINE}", id="a part of a line"
        ),
        pytest.param(
            [*LINES[:2], b"", *LINES[2:]], f"line 3: is not JSON; {ONE_LINE}", id="an empty line"
        ),
        pytest.param(
            [LINES[0], b"[" * 100_000], f"line 2: is not JSON; {ONE_LINE}", id="nested deep"
        ),
        pytest.param(
            [*LINES[:2], LINES[1], *LINES[3:]],
            "line 3: repeats a tool of an earlier line; expected each tool once",
            id="a tool twice",
        ),
        pytest.param(
            with_line(3, digest=REFERRING.digest),
            "line 3: has a definition that does not match its digest; it has " + OLDER.digest,
            id="another digest",
        ),
        pytest.param(
            with_line(3, definition=OLDER.json.decode().replace("object", "integer")),
            f"line 3: has a definition that does not match its digest; it has {OLDER.digest[:7]}",
            id="another definition",
        ),
        pytest.param(with_line(3, definition="{"), NO_DEFINITION, id="a definition in part"),
        pytest.param(with_line(3, definition="{}"), NO_DEFINITION, id="no name and schema"),
        pytest.param(
            with_line(3, definition='{"name":"\\ud800",' + SCHEMA + "}"),
            NO_DEFINITION,
            id="a name that is no text",
        ),
        pytest.param(
            with_line(3, protocol_version="2020-01-01"),
            f"line 3: has an unknown protocol version; expected one of {', '.join(VERSIONS)}",
            id="an unknown version",
        ),
        pytest.param(
            with_line(3, server=""),
            "line 3: has a server of 0 characters; expected 1 to 256",
            id="a server without a name",
        ),
        pytest.param(
            with_line(3, server="é" * 1257),
            "line 3: has a server of 1,257 characters; expected 1 to 256",
            id="a long server",
        ),
        pytest.param(with_line(3, server="\ud800"), NO_TOOL, id="a server that is no text"),
        pytest.param(with_line(3, server=None), NO_TOOL, id="a server that is null"),
        pytest.param(with_line(3, documents=None), NO_TOOL, id="no documents"),
        pytest.param(with_line(3, documents=[{}]), NO_TOOL, id="a document without a URI"),
        pytest.param(
            with_line(3, definition={"base64": "?"}), NO_TOOL, id="a definition in another base"
        ),
        pytest.param(with_line(3, definition={"base64": 1}), NO_TOOL, id="a number in base64"),
        pytest.param(with_line(3, definition=[]), NO_TOOL, id="a definition that is a list"),
    ],
)
def test_lines_that_were_not_exported(lines: list[bytes], message: str) -> None:
    """The error has the first invalid line and its fault; no line is imported."""
    with pytest.raises(DamagedExport) as raised:
        read_export(lines)

    assert str(raised.value).startswith(message)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
documents = st.builds(
    Document, texts, st.binary(max_size=8) | texts.map(str.encode) | st.just(b"{}")
)
definitions = st.builds(
    define_tool,
    texts,
    st.dictionaries(
        texts, st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | texts
    ),
    st.lists(documents, max_size=2).map(tuple),
    version=st.sampled_from(VERSIONS),
    spaces=st.integers(0, 2),
)
registries = st.dictionaries(
    texts | st.text("ab", min_size=250, max_size=256), st.lists(definitions, max_size=4), max_size=3
)


def names_of(servers: Tools) -> set[tuple[str, str]]:
    """Return the servers and names of all tools."""
    return {(server, tool.name) for server, tools in servers.items() for tool in tools}


@pytest.mark.parametrize(("kind", "examples"), [("memory", 200), ("file", 25), ("database", 25)])
def test_an_export_of_an_import_is_the_export(
    postgres: RunningPostgres, tmp_path: Path, kind: str, examples: int
) -> None:
    """Both are equal byte for byte for any registry."""
    files = (tmp_path / f"{number}.db" for number in count())

    def locate() -> RegistryLocation:
        match kind:
            case "memory":
                return None
            case "file":
                return next(files)
            case _:
                return PostgresLocation(postgres.uri(postgres.create_database()))

    @settings(max_examples=examples, deadline=None)
    @given(registries)
    def check(servers: Tools) -> None:
        exported = export_of(servers, locate())
        imported = read_export(exported.splitlines(keepends=True))

        assert exported == export_of(imported, locate())
        assert names_of(servers) == names_of(imported)

    check()
