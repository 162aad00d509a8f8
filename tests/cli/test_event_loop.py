"""The event loop of the service: uvloop's if it is installed."""

import asyncio
import sys
from types import SimpleNamespace

import pytest
from sidecheck_server.cli.event_loop import new_event_loop


class OtherLoop(asyncio.SelectorEventLoop):
    """Stands for the event loop of uvloop."""


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        pytest.param(None, asyncio.SelectorEventLoop, id="not installed"),
        pytest.param(SimpleNamespace(new_event_loop=OtherLoop), OtherLoop, id="installed"),
    ],
)
def test_uvloop_is_used_where_it_is_installed(
    module: object, expected: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`None` in `sys.modules` is a module that is not found."""
    monkeypatch.setitem(sys.modules, "uvloop", module)
    loop = new_event_loop()
    loop.close()

    assert expected is type(loop)
