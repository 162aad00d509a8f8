"""Marks: the members by which a value shows which of several types it is meant to be."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sidecheck_server.core.mcp.types.model import Field, Plain

__all__ = ["Discriminators", "discriminators_of", "tag_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Discriminators:
    """The members that tell a type from its alternatives."""

    #: Those that must be there, and have one of a few values.
    constants: tuple[tuple[str, tuple[Any, ...]], ...]
    #: Those that must be there.
    needed: tuple[str, ...]
    #: Those that have one of a few values if they are there.
    possible: tuple[tuple[str, tuple[Any, ...]], ...]

    def fit(self, value: Any) -> bool:
        """Return whether *value* has the constants; only an object has any."""
        if not isinstance(value, dict):
            return not self.needed
        for name, values in self.constants:  # noqa: SIM110  (`all` takes three times as long)
            if value.get(name) not in values:
                return False
        return True

    def are_there(self, value: Any) -> bool:
        """Return whether *value* has what must be there."""
        for name in self.needed:  # noqa: SIM110  (as above)
            if name not in value:
                return False
        return True

    def may_fit(self, value: Any) -> bool:
        """Return whether *value* is an object whose members say nothing else."""
        return (
            isinstance(value, dict)
            and self.fit(value)
            and all(value.get(name, values[0]) in values for name, values in self.possible)
        )


def discriminators_of(alternatives: Sequence[Iterable[Field]]) -> list[Discriminators]:
    """Return the marks of types, each given by its members, that are alternatives."""
    told = [_told(fields) for fields in alternatives]
    # A member with several values tells types apart only if each has its own of it.
    shared = set(told[0]).intersection(*told[1:])
    return [
        _marks(fields, {n: v for n, v in few.items() if len(v) == 1 or n in shared})
        for fields, few in zip(alternatives, told, strict=True)
    ]


def tag_of(alternatives: Sequence[tuple[Discriminators, T]]) -> tuple[str, dict[str, T]]:
    """Return the member whose text alone says which of *alternatives* is meant, and what is.

    Without such a member, which each has with another text and no other constant, it is "".
    """
    names = {name for marks, _ in alternatives for name, _ in marks.constants}
    told = {
        values[0]: which
        for marks, which in alternatives
        for _, values in marks.constants
        if len(marks.constants) == len(values) == 1 and isinstance(values[0], str)
    }
    return (names.pop(), told) if len(names) == 1 and len(told) == len(alternatives) else ("", {})


def _marks(fields: Iterable[Field], few: dict[str, tuple[Any, ...]]) -> Discriminators:
    needed = tuple(field.name for field in fields if field.required)
    return Discriminators(
        constants=tuple((name, values) for name, values in few.items() if name in needed),
        needed=needed,
        possible=tuple(few.items()),
    )


def _told(fields: Iterable[Field]) -> dict[str, tuple[Any, ...]]:
    """Return the values of those of *fields* that have one of a few, by name."""
    found: dict[str, tuple[Any, ...]] = {}
    for field in fields:
        if isinstance(field.kind, Plain):
            schema = field.kind.schema
            if "const" in schema:
                found[field.name] = (schema["const"],)
            elif "enum" in schema:
                found[field.name] = tuple(schema["enum"])
    return found
