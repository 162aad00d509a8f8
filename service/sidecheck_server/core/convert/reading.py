"""Reading: from the text of a schema to a graph of parts."""

from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["read_parts"]


def read_parts(
    source: SchemaSource, at: tuple[str | int, ...], record: Record, limits: Limits
) -> Part:
    """Return the schema of *source*, which stands *at* that place of a definition.

    Raises:
        Refusal: as `admission.admit`.
    """
    raise NotImplementedError
