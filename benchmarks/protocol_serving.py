"""Messages all the way through a server, one by one, in batches and as a session."""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from load import Work, has_h2load, run_load
from protocol_subjects import messages, text
from report import Effort, Table, format_summary
from servers import Running, sidecheck
from sidecheck.v1 import protocol_service_pb2 as protocol
from sidecheck.v1 import verdict_pb2
from turns import Rounds, take_turns

__all__ = ["add_options", "serving_table"]

_SERVICE = "/sidecheck.v1.ProtocolService/"
_VERSION = "2025-11-25"
_SENDERS = {"client": protocol.SENDER_CLIENT, "server": protocol.SENDER_SERVER}


@dataclass(frozen=True, slots=True)
class Call:
    """One kind of call."""

    title: str
    work: Work
    #: The messages in it.
    items: int
    connections: int
    in_flight: int


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the flags of this script."""
    parser.add_argument(
        "--callers", action="store_true", help="make calls with gRPC's own client, not h2load"
    )


def serving_table(effort: Effort) -> Table:
    """Return how many messages a server checks in a second, over a unix socket."""
    callers = effort.arguments.callers or not has_h2load()
    rounds, seconds = effort.choose((11, 0.4), (2, 0.0))
    with tempfile.TemporaryDirectory() as folder, sidecheck(Path(folder)) as server:
        with grpc.insecure_channel(server.address("unix")) as channel:
            calls = list(_calls(channel, effort.choose(256, 16)))
        turns = {call.title: _loading(server, call, seconds, callers=callers) for call in calls}
        found = take_turns(turns, rounds)
    rates = Rounds({title: [rate for rate, _ in each] for title, each in found.items()})
    times = Rounds({title: [time for _, time in each] for title, each in found.items()})
    load = "gRPC's own client" if callers else "h2load"
    return Table(
        f"Messages through a server, over a unix socket, load from {load} ({rounds} rounds)",
        ["calls", "messages/s", "server's processor, µs/message"],
        [
            [title, format_summary(rates.of(title)), format_summary(times.of(title))]
            for title in found
        ],
    )


def _loading(
    server: Running, call: Call, seconds: float, *, callers: bool
) -> Callable[[], tuple[float, float]]:
    """Return a turn of about so many seconds; it finds messages/s, and µs of the server's."""

    def load(calls: int) -> tuple[int, float]:
        done = run_load(
            server.address("unix"),
            call.work,
            calls,
            connections=call.connections,
            in_flight=call.in_flight,
            callers=callers,
        )
        return done.calls, done.seconds

    calls = 2 * call.connections * call.in_flight
    if seconds:
        made, elapsed = load(calls)
        calls = max(calls, int(seconds * made / elapsed))

    def turn() -> tuple[float, float]:
        before = server.processor_seconds()
        made, elapsed = load(calls)
        used = server.processor_seconds() - before
        return made * call.items / elapsed, max(used, 0.001) * 1e6 / (made * call.items)

    return turn


def _calls(channel: grpc.Channel, count: int) -> Iterator[Call]:
    """Yield every kind of call, each of which the server has answered with yes."""
    context = protocol.ProtocolContext(protocol_version=_VERSION)
    valid = [message for message in messages("valid") if message.version == _VERSION]
    asked = next(one for one in valid if one.title == "tools/call")
    request = protocol.CheckMessageRequest(
        context=context, message=_message(asked.json, asked.sender)
    )
    answer = protocol.CheckMessageResponse.FromString(_ask(channel, "CheckMessage", request))
    _expect_yes(answer.result.verdict)
    yield Call("CheckMessage", _work("CheckMessage", [request], [answer]), 1, 4, 8)

    items = [
        protocol.CheckItem(message=_message(one.json, one.sender, one.answers))
        for one in (valid * count)[:count]
    ]
    batch = protocol.CheckBatchRequest(context=context, items=items)
    answers = protocol.CheckBatchResponse.FromString(_ask(channel, "CheckBatch", batch))
    for outcome in answers.outcomes:
        _expect_yes(outcome.result.verdict)
    title = f"CheckBatch of {count}, every kind"
    yield Call(title, _work("CheckBatch", [batch], [answers]), count, 2, 2)

    session = list(_session(count))
    stream: Any = channel.stream_stream(f"{_SERVICE}CheckSession")
    came = stream(iter([one.SerializeToString() for one in session]), timeout=30)
    replies = [protocol.CheckSessionResponse.FromString(one) for one in came]
    for reply in replies[:-1]:
        _expect_yes(reply.outcome.result.verdict)
    title = f"CheckSession of {len(session)}"
    yield Call(title, _work("CheckSession", session, replies), len(session), 2, 2)


def _session(count: int) -> Iterator[Any]:
    """Yield a session of about so many messages: a handshake, and calls with their results."""
    known = {message.title: message for message in messages("valid")}
    opening = [known["initialize"], known["initialize, result"]]
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    sent = [*((one.json, one.sender) for one in opening), (text(done), "client")]
    for number in range(1, (count - len(sent)) // 2 + 1):
        for title in ("tools/call", "tools/call, result"):
            one = known[title]
            sent.append((one.json.replace(b'"id":7', b'"id":%d' % number, 1), one.sender))
    for index, (json, sender) in enumerate(sent):
        item = protocol.SessionItem(id=str(index), message=_message(json, sender))
        yield protocol.CheckSessionRequest(item=item)


def _message(json: bytes, sender: str, answers: str = "") -> Any:
    return protocol.ProtocolMessage(json=json, sender=_SENDERS[sender], request_method=answers)


def _work(method: str, requests: list[Any], answers: list[Any]) -> Work:
    return Work(
        f"{_SERVICE}{method}",
        tuple(request.SerializeToString() for request in requests),
        sum(answer.ByteSize() for answer in answers),
        len(answers),
    )


def _ask(channel: grpc.Channel, method: str, request: Any) -> bytes:
    call: Any = channel.unary_unary(f"{_SERVICE}{method}")
    answer: bytes = call(request.SerializeToString(), timeout=30)
    return answer


def _expect_yes(verdict: verdict_pb2.Verdict) -> None:
    if not verdict.valid:
        raise AssertionError(f"a message is not valid: {verdict}")
