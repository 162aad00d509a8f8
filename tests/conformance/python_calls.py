"""Requests of the shared cases as calls of the Python client, asynchronous or blocking."""

import inspect
from collections.abc import Callable
from typing import Any, Final

from sidecheck import (
    ABSENT,
    Arguments,
    CallParams,
    CallResult,
    CheckOptions,
    Coercion,
    ConversionMode,
    ConversionOptions,
    DefinitionDigest,
    Detail,
    Document,
    Elicitation,
    ElicitationResult,
    Item,
    ModelApi,
    OnUnknownTool,
    Options,
    Portability,
    ProtocolContext,
    ProtocolMessage,
    RegisteredTool,
    Sampling,
    Schema,
    SchemaDigest,
    ServerPrefix,
    ServerTools,
    Severity,
    StructuredContent,
    ToolDefinition,
    ToolResult,
    ToolToConvert,
    UnknownArguments,
)

__all__ = ["CALLS", "context_of", "item_of", "options_of", "target_of"]

_Json = dict[str, Any]

_ENUMS: Final[dict[str, Callable[[str], Any]]] = {
    "detail": Detail,
    "unknown_arguments": UnknownArguments,
    "coercion": Coercion,
    "on_unknown_tool": OnUnknownTool,
    "mode": ConversionMode,
    "server_prefix": ServerPrefix,
    "min_severity": Severity,
}


def options_of(fields: _Json | None, kind: Any = Options) -> Any:
    """Return options of the class *kind*, or None if *fields* is None."""
    if fields is None:
        return None
    return kind(
        **{name: _ENUMS[name](value) if name in _ENUMS else value for name, value in fields.items()}
    )


def context_of(request: _Json) -> ProtocolContext | None:
    """Return the protocol context of *request*."""
    if "context" not in request:
        return None
    fields = request["context"]
    texts = {name: _bytes(value) for name, value in fields.items() if name.endswith("capabilities")}
    return ProtocolContext(**{**fields, **texts})


def target_of(target: _Json | None) -> Any:
    """Return the target, or None."""
    if target is None:
        return None
    [(kind, value)] = target.items()
    match kind:
        case "registered_tool":
            return RegisteredTool(**{"server": "", **value})
        case "definition_digest":
            return DefinitionDigest(value)
        case "schema_digest":
            return SchemaDigest(value)
        case "inline_tool":
            return _definition(value)
        case _:
            return Schema(
                value.get("json", "").encode(),
                _documents(value),
                default_dialect=value.get("default_dialect", ""),
            )


def item_of(item: _Json) -> Item:
    """Return the item of a batch or stream."""
    [(kind, value)] = item["subject"].items()
    subjects: dict[str, Callable[[], Any]] = {
        "arguments": lambda: Arguments(value.encode()),
        "structured_content": lambda: StructuredContent(value.encode()),
        "absent_structured_content": lambda: StructuredContent(ABSENT),
        "call_params": lambda: CallParams(value.encode()),
        "call_result": lambda: CallResult(value.encode()),
    }
    return Item(subjects[kind](), target_of(item.get("target")), options_of(item.get("options")))


def _definition(tool: _Json) -> ToolDefinition:
    return ToolDefinition(tool.get("json", "").encode(), _documents(tool))


def _documents(holder: _Json) -> tuple[Document, ...]:
    return tuple(
        Document(document["uri"], document["json"].encode())
        for document in holder.get("documents", ())
    )


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _validate(client: Any, request: _Json) -> Any:
    item = item_of(request)
    methods = {
        Arguments: client.validate,
        StructuredContent: client.validate_structured_content,
        CallParams: client.validate_call,
        CallResult: client.validate_call_result,
    }
    return methods[type(item.subject)](item.target, item.subject.payload, options=item.options)


async def _require_valid(client: Any, request: _Json) -> Any:
    verdict = _validate(client, request)
    if inspect.isawaitable(verdict):
        verdict = await verdict
    verdict.raise_for_invalid()
    return verdict


def _validate_batch(client: Any, request: _Json) -> Any:
    return client.validate_batch(
        [item_of(item) for item in request["items"]],
        target=target_of(request.get("target")),
        options=options_of(request.get("options")),
    )


def _register(client: Any, request: _Json) -> Any:
    names = (
        *("change_policy", "compatibility", "reading", "on_rejected"),
        *("validate_only", "protocol_version"),
    )
    return client.register(
        request.get("server", ""),
        [_definition(tool) for tool in request.get("tools", ())],
        replace=request.get("mode") == "replace",
        **{"on_rejected": "return"} | {name: request[name] for name in names if name in request},
    )


def _compare(client: Any, request: _Json) -> Any:
    reading = request.get("reading", "assume-closed")
    return client.compare(_tool_set(request["old"]), _tool_set(request["new"]), reading=reading)


def _tool_set(tools: _Json) -> ServerTools | list[ToolDefinition]:
    if "server" in tools:
        return ServerTools(tools["server"], tuple(tools.get("names", ())))
    return [_definition(tool) for tool in tools.get("tools", ())]


def _get(client: Any, request: _Json) -> Any:
    adapt_to_version = request.get("adapt_to_version", "")
    return client.get(
        request.get("server", ""), request.get("name", ""), adapt_to_version=adapt_to_version
    )


def _list(client: Any, request: _Json) -> Any:
    adapt_to_version = request.get("adapt_to_version", "")
    return client.list(request.get("server"), adapt_to_version=adapt_to_version)


def _delete(client: Any, request: _Json) -> Any:
    if request.get("all"):
        return client.delete_all(request["server"])
    return client.delete(request["server"], request["names"])


def _common(request: _Json) -> _Json:
    return {
        "context": context_of(request),
        "options": options_of(request.get("options"), CheckOptions),
    }


def _check_tools(client: Any, request: _Json) -> Any:
    if "tools_list" in request:
        tools = {"tools_list": request["tools_list"].encode()}
    else:
        tools = {"definitions": [_definition(tool) for tool in request.get("tools", ())]}
    return client.protocol.check_tools(**tools, documents=_documents(request), **_common(request))


def _subject_of(name: str, subject: _Json) -> Any:
    match name:
        case "elicitation":
            return Elicitation(subject.get("params", "").encode())
        case "elicitation_result":
            return ElicitationResult(
                subject.get("result", "").encode(), _bytes(subject.get("params"))
            )
        case "sampling":
            return Sampling(subject.get("params", "").encode())
        case "tool_result":
            profile = subject.get("profile", "specification")
            return ToolResult(
                subject.get("json", "").encode(), profile, target_of(subject.get("tool"))
            )
        case _:
            return ProtocolMessage(
                subject.get("json", "").encode(),
                subject.get("sender", ""),
                subject.get("request_method", ""),
                _bytes(subject.get("request")),
            )


def _check_elicitation(client: Any, request: _Json) -> Any:
    item = _subject_of("elicitation", request["elicitation"])
    return client.protocol.check_elicitation(item.params, **_common(request))


def _check_elicitation_result(client: Any, request: _Json) -> Any:
    item = _subject_of("elicitation_result", request["elicitation_result"])
    check = client.protocol.check_elicitation_result
    return check(item.result, params=item.params, **_common(request))


def _check_sampling(client: Any, request: _Json) -> Any:
    item = _subject_of("sampling", request["sampling"])
    return client.protocol.check_sampling(item.params, **_common(request))


def _check_tool_result(client: Any, request: _Json) -> Any:
    item = _subject_of("tool_result", request["tool_result"])
    check = client.protocol.check_tool_result
    return check(item.result, profile=item.profile, tool=item.tool, **_common(request))


def _check_message(client: Any, request: _Json) -> Any:
    item = _subject_of("message", request["message"])
    return client.protocol.check_message(
        item.message,
        sender=item.sender,
        request_method=item.request_method,
        request=item.request,
        **_common(request),
    )


def _check_batch(client: Any, request: _Json) -> Any:
    items = [_subject_of(*next(iter(item.items()))) for item in request["items"]]
    return client.protocol.check_batch(items, **_common(request))


def _normalize(client: Any, request: _Json) -> Any:
    returned = {name: request[name] for name in ("value", "content", "result") if name in request}
    arguments: _Json = {name: text.encode() for name, text in returned.items()}
    if "error" in request:
        arguments["error"] = request["error"]
    return client.protocol.normalize_tool_result(
        tool=target_of(request.get("tool")),
        profile=request.get("profile", "specification"),
        **arguments,
        **_common(request),
    )


def _convert_tools(client: Any, request: _Json) -> Any:
    return client.conversion.convert_tools(
        _api(request),
        [
            ToolToConvert(target_of(tool["tool"]), tool.get("server", ""))
            for tool in request.get("tools", ())
        ],
        servers=request.get("servers", ()),
        options=options_of(request.get("options"), ConversionOptions),
    )


def _convert_call(client: Any, request: _Json) -> Any:
    return client.conversion.convert_tool_call(
        request.get("call", "").encode(),
        [mapping.encode() for mapping in request["mappings"]],
        tool=target_of(request.get("tool")),
        options=options_of(request.get("options")),
    )


def _convert_result(client: Any, request: _Json) -> Any:
    item = _subject_of("tool_result", request["result"])
    return client.conversion.convert_tool_result(
        _api(request),
        item.result,
        call_id=request.get("call_id", ""),
        name=request.get("name", ""),
        tool=item.tool,
        profile=item.profile,
        **_common(request),
    )


def _api(request: _Json) -> ModelApi:
    return ModelApi(request["api"])


def _infer(client: Any, request: _Json) -> Any:
    return client.inference.infer_tools(
        request.get("source", ""), **{name: request[name] for name in request if name != "source"}
    )


def _adapt(client: Any, request: _Json) -> Any:
    version = request.get("protocol_version", "")
    portable = Portability(**request["portable"]) if "portable" in request else None
    return client.inference.adapt_tool(target_of(request["tool"]), version, portable=portable)


#: The calls that have one response, or an iterator of elements, by the name of the procedure.
CALLS: Final[dict[str, Callable[[Any, _Json], Any]]] = {
    "Validate": _validate,
    # No procedure: the verdict as an error.
    "RequireValid": _require_valid,
    "ValidateBatch": _validate_batch,
    "RegisterTools": _register,
    "GetTool": _get,
    "ListTools": _list,
    "DeleteTools": _delete,
    "CompareTools": _compare,
    "GetServerInfo": lambda client, _request: client.info(),
    "ListRules": lambda client, request: client.protocol.list_rules(**request),
    "CheckToolNames": lambda client, request: client.protocol.check_names(
        request["names"], **_common(request)
    ),
    "CheckTools": _check_tools,
    "CheckElicitation": _check_elicitation,
    "CheckElicitationResult": _check_elicitation_result,
    "CheckSampling": _check_sampling,
    "CheckToolResult": _check_tool_result,
    "CheckMessage": _check_message,
    "CheckBatch": _check_batch,
    "NormalizeToolResult": _normalize,
    "ConvertTools": _convert_tools,
    "ConvertToolCall": _convert_call,
    "ConvertToolResult": _convert_result,
    "InferTools": _infer,
    "AdaptTool": _adapt,
}
