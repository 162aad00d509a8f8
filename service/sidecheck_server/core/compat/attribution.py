"""Which change makes a payload invalid, by the violation that it causes."""

from collections.abc import Collection, Sequence

from sidecheck_server.core.compat.schema_changes import SchemaChange
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.types import Violation, pointer_steps

__all__ = ["find_cause"]

_NO_MATCH, _BELOW = -2, -1
_OF_UNDECLARED = frozenset({"additionalProperties", "unevaluatedProperties"})


def find_cause(
    violation: Violation,
    changes: Sequence[SchemaChange],
    suspects: Collection[int],
    payload: bytes,
    *,
    new: bool,
) -> int | None:
    """Return the index of the change that *violation* is of, or None if none is known.

    *suspects* are the indexes of those that may be; *new* says whether the new version
    rejects *payload*.
    """
    location = violation.keyword_location
    best, best_length = None, _NO_MATCH
    for index in suspects:
        change = changes[index]
        for old_path, new_path in change.paths:
            path = new_path if new else old_path
            if not _begins(location, path):
                if _begins(path, location) and best_length == _NO_MATCH:
                    # A choice is reported as a whole, for what changed in its branches.
                    best, best_length = index, _BELOW
                continue
            below = location[len(path) :]
            if change.property and not _is_about(change, violation, below, payload):
                continue
            # A change of the very entry or keyword comes before one of the subschema around it.
            own = f"/{change.keyword}"
            exact = _begins(below, own) + _begins(below, own + change.entry) + bool(change.property)
            length = 4 * len(path) + exact
            if length > best_length:
                best, best_length = index, length
    return best


def _begins(path: str, start: str) -> bool:
    return path == start or path.startswith(f"{start}/")


def _is_about(change: SchemaChange, violation: Violation, below: str, payload: bytes) -> bool:
    """Return whether *violation* is of the property that *change* names."""
    steps = pointer_steps(violation.instance_location)
    keyword = pointer_steps(below)[0] if below else ""
    if keyword == "required":
        return change.property not in _keys(payload, steps)
    if keyword in _OF_UNDECLARED:
        return bool(steps) and steps[-1] == change.property
    return keyword == change.keyword and change.property in steps


def _keys(payload: bytes, steps: Sequence[str]) -> Collection[str]:
    value = read_json(payload)
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value if isinstance(value, dict) else ()
