"""Faults: what the complete engine finds, before it is put into words."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jsonschema import ValidationError

from sidecheck_server.core.engines.scope import Scope

__all__ = ["Fault"]

Explore = Callable[[int], Iterator["Fault"]]


class Fault(ValidationError):  # type: ignore[misc]  # jsonschema is not typed
    """A keyword that a payload breaks, in the form in which jsonschema passes errors on.

    It never has a message: jsonschema's own hold the whole offending value, so
    that building one costs as much as the payload is large.
    """

    #: Where the keyword stands; set when the fault leaves its keyword.
    scope: Scope

    def __init__(
        self,
        about: Any = None,
        *,
        at: Iterable[str | int] = (),
        explore: Explore | None = None,
    ) -> None:
        super().__init__("", path=at)
        #: What the fault is about: a name, a count, positions; each keyword has its own.
        self.about = about
        #: For a choice among subschemas: what is wrong under the one at an index.
        self.explore = explore
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
