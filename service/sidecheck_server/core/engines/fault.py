"""Faults: what the complete engine finds, before it is put into words."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sidecheck_server.core.engines.scope import Scope

__all__ = ["NO_FAULTS", "Fault"]

Explore = Callable[[int], Iterable["Fault"]]


class Fault:
    """A keyword that a payload breaks.

    It stands where jsonschema has a `ValidationError`, and is none: that one is an
    exception, takes five times as long to make, and its message holds the whole
    offending value, so that building one costs as much as the payload is large.
    """

    __slots__ = (
        "about",
        "explore",
        "instance",
        "parent",
        "path",
        "schema",
        "schema_path",
        "scope",
        "settled",
        "validator",
        "validator_value",
    )

    #: The keyword, its value, the value that breaks it, and the schema in which it
    #: stands with its scope; set when the fault leaves its keyword.
    validator: str
    validator_value: Any
    instance: Any
    schema: Any
    scope: Scope

    def __init__(
        self,
        about: Any = None,
        *,
        at: Iterable[str | int] = (),
        explore: Explore | None = None,
    ) -> None:
        #: What the fault is about: a name, a count, positions; each keyword has its own.
        self.about = about
        #: For a choice among subschemas: what is wrong under the one at an index.
        self.explore = explore
        #: The choice under which it was found.
        self.parent: Fault | None = None
        #: Where it is, in payload and schema, from the end to the start.
        self.path: list[str | int] = [*at]
        self.schema_path: list[str | int] = []
        self.settled = False

    def settle(self, keyword: str, value: Any, instance: Any, schema: Any, scope: Scope) -> None:
        """Note what was judged by what, unless a subschema has done so."""
        if not self.settled:
            self.settled = True
            self.validator = keyword
            self.validator_value = value
            self.instance = instance
            self.schema = schema
            self.scope = scope

    @property
    def absolute_path(self) -> Sequence[str | int]:
        """Where in the payload it is."""
        before = () if self.parent is None else self.parent.absolute_path
        return (*before, *reversed(self.path))

    @property
    def absolute_schema_path(self) -> Sequence[str | int]:
        """Where in the schema the keyword is, along the way of evaluation."""
        before = () if self.parent is None else self.parent.absolute_schema_path
        return (*before, *reversed(self.schema_path))


NO_FAULTS: Iterable[Fault] = ()
"""What keywords return that find no fault, always this one object."""
