"""How many choices of branches a schema has, by which the time of a proof grows."""

from typing import Any

from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.types import JsonValue

__all__ = ["count_combinations", "is_recursive_unevaluated"]


def count_combinations(form: NormalForm) -> int:
    """Return how many choices of branches, or constants, one place of *form* has, at most."""
    return _Combinations(form.schema).largest


def is_recursive_unevaluated(form: NormalForm) -> bool:
    """Return whether *form* has unevaluated keywords, and a definition that leads to itself."""
    names, _ = _names_in(form.schema)
    if not names & {"unevaluatedProperties", "unevaluatedItems"}:
        return False
    root = form.schema if isinstance(form.schema, dict) else {}
    definitions: Any = root.get("$defs", {})
    targets = {f"#/$defs/{name}": _names_in(schema)[1] for name, schema in definitions.items()}
    while leaves := [name for name, found in targets.items() if not found & targets.keys()]:
        for name in leaves:
            del targets[name]
    return bool(targets)


def _names_in(schema: Any) -> tuple[set[str], set[str]]:
    """Return the keys and the targets of references in *schema*."""
    names: set[str] = set()
    references: set[str] = set()
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            names |= value.keys()
            if isinstance(value.get("$ref"), str):
                references.add(value["$ref"])
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return names, references


class _Combinations:
    """Counts the choices of branches of the subschemas that apply to one place together."""

    def __init__(self, root: JsonValue) -> None:
        self._root: dict[str, Any] = root if isinstance(root, dict) else {}
        self._counts: dict[int, int] = {}
        self.largest = 1
        pending: list[Any] = [root]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                constants = value.get("enum")
                number = len(constants) if isinstance(constants, list) else 1
                exclusive = value.get("oneOf")
                # Each branch of oneOf excludes the others.
                pairs = len(exclusive) ** 2 // 2 if isinstance(exclusive, list) else 1
                self.largest = max(self.largest, self._count(value), number, pairs)
                pending += value.values()
            elif isinstance(value, list):
                pending += value

    def _count(self, schema: Any) -> int:
        if not isinstance(schema, dict):
            return 1
        if id(schema) not in self._counts:
            self._counts[id(schema)] = 1  # What leads back to itself adds nothing.
            count = _PER_CONDITION ** min(_conditions(schema), _MOST_CONDITIONS)
            for keyword in ("anyOf", "oneOf"):
                branches = schema.get(keyword)
                if isinstance(branches, list):
                    count *= sum(map(self._count, branches))
            together = schema.get("allOf")
            parts = [*together] if isinstance(together, list) else []
            reference = schema.get("$ref")
            if isinstance(reference, str):
                parts.append(self._target(reference))
            for part in parts:
                count *= self._count(part)
            self._counts[id(schema)] = min(count, _LARGEST_COUNT)
        return self._counts[id(schema)]

    def _target(self, reference: str) -> Any:
        # What looks like a reference in a constant is none.
        steps = reference.split("/")
        return self._root.get(steps[1], {}).get(steps[2]) if len(steps) == 3 else None


_LARGEST_COUNT = 10**12
_PER_CONDITION = 6
"""How many choices a condition counts as: proofs with five of them take long, and fail."""
_MOST_CONDITIONS = 12


def _conditions(schema: dict[str, Any]) -> int:
    """Return how many conditions *schema* has of its own."""
    maps = (schema.get(name) for name in ("dependentRequired", "dependentSchemas", "dependencies"))
    return ("if" in schema) + sum(len(each) for each in maps if isinstance(each, dict))
