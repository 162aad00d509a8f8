"""Verification of stored definitions when a file is opened."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sidecheck_server.core.types import Document
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.sqlite import open_registry
from support.definitions import define_tool

DOCUMENTS = (Document("urn:d", b'{"type": "string"}'),)
TOOLS = (
    define_tool("a", {"description": "Pays 100 €"}),
    define_tool("b", {"outputSchema": {"type": "object"}}, DOCUMENTS),
    define_tool("c"),
)


def write_and_change(path: Path, statement: str) -> None:
    """Create a registry of two servers, then execute *statement* on its database."""
    with closing(open_registry(path)) as registry:
        registry.register("mine", TOOLS, keep=None)
        registry.register("other", TOOLS, keep=None)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute(statement).rowcount == 1


@pytest.mark.parametrize(
    ("statement", "position"),
    [
        pytest.param(
            "UPDATE tool SET json = CAST(replace(CAST(json AS TEXT), '100', '900') AS BLOB)"
            " WHERE server = 'mine' AND name = 'a'",
            0,
            id="a letter of a text",
        ),
        pytest.param(
            "UPDATE tool SET json = X'7B' WHERE server = 'mine' AND name = 'a'",
            0,
            id="a text that is not JSON",
        ),
        pytest.param(
            "UPDATE tool SET json = X'5B5D' WHERE server = 'mine' AND name = 'b'",
            1,
            id="a text that is not a definition",
        ),
        pytest.param(
            "UPDATE tool SET digest = 'sha256:00' WHERE server = 'mine' AND name = 'c'",
            2,
            id="a digest",
        ),
        pytest.param(
            "UPDATE tool SET input_schema_digest = digest WHERE server = 'mine' AND name = 'c'",
            2,
            id="the digest of the input schema",
        ),
        pytest.param(
            "UPDATE tool SET output_schema_digest = NULL WHERE server = 'mine' AND name = 'b'",
            1,
            id="the digest of the output schema",
        ),
        pytest.param(
            "UPDATE tool SET name = 'd' WHERE server = 'mine' AND name = 'a'", 2, id="the name"
        ),
        pytest.param(
            "UPDATE document SET json = X'7B7D' WHERE server = 'mine'", 1, id="a document"
        ),
        pytest.param(
            "UPDATE document SET uri = 'urn:e' WHERE server = 'mine'", 1, id="the URI of a document"
        ),
        pytest.param("DELETE FROM document WHERE server = 'mine'", 1, id="a missing document"),
    ],
)
def test_an_altered_definition_makes_the_file_unusable(
    tmp_path: Path, statement: str, position: int
) -> None:
    """The error names the file, the server and the position, and nothing of the definition."""
    path = tmp_path / "registry.db"
    write_and_change(path, statement)
    before = path.read_bytes()
    with pytest.raises(RegistryUnusable) as error:
        open_registry(path)

    assert (
        f"{path} is damaged: the definition of the server 'mine' at position {position}, in the "
        "order of names, does not have the digests and the name that it was registered with; "
        "restore the file from a copy, or delete it"
    ) == str(error.value)
    assert before == path.read_bytes()


def test_an_altered_byte_of_the_file_is_detected(tmp_path: Path) -> None:
    """The database itself may stay valid, as in the middle of a text."""
    path = tmp_path / "registry.db"
    write_and_change(path, "UPDATE registry SET revision = 3")
    content = path.read_bytes()
    assert len(re.findall(rb"Pays 100", content)) == 2
    path.write_bytes(content.replace(b"Pays 100", b"Pays 900", 1))
    with pytest.raises(RegistryUnusable, match="at position 0"):
        open_registry(path)


def test_definitions_are_verified_by_no_limit_of_today(tmp_path: Path) -> None:
    """A definition is as deep and as long as the limits were when it was registered."""
    deep: dict[str, object] = {"type": "object"}
    for _ in range(150):
        deep = {"type": "object", "properties": {"a": deep}}
    tool = define_tool("deep", {"inputSchema": deep, "description": "x" * 2_000_000})
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        registry.register("s", [tool], keep=None)
    with closing(open_registry(path)) as registry:
        binding = registry.find("s", "deep")

    assert binding is not None
    assert tool == binding.definition
