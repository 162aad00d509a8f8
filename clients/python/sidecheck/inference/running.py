"""How the function of a tool is run: tried again, and its results kept."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import stamina

from sidecheck.inference.caching import MISS, Cache, key_of
from sidecheck.inference.configs import Options

__all__ = ["run_async", "run_sync"]


def run_sync(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    """Return *function*, tried again and cached as *options* say."""
    return _cached(_retried(function, options), options)


def run_async(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    """Return the coroutine function *function*, tried again and cached as *options* say."""
    return _cached_async(_retried_async(function, options), options)


def _attempts(options: Options) -> Any:
    # A context, not stamina's decorator: that tells the arguments to its hooks, which log.
    return stamina.retry_context(on=options.retry_on, attempts=options.max_attempts, timeout=None)


def _retries(options: Options) -> bool:
    return bool(options.retry_on) and options.max_attempts > 1


def _retried(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    if not _retries(options):
        return function

    @functools.wraps(function)
    def retried(*args: Any, **kwargs: Any) -> Any:
        for attempt in _attempts(options):
            with attempt:
                return function(*args, **kwargs)
        raise AssertionError  # the last attempt returns or raises

    return retried


def _retried_async(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    if not _retries(options):
        return function

    @functools.wraps(function)
    async def retried(*args: Any, **kwargs: Any) -> Any:
        async for attempt in _attempts(options):
            with attempt:
                return await function(*args, **kwargs)
        raise AssertionError  # the last attempt returns or raises

    return retried


def _cached(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    if not options.cache_ttl:
        return function
    cache = Cache(options.cache_ttl, options.cache_size, options.clock)
    signature = inspect.signature(function)

    @functools.wraps(function)
    def cached(*args: Any, **kwargs: Any) -> Any:
        key = key_of(signature, args, kwargs)
        if (result := cache.get(key)) is MISS:
            result = function(*args, **kwargs)
            cache.put(key, result)
        return result

    return cached


def _cached_async(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    if not options.cache_ttl:
        return function
    cache = Cache(options.cache_ttl, options.cache_size, options.clock)
    signature = inspect.signature(function)

    @functools.wraps(function)
    async def cached(*args: Any, **kwargs: Any) -> Any:
        key = key_of(signature, args, kwargs)
        if (result := cache.get(key)) is MISS:
            result = await function(*args, **kwargs)
            cache.put(key, result)
        return result

    return cached
