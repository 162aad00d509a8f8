"""Classes of the text: their names among the definitions, and which of those a schema needs.

A class is in a schema by reference. It is read when a definition is asked for, so that
classes may refer to each other, and to themselves, however they like.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.forms import Form, IsContent
from sidecheck_server.core.infer.models import read_class, read_functional
from sidecheck_server.core.infer.scopes import Class, Scope

if TYPE_CHECKING:
    from sidecheck_server.core.infer.annotations import Types

__all__ = ["Classes"]

# Definitions are read one inside of the other only where a union is told apart by a tag.
_DEEPEST_READING = 10
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9.\-_]")


@dataclass(slots=True, eq=False)
class _Entry:
    """A class that a schema refers to."""

    subject: Class | tuple[ast.Call, Scope] | None
    schema: dict[str, Any] | None = None
    #: Why it has none.
    failure: Complaint | IsContent | None = None
    #: The definitions that it refers to.
    referred: set[str] = field(default_factory=set)


class Classes:
    """The definitions of one text, for one direction."""

    def __init__(self, types: "Types") -> None:
        self._types = types
        self._entries: dict[str, _Entry] = {}
        self._names: dict[ast.AST, str] = {}
        self._reading = 0
        #: The definitions that what is being read refers to.
        self.referred: set[str] = set()

    @property
    def is_reading(self) -> bool:
        """Whether a class is being read."""
        return self._reading > 0

    def form(self, subject: Class) -> Form:
        """Return the reference to a class."""
        return self._reference(subject.node, subject.node.name, subject)

    def functional(self, node: ast.Call, scope: Scope) -> Form | None:
        """Return the reference to what ``TypedDict(name, {...})`` makes; None for other calls."""
        if self._types.known(node.func, scope) != "typing.TypedDict" or not node.args:
            return None
        name = self._types.literals.text(node.args[0], scope)
        return self._reference(node, name, (node, scope))

    def anything(self, name: str) -> Form:
        """Return the reference to a definition *name* that admits anything."""
        self._entries.setdefault(name, _Entry(None, {}))
        self.referred.add(name)
        return Form({"$ref": f"#/$defs/{name}"})

    def definition(self, name: str) -> dict[str, Any]:
        """Return the definition *name*; {} if there is none, or if it is being read.

        Raises:
            Complaint: the class has no schema.
        """
        entry = self._entries.get(name)
        return {} if entry is None else self._read(entry) or {}

    def needed(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the definitions *names*, and those that they refer to.

        Raises:
            Complaint: one of the classes has no schema.
        """
        found: dict[str, dict[str, Any]] = {}
        waiting = sorted(names, reverse=True)
        while waiting:
            name = waiting.pop()
            self._types.meter.node()
            if name not in found:
                entry = self._entries[name]
                found[name] = self._read(entry) or {}
                waiting.extend(sorted(entry.referred, reverse=True))
        return found

    def _reference(self, node: ast.AST, name: str, subject: Class | tuple[ast.Call, Scope]) -> Form:
        if node not in self._names:
            if len(self._entries) >= self._types.meter.bounds.classes:
                raise Complaint(
                    Code.TOO_LARGE,
                    f"more than {self._types.meter.bounds.classes} classes are used",
                    node,
                )
            unique = _free(_NOT_IN_NAMES.sub("_", name), self._entries)
            self._names[node] = unique
            self._entries[unique] = _Entry(subject)
        self.referred.add(self._names[node])
        return Form({"$ref": f"#/$defs/{self._names[node]}"})

    def _read(self, entry: _Entry) -> dict[str, Any] | None:
        if entry.schema is not None or entry.failure is not None:
            if entry.failure is not None:
                raise entry.failure
            return entry.schema
        if self._reading > _DEEPEST_READING:
            raise Complaint(Code.TOO_DEEP, "unions with tags are nested too deeply", None)
        outer, self.referred = self.referred, entry.referred
        self._reading += 1
        # Whoever needs it while it is read finds an empty one.
        entry.schema = {}
        try:
            if isinstance(entry.subject, Class):
                entry.schema = read_class(self._types, entry.subject)
            elif entry.subject is not None:
                entry.schema = read_functional(self._types, *entry.subject)
        except (Complaint, IsContent) as failure:
            entry.failure = failure
            raise
        finally:
            self._reading -= 1
            self.referred = outer
        return entry.schema


def _free(name: str, taken: Iterable[str]) -> str:
    """Return *name*, or one that begins with it and is not *taken*."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free
