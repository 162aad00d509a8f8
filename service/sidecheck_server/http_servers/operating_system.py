"""Signals that stop an HTTP server, and the option of its listener, by operating system."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

__all__ = ["LISTENER_OPTION", "STOP_SIGNALS", "handled_signals"]

if sys.platform == "win32":
    STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGBREAK)
    """Signals that stop a server: of Ctrl-C, of the process itself, and of Ctrl-Break."""

    LISTENER_OPTION = socket.SO_EXCLUSIVEADDRUSE
    """Socket option of a listener. With SO_REUSEADDR, Windows lets any other process listen on
    the same port, and it keeps no port busy after its listener is closed."""

    @contextmanager
    def handled_signals(
        signals: Sequence[signal.Signals], callback: Callable[[int], None]
    ) -> Iterator[None]:
        """Call *callback* with each of *signals* in the context, in the running event loop."""
        loop = asyncio.get_running_loop()

        def handle(number: int, _frame: object) -> None:
            loop.call_soon_threadsafe(callback, number)

        before = {number: signal.signal(number, handle) for number in signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

else:
    STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    """Signals that stop a server."""

    LISTENER_OPTION = socket.SO_REUSEADDR
    """Socket option of a listener: connections of a former server do not block the port."""

    @contextmanager
    def handled_signals(
        signals: Sequence[signal.Signals], callback: Callable[[int], None]
    ) -> Iterator[None]:
        """Call *callback* with each of *signals* in the context, in the running event loop."""
        loop = asyncio.get_running_loop()
        for number in signals:
            loop.add_signal_handler(number, callback, number)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)
