"""Writing: from a graph of parts that was fitted to a schema."""

from typing import Any

from sidecheck_server.core.convert.apis.api import Subset
from sidecheck_server.core.convert.part import Part

__all__ = ["write_schema"]


def write_schema(root: Part, subset: Subset) -> dict[str, Any]:
    """Return *root* as a JSON Schema in the spelling of *subset*."""
    raise NotImplementedError
