"""Faults: failed keywords, as reported by the complete engine."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sidecheck_server.core.engines.scope import Scope

__all__ = ["NO_FAULTS", "Fault"]

ExploreBranch = Callable[[int], Iterable["Fault"]]


class Fault:
    """A keyword that a value of the payload fails.

    It replaces jsonschema's `ValidationError`. That is an exception, takes five times as
    long to construct, and its message contains the whole offending value, so that its cost
    grows with the payload.
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

    #: The keyword, its value, the value that fails it, and the schema with the keyword and
    #: its scope; `settle` sets them.
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
        #: A name, a count or indexes, depending on the keyword.
        self.detail = detail
        #: For ``anyOf`` and ``oneOf``: returns the faults under the branch at an index.
        self.explore_branch = explore_branch
        #: The fault of the enclosing choice, if this fault is under one of its branches.
        self.parent: Fault | None = None
        #: The paths in payload and schema, in reverse order.
        self.path: list[str | int] = [*at]
        self.schema_path: list[str | int] = []
        self.settled = False

    def settle(self, keyword: str, value: Any, instance: Any, schema: Any, scope: Scope) -> None:
        """Set the failed keyword and its context, unless a subschema has set them."""
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
"""Result of every keyword function without faults; compare it by identity."""
