"""Faults of a schema: collected by the checks of admission, reported in one error.

The location of a fault is a JSON Pointer into the schema. A fault in a document or in a
published meta-schema is located at the reference that leads there.
"""
# Decision 0047: one error lists all faults, so that authors fix a schema in one pass.

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.schemas.references import Subschema
from sidecheck_server.core.types import JsonValue, Violation, as_pointer, pointer_steps

__all__ = ["MOST_FAULTS", "SchemaFault", "SchemaFaults"]

MOST_FAULTS = 100
"""Most faults that one check collects, and most violations of one error."""

_LENGTH_OF_VIOLATIONS = 1 << 18
"""Total length of the violations of an error, in characters: many may share a long pointer."""


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """One fault of a schema."""

    subschema: Subschema
    #: JSON Pointer to the fault, relative to the subschema.
    within: str
    #: The error of a schema that has only this fault.
    error: RequestError
    #: The violation of the meta-schema, if the fault is one.
    violation: Violation | None = None
    suggestion: str = ""


class SchemaFaults:
    """The faults of one schema."""

    def __init__(self, schema: JsonValue) -> None:
        self._schema = schema
        self._faults: list[SchemaFault] = []
        #: Whether faults may be missing.
        self.truncated = False

    def add_all(self, faults: Iterable[SchemaFault]) -> None:
        """Add the *faults* of one check, at most `MOST_FAULTS`."""
        for number, fault in enumerate(faults):
            if number == MOST_FAULTS:
                self.truncated = True
                return
            self._faults.append(fault)

    @property
    def is_full(self) -> bool:
        """Whether there are enough faults, so that further ones need no explanation."""
        return len(self._faults) >= MOST_FAULTS

    def raise_if_any(self) -> None:
        """Raise the error of the first fault in document order, with all as violations.

        Raises:
            RequestError: there are faults.
        """
        if not self._faults:
            return
        located = _locate(self._faults, self._schema)
        violations: list[Violation] = []
        length = 0
        for violation, _ in located:
            length += violation.length
            if len(violations) == MOST_FAULTS or (violations and length > _LENGTH_OF_VIOLATIONS):
                self.truncated = True
                break
            violations.append(violation)
        first = located[0][1].error
        message, metadata = first.message, first.metadata
        if len(violations) > 1:
            count = f"{len(violations)}" + (" or more" if self.truncated else "")
            message = f"{message} (the first of {count} violations of the schema)"
            metadata = {**metadata, "violations": count}
        raise RequestError(
            first.reason, message, metadata, tuple(violations), truncated=self.truncated
        )


def _locate(
    faults: Iterable[SchemaFault], schema: JsonValue
) -> list[tuple[Violation, SchemaFault]]:
    """Return the violations of *faults* in document order, each with its fault."""
    positions = _Positions(schema)
    located = []
    covered: set[str] = set()
    for fault in faults:
        location, is_exact = positions.locate(fault)
        if fault.violation is not None:
            violation = replace(fault.violation, instance_location=location)
            if is_exact:
                covered.add(location)
            else:
                violation = replace(violation, message=fault.error.message)
        elif location in covered:
            continue  # The meta-schema has rejected this location already.
        else:
            reason, message = fault.error.reason.value, fault.error.message
            violation = Violation(location, "", "", reason, message, suggestion=fault.suggestion)
        located.append((positions.order(location), violation, fault))
    located.sort(key=lambda entry: entry[0])
    return [(violation, fault) for _, violation, fault in located]


class _Positions:
    """Positions of the objects and arrays in a schema, by identity or by pointer."""

    def __init__(self, schema: JsonValue) -> None:
        self._schema = schema
        #: The parent of each container, and the step from the parent.
        self._links: dict[int, tuple[JsonValue, str | int]] = {}
        pending = [schema]
        while pending:
            container = pending.pop()
            for step, value in _items(container):
                if isinstance(value, dict | list):
                    self._links[id(value)] = (container, step)
                    pending.append(value)
        self._numbers: dict[int, dict[str, int]] = {}

    def locate(self, fault: SchemaFault) -> tuple[str, bool]:
        """Return the pointer to *fault*, and whether it is exact: in the schema itself."""
        within, current = fault.within, fault.subschema
        pointer = self._pointer_to(current.schema)
        is_exact = pointer is not None
        while pointer is None and current.parent is not None:
            # A target outside the schema is located at the reference that leads to it.
            within = current.step.partition(" -> ")[0]
            current = current.parent
            pointer = self._pointer_to(current.schema)
        return ("" if pointer is None else pointer + within), is_exact

    def _pointer_to(self, schema: JsonValue) -> str | None:
        steps: list[str | int] = []
        while schema is not self._schema:
            link = self._links.get(id(schema))
            if link is None:
                return None
            schema, step = link
            steps.append(step)
        return as_pointer(reversed(steps))

    def order(self, pointer: str) -> tuple[int, ...]:
        """Return the sort key of *pointer* for document order."""
        key: list[int] = []
        container = self._schema
        for step in pointer_steps(pointer):
            if isinstance(container, dict) and step in container:
                numbers = self._numbers.get(id(container))
                if numbers is None:
                    numbers = {name: number for number, name in enumerate(container)}
                    self._numbers[id(container)] = numbers
                key.append(numbers[step])
                container = container[step]
            elif isinstance(container, list) and step.isdecimal() and int(step) < len(container):
                key.append(int(step))
                container = container[int(step)]
            else:
                break
        return tuple(key)


def _items(container: JsonValue) -> Iterable[tuple[str | int, JsonValue]]:
    if isinstance(container, dict):
        return container.items()
    return enumerate(container) if isinstance(container, list) else ()
