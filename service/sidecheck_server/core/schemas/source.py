"""The input of a compilation, which is also the key of every cache of its results."""

from dataclasses import dataclass

from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT
from sidecheck_server.core.types import Document

__all__ = ["SchemaSource"]


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """A schema text with everything else that its compilation depends on."""

    #: The schema's JSON text in UTF-8.
    json: bytes
    #: The documents sent along.
    documents: tuple[Document, ...] = ()
    #: The URI of the dialect of a schema that declares none.
    default_dialect: str = DEFAULT_DIALECT.uri
    #: Whether ``format`` is asserted.
    assert_formats: bool = False
