# Generated from sidecheck/_async by generate_blocking.py. Do not edit.
"""A validator that returns scripted outcomes."""

from collections.abc import Callable, Iterable

from sidecheck._blocking.streams import BlockingStream
from sidecheck._blocking.validator import BlockingValidator
from sidecheck._transport.threads import Queue
from sidecheck.errors import SidecheckError
from sidecheck.scripts import Script, raise_for_closed
from sidecheck.streams import OUTSTANDING, StreamOutcome
from sidecheck.targets import Target
from sidecheck.validation import Item, Options, ValidateOutcome
from sidecheck.verdicts import Verdict

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
    unless these name another.
    """

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
