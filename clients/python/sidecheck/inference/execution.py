"""Execution of a tool's function, with retries and a cache of results."""

import functools
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

import tenacity
from cachetools import TTLCache
from pydantic import BaseModel

from sidecheck.inference.config import ToolOptions

__all__ = ["wrap_async", "wrap_sync"]

#: Seconds between attempts: 0.1, doubled each time up to 5, and up to 1 at random.
WAIT: Final = tenacity.wait_exponential(multiplier=0.1, max=5) + tenacity.wait_random(0, 1)

#: Marks a key without a cached result.
_MISS: Final = object()
#: Maximum nesting of arguments in a cache key.
_MAX_DEPTH: Final = 50


def wrap_sync(function: Callable[..., Any], options: ToolOptions) -> Callable[..., Any]:
    """Return *function* with the retries and the cache of *options*."""
    return _with_cache(_with_retries(function, options), options)


def wrap_async(function: Callable[..., Any], options: ToolOptions) -> Callable[..., Any]:
    """Return a coroutine function with the retries and the cache of *options*."""
    return _with_cache_async(_with_retries_async(function, options), options)


def _policy(options: ToolOptions) -> dict[str, Any]:
    """Return the policy of retries, without hooks that log or print."""
    return {
        "retry": tenacity.retry_if_exception_type(options.retry_on),
        "stop": tenacity.stop_after_attempt(options.max_attempts),
        "wait": WAIT,
        "reraise": True,
    }


def _has_retries(options: ToolOptions) -> bool:
    return bool(options.retry_on) and options.max_attempts > 1


def _with_retries(function: Callable[..., Any], options: ToolOptions) -> Callable[..., Any]:
    if not _has_retries(options):
        return function
    policy = _policy(options)

    @functools.wraps(function)
    def retrying(*args: Any, **kwargs: Any) -> Any:
        # A partial, since arguments may have the names of tenacity's parameters.
        return tenacity.Retrying(**policy)(functools.partial(function, *args, **kwargs))

    return retrying


def _with_retries_async(function: Callable[..., Any], options: ToolOptions) -> Callable[..., Any]:
    if not _has_retries(options):
        return function
    policy = _policy(options)

    @functools.wraps(function)
    async def retrying(*args: Any, **kwargs: Any) -> Any:
        async def attempt() -> Any:
            return await function(*args, **kwargs)

        return await tenacity.AsyncRetrying(**policy)(attempt)

    return retrying


def _with_cache(function: Callable[..., Any], options: ToolOptions) -> Callable[..., Any]:
    if not options.cache_ttl:
        return function
    cache = _Cache(options)
    signature = inspect.signature(function)

    @functools.wraps(function)
    def caching(*args: Any, **kwargs: Any) -> Any:
        key = _key_of(signature, args, kwargs)
        if (result := cache.get(key)) is _MISS:
            result = function(*args, **kwargs)
            # Iterators are not cached, since they can be read only once.
            if not isinstance(result, Iterator | AsyncIterator):
                cache.put(key, result)
        return result

    return caching


def _with_cache_async(function: Callable[..., Any], options: ToolOptions) -> Callable[..., Any]:
    if not options.cache_ttl:
        return function
    cache = _Cache(options)
    signature = inspect.signature(function)

    @functools.wraps(function)
    async def caching(*args: Any, **kwargs: Any) -> Any:
        key = _key_of(signature, args, kwargs)
        if (result := cache.get(key)) is _MISS:
            result = await function(*args, **kwargs)
            cache.put(key, result)
        return result

    return caching


class _Cache:
    """Cache of recently used results, each valid for ``cache_ttl`` seconds.

    Threads and tasks may share a cache. It stores results, never coroutines. Concurrent calls
    with equal arguments do not wait for each other.
    """

    def __init__(self, options: ToolOptions) -> None:
        self._lock = threading.Lock()
        self._results: TTLCache[Hashable, Any] = TTLCache(
            options.cache_size, options.cache_ttl, options.clock
        )

    def get(self, key: Hashable) -> Any:
        """Return the result under *key*, the same object each time, or `_MISS`."""
        with self._lock:
            return self._results.get(key, _MISS)

    def put(self, key: Hashable, result: Any) -> None:
        """Store *result* under *key*, unless *key* is None."""
        if key is not None:
            with self._lock:
                self._results[key] = result


def _key_of(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Hashable:
    """Return the cache key of a call, or None if its arguments cannot be compared.

    Positional, keyword and default arguments are equivalent. Values are compared with their
    types: 1, 1.0 and True differ. A hashable object is used as the key, and stays alive as long
    as the result.
    """
    try:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return _freeze(bound.arguments, 0)
    except (TypeError, RecursionError):
        return None


def _freeze(value: Any, depth: int) -> Hashable:
    """Return a hashable equivalent of *value*."""
    if depth > _MAX_DEPTH:
        raise RecursionError
    value_type, inner = type(value), depth + 1
    match value:
        case dict():
            pairs = ((_freeze(key, inner), _freeze(value[key], inner)) for key in value)
            return value_type, frozenset(pairs)
        case list() | tuple():
            return value_type, tuple(_freeze(item, inner) for item in value)
        case set() | frozenset():
            return value_type, frozenset(_freeze(item, inner) for item in value)
        case BaseModel():
            return value_type, _freeze(dict(value), inner)
    if is_dataclass(value) and value_type.__hash__ is None:
        items = (getattr(value, field.name) for field in fields(value))
        return value_type, tuple(_freeze(item, inner) for item in items)
    hash(value)
    return value_type, value
