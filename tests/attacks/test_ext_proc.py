"""Attacks through Envoy's external processor: each has its answer, and bystanders have theirs.

A client of gRPC stands in for Envoy, with one connection for attacks and one for the bystander.
"""

import json
from collections.abc import Iterator

import grpc
import pytest
from attacks.exchanges import ATTACKS, CALL, EVENTS, POST, ExchangeAttack
from attacks.requests import GOOD_CALL
from attacks.responses import GOOD_RESULT, MARK, event
from support.ext_proc_exchange import Exchange, Relayed, part, relay, request_body, response_body
from support.gateway import ENFORCE, ext_proc_settings
from support.http_mcp_server import TOOL
from support.running import RunningServer

_MOST_STREAMS = 8
_METADATA = [("sidecheck-server", "echo")] + [(f"sidecheck-{n}", p) for n, p in ENFORCE.items()]
_JSON = part("response_headers", (":status", "200"), ("content-type", "application/json"))
_LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
_TOOLS = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}).encode()


@pytest.fixture(scope="module")
def sidecheck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    settings = ext_proc_settings()
    settings["SIDECHECK_TRANSPORT__GATEWAY_STREAMS"] = str(_MOST_STREAMS)
    running = RunningServer(tmp_path_factory.mktemp("ext_proc"), **settings)
    yield running
    running.close()


def _connect(address: str) -> grpc.Channel:
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
    return grpc.insecure_channel(address, options)


@pytest.fixture(scope="module")
def bystander(sidecheck: RunningServer) -> Iterator[grpc.Channel]:
    """Yield the connection of an Envoy before a server whose tool is listed."""
    with _connect(sidecheck.address) as channel:
        listed = _relay(channel, POST, request_body(_LIST), _JSON, response_body(_TOOLS))
        assert listed == Relayed("the client gets result", _LIST, _TOOLS)
        yield channel


@pytest.fixture
def attacker(sidecheck: RunningServer, bystander: grpc.Channel) -> Iterator[grpc.Channel]:
    """Yield another connection; at its end, an exchange of the bystander is answered."""
    with _connect(sidecheck.address) as channel:
        yield channel
    relayed = _relay(bystander, *CALL, _JSON, response_body(GOOD_RESULT))
    assert relayed == Relayed("the client gets result", GOOD_CALL, GOOD_RESULT)


def _relay(channel: grpc.Channel, *parts: object) -> Relayed:
    return relay(Exchange(channel, _METADATA), parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.name) for attack in ATTACKS])
def test_an_attack_has_its_answer(attacker: grpc.Channel, attack: ExchangeAttack) -> None:
    """No invalid call is in what the server gets, and no invalid result in what clients get."""
    relayed = _relay(attacker, *attack.parts)

    assert attack.answer == relayed.answer, attack.rule
    assert relayed.server in {b"", GOOD_CALL}
    assert MARK not in relayed.client.replace(b'\\"evil\\"', b"")


#: Where a stream stops, by the parts before.
STOPS = {
    "before its headers": (),
    "after its headers": (POST,),
    "after its request": CALL,
    "after the headers of the response": (*CALL, EVENTS),
    "in the middle of an event": (*CALL, EVENTS, response_body(event(GOOD_RESULT)[:40])),
    "in the middle of a carriage return": (*CALL, EVENTS, response_body(b"data: 1\r")),
}


@pytest.mark.parametrize("stop", STOPS)
def test_a_stream_that_ends_early(attacker: grpc.Channel, stop: str) -> None:
    """It ends without an error: Envoy ends exchanges wherever their clients do."""
    exchange = Exchange(attacker, _METADATA)
    for request in STOPS[stop]:
        exchange.send(request)

    exchange.close()


@pytest.mark.parametrize("stop", list(STOPS)[1:])
def test_streams_that_stall_and_are_dropped(
    attacker: grpc.Channel, sidecheck: RunningServer, stop: str
) -> None:
    """`transport.gateway_streams` of them are open; another has an error, until they are gone."""
    stalled = [Exchange(attacker, _METADATA) for _ in range(_MOST_STREAMS)]
    last = [[exchange.send(part) for part in STOPS[stop]][-1] for exchange in stalled]
    beyond = _relay(attacker, POST)
    for exchange in stalled:
        exchange.cancel()
    open_ids = {response.dynamic_metadata["sidecheck"]["verdict_id"] for response in last}  # type: ignore[index]
    while open_ids:
        open_ids.discard(sidecheck.wait_for("gateway.completed")["verdict_id"])

    overload = "the limit of open gateway_streams is reached (gateway_streams)"
    assert f"RESOURCE_EXHAUSTED: {overload}; retry later" == beyond.answer
