"""Places: where in a definition the subschemas are that references lead to."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from sidecheck_server.core.types import JsonValue

__all__ = ["Place", "Places", "name_at"]

Place: TypeAlias = tuple[str | int, ...]
"""The way to a subschema, as in `Part.at`."""

_Link: TypeAlias = tuple[Any, str | int]
"""The object or array around something, and the step from there."""


class Places:
    """The places of all that a schema and its documents hold, found by identity."""

    def __init__(self, at: Place, schema: JsonValue, documents: Mapping[str, JsonValue]) -> None:
        self._at = at
        self._documents = documents
        self._starts: dict[int, Place] = {id(schema): at}
        self._above = _links(schema)
        self._all_read = False

    def of(self, schema: JsonValue, otherwise: str) -> Place:
        """Return where *schema* is; below the URI *otherwise* if it was not sent at all."""
        if not self._known(schema) and not self._all_read:
            self._all_read = True
            for uri, contents in self._documents.items():
                self._starts.setdefault(id(contents), (*self._at, uri))
                self._above |= _links(contents)
        if not self._known(schema):
            return (*self._at, otherwise)
        steps: list[str | int] = []
        here: Any = schema
        while id(here) not in self._starts:
            here, step = self._above[id(here)]
            steps.append(step)
        return (*self._starts[id(here)], *reversed(steps))

    def _known(self, schema: JsonValue) -> bool:
        return id(schema) in self._starts or id(schema) in self._above


def _links(top: JsonValue) -> dict[int, _Link]:
    found: dict[int, _Link] = {}
    pending: list[Any] = [top] if isinstance(top, dict | list) else []
    while pending:
        around = pending.pop()
        inside = around.items() if isinstance(around, dict) else enumerate(around)
        for step, value in inside:
            if isinstance(value, dict | list):
                found[id(value)] = (around, step)
                pending.append(value)
    return found


def name_at(place: Place) -> str:
    """Return what its author may call the definition at *place*, or "".

    The last step of *place* may be a URI.
    """
    last = place[-1] if place else ""
    if not isinstance(last, str):
        return ""
    is_uri = "://" in last or last.startswith("#/")
    return last.rstrip("/#").rpartition("/")[2] if is_uri else last
