"""Tests of the corruption of messages, of their marks and of the reduction of findings."""

from collections import Counter
from pathlib import Path
from random import Random

from fuzz.exchanges import Ending, Exchange, read_exchanges, write_exchanges
from fuzz.materials import Material
from fuzz.messages import Writer
from fuzz.mutation import corrupt
from fuzz.properties import Finding
from fuzz.rpcs import rpc_named
from fuzz.shrinking import shrunk
from fuzz.texts import mark_of, marks_in
from fuzz.validations import VALIDATE
from google.protobuf.message import DecodeError
from sidecheck.v1.validation_service_pb2 import ValidateRequest

MATERIAL = Material()
DESCRIPTOR = rpc_named(VALIDATE).request


def written(serial: int) -> bytes:
    """Return a request with the mark of *serial*."""
    writer = Writer(Random(serial), MATERIAL, serial, [])
    return writer.write(DESCRIPTOR).SerializeToString()


def test_some_corrupt_messages_can_be_parsed() -> None:
    """The server rejects unparsable messages at once; the others reach its services."""
    readable: Counter[bool] = Counter()
    for serial in range(300):
        data = corrupt(Random(serial), written(serial), DESCRIPTOR)
        try:
            ValidateRequest.FromString(data)
        except DecodeError:
            readable[False] += 1
        else:
            readable[True] += 1

    assert 60 < readable[True] < 240


def test_the_same_seed_writes_the_same_messages() -> None:
    """A run can be repeated."""
    assert [written(serial) for serial in range(50)] == [written(serial) for serial in range(50)]


def test_messages_carry_their_own_mark() -> None:
    """Many messages have their mark, and none has the mark of another message."""
    marks = [marks_in(written(serial)) for serial in range(1, 200)]

    assert {frozenset(), *(frozenset({serial}) for serial in range(1, 200))} >= set(
        map(frozenset, marks)
    )
    assert sum(map(bool, marks)) > 60
    assert marks_in(mark_of(77).encode()) == {77}


def test_a_finding_is_reduced() -> None:
    """The part that causes the finding remains."""
    request = ValidateRequest()
    request.target.inline_schema.json = b'{"type": "object", "title": "a bad one"}'
    request.subject.arguments = b'{"x": 1}'
    request.options.max_violations = 7

    def examine(exchange: Exchange) -> list[Finding]:
        shows = b"bad" in exchange.messages[0]
        return [Finding("bad", "", [exchange])] if shows else []

    finding = examine(Exchange(1, VALIDATE, (request.SerializeToString(),)))[0]
    small = ValidateRequest.FromString(shrunk(finding, examine).exchanges[0].messages[0])

    expected = ValidateRequest()
    expected.target.inline_schema.json = b"bad"
    assert expected == small


def test_written_exchanges_are_read_unchanged(tmp_path: Path) -> None:
    """Messages may be any bytes."""
    sent = [
        Exchange(1, VALIDATE, (b"\xff\0\n",)),
        Exchange(2, VALIDATE, (b"", b"x"), Ending.CANCELLED),
    ]
    write_exchanges(tmp_path / "sent", sent)

    assert sent == read_exchanges(tmp_path / "sent")
