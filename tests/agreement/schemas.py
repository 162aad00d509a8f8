"""Random schemas for the validators."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from agreement.editions import EDITIONS, Edition
from agreement.references import Connector, Resource
from agreement.values import NAMES
from agreement.writing import Writer
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Draft

__all__ = ["Generated", "Question", "generate_schema"]


@dataclass(frozen=True, slots=True)
class Question:
    """A schema and its documents."""

    edition: Edition
    schema: Any
    documents: dict[str, Any]
    #: Whether ``format`` is asserted. Then jsonschema-rs is left out: its formats differ.
    assert_formats: bool = False

    def source(self) -> SchemaSource:
        """Return the source that the engines compile."""
        return SchemaSource(
            json.dumps(self.schema).encode(),
            tuple(
                Document(uri, json.dumps(contents).encode())
                for uri, contents in self.documents.items()
            ),
            default_dialect=self.edition.uri,
            assert_formats=self.assert_formats,
        )


@dataclass(frozen=True, slots=True)
class Generated:
    """A random valid schema."""

    question: Question
    #: Returns the target of a subschema's reference.
    follow: Callable[[dict[str, Any]], Any]
    #: Whether its references form a cycle, which the compiler rejects; None if unknown.
    endless: bool | None
    #: Property names of the schema.
    names: tuple[str, ...]
    #: Whether a resource of another edition is embedded in it.
    embeds_other_edition: bool


def generate_schema(random: Random, edition: Edition) -> Generated:
    """Return a random schema of *edition*."""
    writer = Writer(random, edition, size=random.choice((4, 8, 8, 16, 30)))
    root = _write_root(writer)
    if writer.chance(0.5):
        # The official URIs of drafts 4 to 7 end in an empty fragment; both are in use.
        root["$schema"] = edition.uri.rstrip("#") if writer.chance(0.3) else edition.uri
    roots = [Resource(_name_root(writer, root), root)]
    documents: dict[str, Any] = {}
    if writer.chance(0.15):
        uri = random.choice(("http://example.com/defs.json", "urn:example:defs"))
        documents[uri] = {"$schema": edition.uri, **_write_root(writer)}
        roots.append(Resource(uri, documents[uri]))
    connector = Connector(writer, roots)
    is_embedded = writer.chance(0.5)
    elsewhere = _write_elsewhere(writer) if writer.chance(0.2) else None
    if elsewhere is not None:
        connector.learn(elsewhere)
    connector.connect()
    if elsewhere is not None and is_embedded:
        _embed(writer, root, elsewhere)
    elif elsewhere is not None:
        documents[_ELSEWHERE] = elsewhere.root
    targets = connector.targets

    def follow(node: dict[str, Any]) -> Any:
        return targets.get(id(node), True)

    question = Question(edition, root, documents, assert_formats=writer.chance(0.15))
    embeds = elsewhere is not None and is_embedded
    return Generated(question, follow, connector.endless(), writer.names, embeds)


_ELSEWHERE = "http://example.com/elsewhere.json"


def _write_elsewhere(writer: Writer) -> Connector:
    """Write a resource of another edition."""
    edition = writer.choose([edition for edition in EDITIONS if edition is not writer.edition])
    document_writer = Writer(writer.random, edition, size=6)
    document_writer.names = writer.names
    # The schema may have keywords that the generators do not combine with the first two.
    # jsonschema-rs follows the third in any edition if the schema has the edition 2020-12.
    document_writer.leave_out("contains", "dependencies", "$dynamicRef")
    contents = {"$schema": edition.uri, **_write_root(document_writer)}
    connector = Connector(document_writer, [Resource(_ELSEWHERE, contents)])
    connector.connect()
    return connector


def _embed(writer: Writer, root: dict[str, Any], elsewhere: Connector) -> None:
    """Make the resource of another edition a definition of *root*, or a property."""
    resource = elsewhere.root
    resource[elsewhere.edition.id_keyword] = _ELSEWHERE
    keyword = writer.edition.definitions_keyword
    if writer.chance(0.5):
        keyword = "properties"
    siblings = root.setdefault(keyword, {})
    name = next((name for name in writer.names if name not in siblings), "elsewhere")
    siblings[name] = resource


def _write_root(writer: Writer) -> dict[str, Any]:
    root = writer.subschema(0)
    while not isinstance(root, dict):
        root = writer.subschema(0)
    keyword = writer.edition.definitions_keyword
    if writer.edition.since(Draft.DRAFT_2019_09) and writer.chance(0.2):
        keyword = "definitions"
    if writer.chance(0.6):
        count = writer.random.randint(1, 4)
        names = (*writer.names[:4], *writer.random.sample(NAMES, 2))
        root[keyword] = {name: writer.subschema(2) for name in writer.random.sample(names, count)}
    return root


def _name_root(writer: Writer, root: dict[str, Any]) -> str:
    if not writer.chance(0.3):
        return ""
    uri = writer.choose(("http://example.com/root", "http://example.com/a/b.json#", "urn:x:root"))
    root[writer.edition.id_keyword] = uri
    return uri.rstrip("#")
