"""Schemas as parts, for tests of conversion."""

from sidecheck_server.core.convert.part import Part, reachable

__all__ = ["keywords_written"]


def keywords_written(root: Part) -> set[str]:
    """Return the keywords that stand anywhere at *root* or below."""
    return {keyword for part in reachable(root) for keyword in part.keywords}
