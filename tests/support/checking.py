"""Cases of the rules as requests of ProtocolService."""

import json
from typing import Any

from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1 import target_pb2
from support.rule_cases import RuleCase

__all__ = ["OPTIONS", "answer_to", "batch_item", "context_of", "session_answers"]

OPTIONS = v1.CheckOptions(max_violations=1000)
_SENDERS = {None: v1.SENDER_UNSPECIFIED, "client": v1.SENDER_CLIENT, "server": v1.SENDER_SERVER}
_PROFILES = {
    "specification": v1.RESULT_PROFILE_SPECIFICATION,
    "text": v1.RESULT_PROFILE_TEXT,
}


def context_of(case: RuleCase) -> v1.ProtocolContext:
    """Return the protocol context of *case*."""
    context = v1.ProtocolContext(protocol_version=case.version)
    for name in ("client_capabilities", "server_capabilities"):
        if name in case.fields:
            setattr(context, name, json.dumps(case.fields[name]).encode())
    return context


def batch_item(case: RuleCase) -> v1.CheckItem:
    """Return the subject of *case* as an item of a batch."""
    request = case.fields.get("request")
    request_json = b"" if request is None else json.dumps(request).encode()
    match case.kind:
        case "elicitation":
            return v1.CheckItem(elicitation=v1.Elicitation(params=case.text))
        case "elicitation_result":
            return v1.CheckItem(
                elicitation_result=v1.ElicitationResult(result=case.text, params=request_json)
            )
        case "sampling":
            return v1.CheckItem(sampling=v1.Sampling(params=case.text))
        case "tool_result":
            profile = _PROFILES[case.fields.get("profile", "specification")]
            result = v1.ToolResult(json=case.text, profile=profile, tool=_tool_of(case))
            return v1.CheckItem(tool_result=result)
        case "message":
            message = v1.ProtocolMessage(
                json=case.text,
                sender=_SENDERS[case.fields.get("sender")],
                request_method=case.fields.get("answers", ""),
                request=request_json,
            )
            return v1.CheckItem(message=message)
        case other:
            raise ValueError(f"no item of a batch: {other}")


def _tool_of(case: RuleCase) -> target_pb2.Target | None:
    """Return the tool that gave the result of *case*, if it is known."""
    if "output_schema" not in case.fields:
        return None
    schemas = {"inputSchema": {}, "outputSchema": case.fields["output_schema"]}
    tool = json.dumps({"name": "t", **schemas}).encode()
    return target_pb2.Target(inline_tool=target_pb2.InlineTool(json=tool))


def answer_to(stub: Any, case: RuleCase) -> v1.CheckResult:
    """Return the server's response to a single check of *case*."""
    item = batch_item(case)
    name = item.WhichOneof("item")
    assert name is not None
    method = "Check" + "".join(word.capitalize() for word in name.split("_"))
    request = {"context": context_of(case), "options": OPTIONS, name: getattr(item, name)}
    response = getattr(stub, method)(getattr(v1, f"{method}Request")(**request))
    result: v1.CheckResult = response.result
    return result


def session_answers(stub: Any, case: RuleCase) -> list[v1.CheckResult]:
    """Return the server's results for the messages of the session of *case*."""
    context = context_of(case)
    requests = [
        v1.CheckSessionRequest(defaults=v1.SessionDefaults(context=context, options=OPTIONS))
    ]
    for number, step in enumerate(case.value):
        message = v1.ProtocolMessage(
            json=json.dumps(step["message"]).encode(), sender=_SENDERS[step["from"]]
        )
        item = v1.SessionItem(id=str(number), message=message)
        requests.append(v1.CheckSessionRequest(item=item))
    *results, _summary = stub.CheckSession(iter(requests))
    assert [str(number) for number in range(len(case.value))] == [result.id for result in results]
    return [result.outcome.result for result in results]


def tool_request(case: RuleCase) -> v1.CheckToolsRequest:
    """Return the request that checks the tool of *case*."""
    return v1.CheckToolsRequest(
        context=context_of(case), options=OPTIONS, tools=[target_pb2.InlineTool(json=case.text)]
    )
