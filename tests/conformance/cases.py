"""Cases for the clients: requests with what the real server responds, as JSON Lines."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from sidecheck.wire.rpcs import RPCS, Rpc

from conformance.rendering import fill, render_error, render_response
from conformance.requests import Request, all_requests

__all__ = ["write_cases"]

#: Options of a client, unless a case says otherwise. Deadlines are long: the machine may do
#: other work.
_CLIENT: Final[dict[str, Any]] = {
    "timeout": 120.0,
    "on_unavailable": "error",
    "protocol_version": "",
    "coalesce": False,
    "tls": False,
    # What is wrong with the TLS of the client: "authority" or "name".
    "tls_fault": "",
}
_BY_NAME: Final = {rpc.name: rpc for rpc in RPCS}
_PAGED: Final = {"ListTools": "tools", "ListRules": "rules"}


def write_cases(path: Path, servers: Mapping[str, str]) -> None:
    """Write all cases to *path*; the server ``real`` gives the expected results.

    *servers* are addresses by name. Where expected results name remedies of the client in braces,
    the tests of each language have its names.
    """
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    with (
        path.open("w") as lines,
        grpc.insecure_channel(servers["real"], options=options) as channel,
    ):
        oracle = _Oracle(channel)
        names = Counter[str]()
        for request in all_requests():
            id_ = f"{request.group}: {request.name}"
            names[id_] += 1
            if names[id_] > 1:
                id_ += f" ({names[id_]})"
            line = json.dumps({"id": id_, **_case(request, oracle)})
            lines.write(line.replace("{address}", servers.get(request.server, "")) + "\n")


def _case(request: Request, oracle: "_Oracle") -> dict[str, Any]:
    more = dict(request.more)
    want = request.want
    if want is None:
        want = oracle.result(request.call, request.request, more.pop("replaced", {}))
    return {
        "group": request.group,
        "server": request.server,
        "client": _CLIENT | request.client,
        "concurrent": request.concurrent,
        "call": request.call,
        "request": request.request if request.sent is None else request.sent,
        "want": want,
        **more,
    }


class _Oracle:
    """Responses of the server to plain stubs."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self._results: dict[str, dict[str, Any]] = {}

    def result(
        self, call: str, request: dict[str, Any], replaced: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the rendered response to *request*.

        *replaced* has the errors of items that never reach the server, by index. An item of a
        batch or stream of payloads has the result of a single call.
        """
        if call == "ValidateBatch":
            return {"outcomes": self._outcomes(request["items"], replaced)}
        if call == "ValidateStream":
            ids = [item["id"] for item in request["items"]]
            outcomes = self._outcomes([item["item"] for item in request["items"]], replaced)
            return {
                "responses": [
                    {"id": id_, "outcome": outcome}
                    for id_, outcome in zip(ids, outcomes, strict=True)
                ]
            }
        if call == "CheckSession":
            return self._session(request)
        return self._single(call, request)

    def _outcomes(
        self, items: list[dict[str, Any]], replaced: dict[str, Any]
    ) -> list[dict[str, Any]]:
        return [
            {"error": replaced[str(index)]}
            if str(index) in replaced
            else self._single("Validate", item)
            for index, item in enumerate(items)
        ]

    def _single(self, call: str, request: dict[str, Any]) -> dict[str, Any]:
        key = json.dumps([call, request]) if call == "Validate" else ""
        if key in self._results:
            return self._results[key]
        rpc = _BY_NAME[call]
        message = rpc.request()
        fill(message, request)
        try:
            rendered = self._pages(rpc, message) if call in _PAGED else self._call(rpc, message)
        except grpc.RpcError as error:
            rendered = {"error": render_error(_status_of(error))}
        if key:
            self._results[key] = rendered
        return rendered

    def _pages(self, rpc: Rpc, message: Any) -> dict[str, Any]:
        name = _PAGED[rpc.name]
        elements: list[Any] = []
        while True:
            response = self._send(rpc, message)
            elements += render_response(response)[name]
            message.page_token = response.next_page_token
            if not message.page_token:
                return {name: elements}

    def _call(self, rpc: Rpc, message: Message) -> dict[str, Any]:
        return render_response(self._send(rpc, message))

    def _send(self, rpc: Rpc, message: Message) -> Any:
        send: Any = self._channel.unary_unary(
            rpc.path, rpc.request.SerializeToString, rpc.response.FromString
        )
        return send(message, timeout=300)

    def _session(self, request: dict[str, Any]) -> dict[str, Any]:
        rpc = _BY_NAME["CheckSession"]

        def messages() -> Iterator[Message]:
            for name in (
                {"defaults": request["defaults"]},
                *({"item": i} for i in request["items"]),
            ):
                message = rpc.request()
                fill(message, name)
                yield message

        send: Any = self._channel.stream_stream(
            rpc.path, rpc.request.SerializeToString, rpc.response.FromString
        )
        *responses, last = map(render_response, send(messages(), timeout=300))
        for response in responses:
            del response["summary"]
        return {"responses": responses, "summary": last["summary"]}


def _status_of(error: grpc.RpcError) -> Status:
    assert isinstance(error, grpc.Call)
    trailers = dict(error.trailing_metadata() or ())
    return Status.FromString(trailers["grpc-status-details-bin"])
