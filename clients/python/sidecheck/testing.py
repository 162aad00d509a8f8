"""Fakes of the client, for the tests of programs that use Sidecheck.

A fake does not validate: it returns scripted outcomes and records the items passed to it. Like
the client, it is a `Validator`::

    fake = FakeValidator()
    fake.answer_tool("weather", "get_forecast", invalid(Violation(code="REQUIRED")))
    await gateway(fake).call("weather", "get_forecast", {})
    assert fake.calls == [Item(Arguments({}), RegisteredTool("weather", "get_forecast"))]
"""

from sidecheck._async.fakes import FakeValidator
from sidecheck._blocking.fakes import BlockingFakeValidator
from sidecheck.scripts import invalid, valid

__all__ = ["BlockingFakeValidator", "FakeValidator", "invalid", "valid"]
