"""What a compiled schema is made from, and nothing else: the key of every cache."""

from dataclasses import dataclass

from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT
from sidecheck_server.core.types import Document

__all__ = ["SchemaSource"]


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """The text of a schema and everything else that its compilation depends on."""

    #: The schema's JSON text in UTF-8.
    json: bytes
    #: The documents given along.
    documents: tuple[Document, ...] = ()
    #: The URI of the dialect of a schema that declares none.
    default_dialect: str = DEFAULT_DIALECT.uri
    #: Whether ``format`` is asserted.
    assert_formats: bool = False
