"""Responses that the API does not define: an error of their own in every method."""

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from sidecheck import (
    Arguments,
    Deletion,
    InferredTools,
    InvalidResponse,
    Item,
    ModelApi,
    Sampling,
    Schema,
)
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest
from sidecheck.wire.rpcs import RPCS, Rpc
from support.clients import CLIENT_KINDS, connect
from support.raw_servers import serving_messages
from support.scripted_calls import smallest_response

BY_PATH = {rpc.path: rpc for rpc in RPCS}
INFO = smallest_response(GetServerInfoRequest()).SerializeToString()
ANY = Schema(b"true")

#: Returns the serialized responses to a request, whose smallest response is given too.
Fault = Callable[[Rpc, Message], list[bytes]]


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of client."""
    return str(request.param)


async def first_rule(client: Any) -> Any:
    """Return the first rule, or None."""
    return await anext(client.protocol.list_rules(), None)


async def first_tool(client: Any) -> Any:
    """Return the first registered tool, or None."""
    return await anext(client.list(), None)


#: A call of every method, by the name of the procedure.
CALLS: dict[str, Callable[[Any], Any]] = {
    "Validate": lambda c: c.validate(ANY, 1),
    "ValidateBatch": lambda c: c.validate_batch([Item(Arguments(1), ANY)] * 2),
    "RegisterTools": lambda c: c.register("s", [{"name": "n"}, {"name": "m"}]),
    "GetTool": lambda c: c.get("s", "n"),
    "ListTools": first_tool,
    "DeleteTools": lambda c: c.delete("s", ["n"]),
    "CompareTools": lambda c: c.compare([{}], [{}]),
    "ListRules": first_rule,
    "CheckToolNames": lambda c: c.protocol.check_names(["n", "m"]),
    "CheckTools": lambda c: c.protocol.check_tools(definitions=[{}, {}]),
    "CheckElicitation": lambda c: c.protocol.check_elicitation(b"{}"),
    "CheckElicitationResult": lambda c: c.protocol.check_elicitation_result(b"{}"),
    "CheckSampling": lambda c: c.protocol.check_sampling(b"{}"),
    "CheckToolResult": lambda c: c.protocol.check_tool_result(b"{}"),
    "NormalizeToolResult": lambda c: c.protocol.normalize_tool_result(1),
    "CheckMessage": lambda c: c.protocol.check_message(b"{}"),
    "CheckBatch": lambda c: c.protocol.check_batch([Sampling(b"{}")] * 2),
    "ConvertTools": lambda c: c.conversion.convert_tools(ModelApi.ANTHROPIC, [{}, {}]),
    "ConvertToolCall": lambda c: c.conversion.convert_tool_call(b"{}", []),
    "ConvertToolResult": lambda c: c.conversion.convert_tool_result(ModelApi.ANTHROPIC, b"{}"),
    "InferTools": lambda c: c.inference.infer_tools("def f(): ..."),
    "AdaptTool": lambda c: c.inference.adapt_tool({}),
    "GetServerInfo": lambda c: c.info(),
}

#: Faults of any response, with the text of the message.
FAULTS: dict[str, tuple[str, Fault]] = {
    "no message": ("without an error and without a response", lambda rpc, response: []),
    "garbage": ("3 bytes, does not decode", lambda rpc, response: [b"\xff\xff\xff"]),
    "a page of HTML": ("6 bytes, does not decode", lambda rpc, response: [b"<html>"]),
    "an empty message": ("missing|elements for|no names|outcomes for", lambda rpc, response: [b""]),
}

#: Calls for which an empty message is a response: that there is nothing.
NOTHING: dict[str, object] = {
    "ListTools": None,
    "ListRules": None,
    "InferTools": InferredTools(tools=(), diagnostics=()),
}


def test_every_procedure_is_called() -> None:
    """Streams have tests of their own."""
    assert {rpc.name for rpc in RPCS if not rpc.streaming} == CALLS.keys()


async def outcome_of(kind: str, name: str, fault: Fault, call: Callable[[Any], Any]) -> object:
    """Return what *call* returns, or the error that it raises, as *name* has *fault*."""

    async def respond(path: str, data: bytes, context: Any) -> list[bytes]:
        rpc = BY_PATH[path]
        if rpc.name != name:
            return [INFO]
        return fault(rpc, smallest_response(rpc.request.FromString(data)))

    async with (
        serving_messages(respond) as address,
        connect(kind, address, timeout=120, on_unavailable="allow") as client,
    ):
        try:
            return await call(client)
        except InvalidResponse as error:
            return error


@pytest.mark.parametrize(("text", "fault"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("name", CALLS)
async def test_an_invalid_response_is_an_error(
    kind: str, name: str, text: str, fault: Fault
) -> None:
    """It is never a verdict, and no policy applies: a server answered."""
    outcome = await outcome_of(kind, name, fault, CALLS[name])
    if fault is FAULTS["an empty message"][1] and name in NOTHING:
        assert NOTHING[name] == outcome
        return
    with pytest.raises(InvalidResponse, match=rf"INVALID_RESPONSE: .*({text})"):
        raise outcome if isinstance(outcome, Exception) else AssertionError(outcome)


async def test_a_deletion_may_delete_no_tool(kind: str) -> None:
    """A server without tools has no names to return."""
    outcome = await outcome_of(
        kind, "DeleteTools", lambda rpc, response: [b""], lambda c: c.delete_all("s")
    )
    assert Deletion() == outcome


def without_last(rpc: Rpc, response: Any) -> list[bytes]:
    """Return the response without its last outcome."""
    outcomes = response.conversions if rpc.name == "ConvertTools" else response.outcomes
    del outcomes[-1]
    return [response.SerializeToString()]


def without_outcome(rpc: Rpc, response: Any) -> list[bytes]:
    """Return the response with an outcome that is neither a result nor an error."""
    outcomes = response.conversions if rpc.name == "ConvertTools" else response.outcomes
    outcomes[0].Clear()
    return [response.SerializeToString()]


def with_status_ok(rpc: Rpc, response: Any) -> list[bytes]:
    """Return the response with an error of status OK."""
    outcomes = response.conversions if rpc.name == "ConvertTools" else response.outcomes
    outcomes[0].error.CopyFrom(Status(message="fine"))
    return [response.SerializeToString()]


BATCHES = ("ValidateBatch", "CheckBatch", "ConvertTools")
CHECKS = ("CheckToolNames", "CheckTools")


@pytest.mark.parametrize(
    ("name", "fault", "text"),
    [
        *((name, without_last, "1 .* 2 items") for name in (*BATCHES, *CHECKS, "RegisterTools")),
        *((name, without_outcome, "neither a result nor an error") for name in BATCHES),
        *((name, with_status_ok, "neither a result nor an error") for name in BATCHES),
        *((name, without_outcome, "verdict is missing") for name in CHECKS),
    ],
)
async def test_every_item_has_an_outcome(kind: str, name: str, fault: Fault, text: str) -> None:
    """Outcomes are by position, so that one too few would be another item's."""
    error = await outcome_of(kind, name, fault, CALLS[name])
    with pytest.raises(InvalidResponse, match=text):
        raise error if isinstance(error, Exception) else AssertionError(error)
