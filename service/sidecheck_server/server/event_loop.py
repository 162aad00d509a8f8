"""Event loops by the names of the setting."""

import asyncio
from collections.abc import Callable
from importlib import import_module

from sidecheck_server.config.settings import UnusableSettingsError

__all__ = ["loop_factory"]


def loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what creates event loops of *name*, "asyncio" or "uvloop".

    Raises:
        UnusableSettingsError: its package is not installed.
    """
    if name == "asyncio":
        return asyncio.new_event_loop
    try:
        module = import_module(name)
    except ModuleNotFoundError:
        raise UnusableSettingsError(
            f"invalid settings: event_loop: {name} is not installed: "
            "pip install 'uvloop>=0.22,<1', or set event_loop to asyncio"
        ) from None
    factory: Callable[[], asyncio.AbstractEventLoop] = module.new_event_loop
    return factory
