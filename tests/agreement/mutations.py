"""Small changes to JSON values, which may violate a rule or a schema."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from agreement.values import any_value

__all__ = ["mutated"]

_ROOT = "value"


def mutated(random: Random, value: Any, names: tuple[str, ...]) -> Any:
    """Return a changed copy of *value*; added properties have one of *names*."""
    box = {_ROOT: copy.deepcopy(value)}
    for _ in range(random.choice((1, 1, 2))):
        holder, step = random.choice(list(_locations(box)))
        holder[step] = _changed(random, holder[step], names)
    return box[_ROOT]


def _locations(holder: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every location in *holder* as its container and key."""
    steps = list(holder) if isinstance(holder, dict) else range(len(holder))
    for step in steps:
        yield holder, step
        if isinstance(holder[step], dict | list):
            yield from _locations(holder[step])


def _changed(random: Random, value: Any, names: tuple[str, ...]) -> Any:
    if random.random() < 0.2:
        return any_value(random, names, 1)
    if isinstance(value, dict):
        return _changed_object(random, value, names)
    if isinstance(value, list):
        return _changed_array(random, value, names)
    if isinstance(value, str):
        return _changed_text(random, value)
    if isinstance(value, bool):
        return random.choice((not value, int(value), float(value), str(value)))
    if isinstance(value, int | float):
        return _changed_number(random, value)
    return random.choice((False, 0, "", [], {}))


def _changed_object(random: Random, value: dict[str, Any], names: tuple[str, ...]) -> Any:
    items = list(value.items())
    change = random.randrange(5)
    if items and change < 2:
        items.pop(random.randrange(len(items)))
    elif items and change == 2:
        # Rename a property to a similar name.
        position = random.randrange(len(items))
        name, member = items[position]
        items[position] = (name.swapcase() if name.swapcase() != name else f"{name}_", member)
    elif change == 3:
        random.shuffle(items)
    else:
        items.append((random.choice(names), any_value(random, names, 2)))
    return dict(items)


def _changed_array(random: Random, value: list[Any], names: tuple[str, ...]) -> Any:
    items = list(value)
    change = random.randrange(4)
    if items and change == 0:
        items.pop(random.randrange(len(items)))
    elif items and change == 1:
        items.append(copy.deepcopy(random.choice(items)))
    elif change == 2:
        random.shuffle(items)
    else:
        items.insert(random.randint(0, len(items)), any_value(random, names, 2))
    return items


def _changed_text(random: Random, value: str) -> Any:
    changes = (value + "a", value[:-1], value.swapcase(), f"a{value}", value + "\n", [value], "")
    return random.choice(changes)


def _changed_number(random: Random, value: float) -> Any:
    if abs(value) > 2**53:
        # jsonschema-rs confuses integers of this size with doubles.
        return random.choice((0, -value, str(value)))
    changes = (value + 1, value - 1, -value, value * 2, float(value), int(value), bool(value))
    return random.choice((*changes, str(value)))
