"""Objects: members, maps, and what is closed and required."""

from sidecheck_server.core.convert.fitting.closing import close
from sidecheck_server.core.convert.fitting.fitting import Rule
from sidecheck_server.core.convert.fitting.maps import encode_map
from sidecheck_server.core.convert.fitting.members import (
    declare_required,
    drop_impossible,
    drop_patterns,
    rename,
)
from sidecheck_server.core.convert.fitting.nulls import require_all

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = (
    rename,
    drop_patterns,
    drop_impossible,
    declare_required,
    encode_map,
    close,
    require_all,
)
"""In order: which members there are, whether others may be, and which must be."""
