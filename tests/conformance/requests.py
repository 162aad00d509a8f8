"""Requests of the shared cases: `tests/cases`, as calls of the API.

A call that no shared case makes is written in ``tests/cases/clients/*.json``, as are the cases
of faults: each with a ``call``, its ``request`` rendered as in `conformance.rendering`, and
what else a `Request` has.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from google.protobuf.message import Message
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import options_pb2, target_pb2
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from support.checking import OPTIONS, batch_item, context_of, tool_request
from support.conversion_requests import target
from support.result_cases import ADAPTATIONS, RESULTS, text_of
from support.rule_cases import rule_cases
from support.shared_cases import CALLS, VALIDATE
from support.shared_conversions import CONVERSIONS, RESTORATIONS, call_of, mapping_of, tool_of
from support.shared_material import REPOSITORY

from conformance.rendering import fill, render_request

__all__ = ["Request", "all_requests"]

_FOLDER = REPOSITORY / "tests" / "cases"
_SUBJECTS = ("elicitation", "elicitation_result", "sampling", "tool_result", "message")
_SENDERS = {"client": protocol_pb.SENDER_CLIENT, "server": protocol_pb.SENDER_SERVER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of a client."""

    #: Row of the matrix.
    group: str
    name: str
    #: Name of the remote procedure.
    call: str
    #: The request, rendered; of a stream its ``defaults`` and ``items``.
    request: dict[str, Any]
    #: Name of the server.
    server: str = "real"
    #: Options of the client that differ from the defaults.
    client: dict[str, Any] = field(default_factory=dict)
    #: Whether the cases of the group are started at once.
    concurrent: bool = False
    #: Further fields of the case.
    more: dict[str, Any] = field(default_factory=dict)
    #: The request that the client sends, where it is not *request*.
    sent: dict[str, Any] | None = None
    #: The expected result; None means the response of the real server.
    want: dict[str, Any] | None = None


def all_requests() -> Iterator[Request]:
    """Yield the requests of all cases."""
    validations = list(_validations())
    yield from validations
    yield from _through(validations, "unix socket", server="unix")
    yield from _through(validations, "TLS", server="tls", client={"tls": True})
    yield from _through(validations, "coalesced", client={"coalesce": True}, concurrent=True)
    yield _batch(validations)
    yield _stream(validations)
    yield from _conversions()
    yield from _results()
    yield from _rules()
    yield from _sessions()
    yield from _inferences()
    yield from _large()
    yield from _written()


def _validations() -> Iterator[Request]:
    for parameter in (*VALIDATE, *CALLS):
        [case] = parameter.values
        message = validation_pb.ValidateRequest(
            target=_target(case),
            subject=_subject(case),
            options=options_pb2.ValidationOptions(**case.get("options", {})),
        )
        yield _request("validate", str(parameter.id), "Validate", message)


def _target(case: dict[str, Any]) -> target_pb2.Target:
    if "tool" in case:
        return target(case["tool"].encode())
    documents = [
        target_pb2.Document(uri=document["uri"], json=document["json"].encode())
        for document in case.get("documents", ())
    ]
    schema = target_pb2.InlineSchema(
        json=case["schema"].encode(),
        documents=documents,
        default_dialect=case.get("default_dialect", ""),
    )
    return target_pb2.Target(inline_schema=schema)


def _subject(case: dict[str, Any]) -> target_pb2.Subject:
    name = case.get("subject", "arguments")
    if name == "absent_structured_content":
        return target_pb2.Subject(absent_structured_content=target_pb2.AbsentContent())
    return target_pb2.Subject(**{name: case["payload"].encode()})


def _through(requests: list[Request], group: str, **changes: Any) -> Iterator[Request]:
    """Yield *requests* in another group, with *changes*."""
    for request in requests:
        yield replace(request, group=f"validate, {group}", **changes)


def _batch(validations: list[Request]) -> Request:
    """Return all validations as one batch, larger than a server takes at once."""
    items = [request.request for request in validations]
    return Request(
        group="batch", name="all validations", call="ValidateBatch", request={"items": items * 3}
    )


def _stream(validations: list[Request]) -> Request:
    """Return all validations as one stream."""
    items = [
        {"id": str(number), "item": request.request} for number, request in enumerate(validations)
    ]
    return Request(
        group="stream", name="all validations", call="ValidateStream", request={"items": items}
    )


def _conversions() -> Iterator[Request]:
    for parameter in CONVERSIONS:
        [case] = parameter.values
        tools = conversion_pb.ConvertToolsRequest(
            api=f"MODEL_API_{_constant(case['api'])}",
            options=conversion_pb.ConversionOptions(
                mode=f"CONVERSION_MODE_{_constant(case['mode'])}", **case.get("options", {})
            ),
            tools=[conversion_pb.ToolToConvert(tool=target(tool_of(case)))],
        )
        yield _request("convert tools", case["name"], "ConvertTools", tools)
    for parameter in RESTORATIONS:
        [case] = parameter.values
        call = conversion_pb.ConvertToolCallRequest(
            call=call_of(case), mappings=[mapping_of(case)], tool=target(tool_of(case))
        )
        yield _request("convert calls", case["name"], "ConvertToolCall", call)


def _results() -> Iterator[Request]:
    for parameter in RESULTS:
        [case] = parameter.values
        [(kind, value)] = case["returned"].items()
        returned: dict[str, Any] = {kind: value if kind == "error" else text_of(value)}
        normalization = protocol_pb.NormalizeToolResultRequest(
            context=protocol_pb.ProtocolContext(protocol_version=case["version"]),
            tool=target(case["tool"]) if "tool" in case else None,
            profile=f"RESULT_PROFILE_{case.get('profile', 'specification').upper()}",
            **returned,
        )
        yield _request("normalize", case["name"], "NormalizeToolResult", normalization)
    for parameter in ADAPTATIONS:
        [case] = parameter.values
        adaptation = inference_pb.AdaptToolRequest(
            tool=target(case["tool"]), protocol_version=case["version"]
        )
        yield _request("adapt", case["name"], "AdaptTool", adaptation)


def _rules() -> Iterator[Request]:
    """Yield the cases of the rules, single and the items of each context in a batch."""
    batches: dict[bytes, list[protocol_pb.CheckItem]] = {}
    for case in rule_cases("tool", "definition"):
        yield _request("check tools", str(case), "CheckTools", tool_request(case))
    for case in rule_cases(*_SUBJECTS):
        item = batch_item(case)
        name = str(item.WhichOneof("item"))
        call = "Check" + name.title().replace("_", "")
        message = getattr(protocol_pb, f"{call}Request")(
            context=context_of(case), options=OPTIONS, **{name: getattr(item, name)}
        )
        yield _request("check messages", str(case), call, message)
        batches.setdefault(context_of(case).SerializeToString(), []).append(item)
    for number, (context, items) in enumerate(batches.items()):
        batch = protocol_pb.CheckBatchRequest(
            context=protocol_pb.ProtocolContext.FromString(context), options=OPTIONS, items=items
        )
        yield _request("check batches", f"context {number}", "CheckBatch", batch)


def _sessions() -> Iterator[Request]:
    for case in rule_cases("session"):
        defaults = protocol_pb.SessionDefaults(context=context_of(case), options=OPTIONS)
        items = [_session_item(number, sent) for number, sent in enumerate(case.value)]
        request = {"defaults": render_request(defaults), "items": items}
        yield Request(group="sessions", name=str(case), call="CheckSession", request=request)


def _session_item(number: int, sent: dict[str, Any]) -> dict[str, Any]:
    message = protocol_pb.ProtocolMessage(
        json=json.dumps(sent["message"]).encode(), sender=_SENDERS[sent["from"]]
    )
    return render_request(protocol_pb.SessionItem(id=str(number), message=message))


def _inferences() -> Iterator[Request]:
    for path in sorted((_FOLDER / "infer").glob("*.json")):
        for case in json.loads(path.read_text())["cases"]:
            inference = inference_pb.InferToolsRequest(source=case["source"].encode())
            yield _request("infer", f"{path.stem}: {case['name']}", "InferTools", inference)


def _large() -> Iterator[Request]:
    """Yield payloads and batches that do not fit in a message."""
    schema = {"inline_schema": {"json": "{}"}}
    huge = {"target": schema, "subject": {"arguments": " " * (5 << 20) + "{}"}}
    small = {"target": schema, "subject": {"arguments": "{}"}}
    large = {"target": schema, "subject": {"arguments": " " * 400_000 + "{}"}}
    error = {"kind": "error", "reason": "LIMIT_EXCEEDED", "status": "RESOURCE_EXHAUSTED"}
    yield Request(
        group="limits",
        name="a payload larger than a message",
        call="Validate",
        request=huge,
        want={"error": error},
    )
    yield Request(
        group="limits",
        name="a batch larger than a message",
        call="ValidateBatch",
        request={"items": [large] * 25},
    )
    element = validation_pb.ValidateBatchRequest()
    fill(element, {"items": [huge]})
    message = validation_pb.ValidateStreamRequest()
    fill(message, {"item": {"id": "1", "item": huge}})
    for call, items, size in (
        ("ValidateBatch", [small, huge, small], element.ByteSize()),
        (
            "ValidateStream",
            [{"id": str(n), "item": i} for n, i in enumerate((small, huge, small))],
            message.ByteSize(),
        ),
    ):
        text = f"item too large: {size} bytes exceed the limit of {4 << 20} (message_bytes)"
        yield Request(
            group="limits",
            name=f"an item larger than a message: {call}",
            call=call,
            request={"items": items},
            more={"replaced": {"1": {**error, "text": f"LIMIT_EXCEEDED: {text}"}}},
        )


def _written() -> Iterator[Request]:
    for path in sorted((_FOLDER / "clients").glob("*.json")):
        for case in json.loads(path.read_text())["cases"]:
            yield Request(**{"group": path.stem.replace("_", " "), **case})


def _request(group: str, name: str, call: str, message: Message) -> Request:
    return Request(group=group, name=name, call=call, request=render_request(message))


def _constant(word: str) -> str:
    return word.upper().replace("-", "_")
