"""References: written out where an API has none, alone where they may have no neighbours."""

from sidecheck_server.core.convert.fitting.fitting import Rule
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.record import Record

__all__ = ["RULES", "written_out"]


def written_out(root: Part, record: Record) -> Part:
    """Return *root* with what each reference leads to in its place."""
    return root


RULES: tuple[Rule, ...] = ()
