"""Event loop of the service: uvloop's where it is installed, else that of asyncio."""

import asyncio
from importlib import import_module

__all__ = ["new_event_loop"]


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new event loop."""
    try:
        uvloop = import_module("uvloop")
    except ModuleNotFoundError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
