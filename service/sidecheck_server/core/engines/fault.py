"""Faults: keywords that a payload breaks, as the complete engine reports them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sidecheck_server.core.engines.scope import Scope

__all__ = ["NO_FAULTS", "Fault"]

ExploreBranch = Callable[[int], Iterable["Fault"]]


class Fault:
    """One keyword that a payload breaks.

    It replaces jsonschema's `ValidationError`, which is an exception, takes five times
    as long to construct, and has a message with the whole offending value, so that
    its cost grows with the payload.
    """

    __slots__ = (
        "detail",
        "explore_branch",
        "instance",
        "keyword",
        "keyword_value",
        "parent",
        "path",
        "schema",
        "schema_path",
        "scope",
        "settled",
    )

    #: The keyword, its value, the value that breaks it, and the schema that has the
    #: keyword, with its scope; set when the fault leaves its keyword.
    keyword: str
    keyword_value: Any
    instance: Any
    schema: Any
    scope: Scope

    def __init__(
        self,
        detail: Any = None,
        *,
        at: Iterable[str | int] = (),
        explore_branch: ExploreBranch | None = None,
    ) -> None:
        #: A name, a count or indexes; each keyword has its own.
        self.detail = detail
        #: For a choice among subschemas: returns the faults under the one at an index.
        self.explore_branch = explore_branch
        #: The choice in whose branch it was found.
        self.parent: Fault | None = None
        #: The paths in payload and schema, from the end to the start.
        self.path: list[str | int] = [*at]
        self.schema_path: list[str | int] = []
        self.settled = False

    def settle(self, keyword: str, value: Any, instance: Any, schema: Any, scope: Scope) -> None:
        """Set what broke which keyword, unless a subschema has done so."""
        if not self.settled:
            self.settled = True
            self.keyword = keyword
            self.keyword_value = value
            self.instance = instance
            self.schema = schema
            self.scope = scope

    @property
    def absolute_path(self) -> Sequence[str | int]:
        """The path of the value in the payload."""
        before = () if self.parent is None else self.parent.absolute_path
        return (*before, *reversed(self.path))

    @property
    def absolute_schema_path(self) -> Sequence[str | int]:
        """The path of the keyword in the schema, along the path of evaluation."""
        before = () if self.parent is None else self.parent.absolute_schema_path
        return (*before, *reversed(self.schema_path))


NO_FAULTS: Iterable[Fault] = ()
"""What keywords without a fault return: always this object, compared by identity."""
