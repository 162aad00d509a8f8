# Generated from sidecheck/_async by generate_blocking.py. Do not edit.
"""A validator that returns scripted outcomes."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from sidecheck._blocking.streams import BlockingStream
from sidecheck._blocking.validator import BlockingValidator
from sidecheck._transport.threads import Queue
from sidecheck.errors import SidecheckError
from sidecheck.registry import OnRejected
from sidecheck.scripts import Script, raise_for_closed
from sidecheck.streams import OUTSTANDING, StreamOutcome
from sidecheck.targets import Target
from sidecheck.tool_functions import Registrable, definitions_of
from sidecheck.tool_lists import Definition, list_tools
from sidecheck.validation import Item, Options, ValidateOutcome
from sidecheck.values.comparison import SchemaReading
from sidecheck.values.registration_options import ChangePolicy, CompatibilityPolicy
from sidecheck.values.registry import Registration
from sidecheck.values.verdict import Verdict
from sidecheck.wire.values import encode_inline_tools

__all__ = ["BlockingFakeValidator", "FakeStream"]


class FakeStream(BlockingStream[Item, ValidateOutcome]):
    """A stream whose outcomes a function returns."""

    def __init__(self, validate: Callable[[Item], ValidateOutcome], outstanding: int) -> None:
        super().__init__(outstanding)
        self._validate = validate
        self._outcomes: Queue[StreamOutcome | None] = Queue()

    def _open(self) -> None:
        pass

    def _write(self, id_: str, item: Item) -> None:
        self._outcomes.put_nowait((id_, self._validate(item)))

    def _half_close(self) -> None:
        self._outcomes.put_nowait(None)

    def _read(self) -> StreamOutcome | None:
        return raise_for_closed(self._outcomes.get())

    def _failure(self) -> SidecheckError | None:
        return None

    def _cancel(self) -> None:
        pass


class BlockingFakeValidator(Script, BlockingValidator):
    """A `BlockingValidator` that returns scripted outcomes; by default every payload is valid.

    *protocol_version* is the version of the client: recorded calls have it in their options,
    unless these name another. With `register` and *on_unavailable* the fake can take the place
    of the client of `sidecheck.mcp.with_sidecheck`.
    """

    def register(  # noqa: PLR0913  (the parameters of the client)
        self,
        server: str,
        tools: Registrable | Definition | Iterable[Registrable | Definition],
        *functions: Callable[..., Any],
        replace: bool = False,
        change_policy: ChangePolicy = "accept",  # noqa: ARG002  (the fake compares nothing)
        validate_only: bool = False,
        protocol_version: str = "",  # noqa: ARG002  (likewise)
        compatibility: CompatibilityPolicy = "ignore",  # noqa: ARG002  (likewise)
        reading: SchemaReading = "assume-closed",  # noqa: ARG002  (likewise)
        on_rejected: OnRejected = "error",  # noqa: ARG002  (the fake rejects nothing)
        timeout: float = 30.0,  # noqa: ARG002  (the fake never waits)
    ) -> Registration:
        """Record the definitions and accept all of them; see `BlockingClient.register`."""
        tools_or_function = tools if callable(tools) else list_tools(tools, whole=replace)
        messages = encode_inline_tools(definitions_of(tools_or_function, functions))
        definitions = [json.loads(message.json) for message in messages]
        return self._register(server, definitions, validate_only=validate_only)

    def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,  # noqa: ARG002  (the fake never waits)
    ) -> list[ValidateOutcome]:
        """Return the outcomes of many payloads; see `BlockingValidator.validate_batch`."""
        return self._outcomes(items, target, options)

    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,  # noqa: ARG002  (the fake never waits)
    ) -> BlockingStream[Item, ValidateOutcome]:
        """Return a stream with scripted outcomes; see `BlockingValidator.stream`."""
        return FakeStream(
            lambda item: self._outcome(self._complete(item, target, options)), outstanding
        )

    def close(self) -> None:
        """Return at once, since a fake has no resources."""

    def _validate(self, item: Item, timeout: float | None) -> Verdict:  # noqa: ARG002  (likewise)
        return self._verdict(item)
