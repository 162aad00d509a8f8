"""Results that are kept for a while, by the arguments of the call."""

import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, Final

from pydantic import BaseModel

__all__ = ["MISS", "Cache", "key_of"]

#: Nothing is kept.
MISS: Final = object()
#: How deep arguments may be nested to be told apart.
_DEEPEST: Final = 50


class Cache:
    """Keeps the newest *size* results for *ttl* seconds of *clock* each.

    Any number of threads and tasks may share one. It never holds a coroutine, only
    what came of it. Calls that run at the same time do not wait for each other.
    """

    def __init__(self, ttl: float, size: int, clock: Callable[[], float]) -> None:
        self._ttl = ttl
        self._size = size
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()

    def get(self, key: Hashable) -> Any:
        """Return what is kept under *key*, the same object each time, or `MISS`."""
        if key is None:
            return MISS
        with self._lock:
            until, result = self._kept.get(key, (0.0, MISS))
            if result is MISS or self._clock() < until:
                return result
            del self._kept[key]
        return MISS

    def put(self, key: Hashable, result: Any) -> None:
        """Keep *result* under *key*, unless that is None."""
        if key is None:
            return
        with self._lock:
            self._kept[key] = (self._clock() + self._ttl, result)
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)


def key_of(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    """Return what tells calls apart, or None if their arguments cannot be.

    It does not matter how an argument is given, or whether it is the default. Values
    count with their types: 1, 1.0 and True are three. An object that can be hashed
    stands for itself, and is held as long as the result.
    """
    try:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return _frozen(bound.arguments, 0)
    except (TypeError, RecursionError):
        return None


def _frozen(value: Any, depth: int) -> Hashable:
    if depth > _DEEPEST:
        raise RecursionError
    kind, inner = type(value), depth + 1
    match value:
        case dict():
            pairs = ((_frozen(one, inner), _frozen(value[one], inner)) for one in value)
            return kind, frozenset(pairs)
        case list() | tuple():
            return kind, tuple(_frozen(one, inner) for one in value)
        case set() | frozenset():
            return kind, frozenset(_frozen(one, inner) for one in value)
        case BaseModel():
            return kind, _frozen(dict(value), inner)
    if is_dataclass(value) and kind.__hash__ is None:
        return kind, tuple(_frozen(getattr(value, one.name), inner) for one in fields(value))
    hash(value)
    return kind, value
