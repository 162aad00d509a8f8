"""Sessions without a fault, of 2026-07-28."""

from typing import Any

from broken.writer import FORM, OUTPUT, TEXT, WEATHER, Entries, Writer

__all__ = ["stateless", "task_extension"]

_STATELESS = "2026-07-28"
_TASKS = "io.modelcontextprotocol/tasks"
_INFO = "io.modelcontextprotocol/serverInfo"
_SOFTWARE = {"name": "example", "version": "1"}
_CACHE = {"ttlMs": 1000, "cacheScope": "public"}


def _meta(**more: Any) -> dict[str, Any]:
    """Return the `_meta` of a request; *more* are capabilities beside those that all have."""
    return {
        "io.modelcontextprotocol/protocolVersion": _STATELESS,
        "io.modelcontextprotocol/clientInfo": _SOFTWARE,
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {"form": {}, "url": {}},
            "roots": {},
            "sampling": {"tools": {}},
            **more,
        },
    }


def _complete(**result: Any) -> dict[str, Any]:
    return {"resultType": "complete", **result, "_meta": {_INFO: _SOFTWARE}}


def stateless() -> Entries:
    """Return a session of 2026-07-28: each of its features."""
    write = Writer()
    meta = {"_meta": _meta()}
    server: dict[str, Any] = {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "completions": {},
        "logging": {},
    }
    write.request("discover", 0, "server/discover", meta)
    discovery = _complete(supportedVersions=[_STATELESS], capabilities=server, **_CACHE)
    write.result("discovered", 0, discovery)
    _listen(write)
    _use_stateless_tools(write)
    _retry(write)
    _use_others(write)
    write.request("last", 99, "tools/list", meta)
    write.result("last result", 99, _complete(tools=[WEATHER], **_CACHE))
    return write.entries


def _listen(write: Writer) -> None:
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["file:///notes.txt"]}
    params = {"_meta": _meta(), "notifications": wanted}
    write.request("listen", "sub", "subscriptions/listen", params)
    subscription = {"_meta": {"io.modelcontextprotocol/subscriptionId": "sub"}}
    acknowledged = "notifications/subscriptions/acknowledged"
    write.notify("acknowledged", acknowledged, {"notifications": wanted, **subscription})
    write.notify("tools changed", "notifications/tools/list_changed", subscription)
    updated = {"uri": "file:///notes.txt", **subscription}
    write.notify("updated", "notifications/resources/updated", updated)


def _use_stateless_tools(write: Writer) -> None:
    properties = {"city": {"type": "string", "x-mcp-header": "City"}}
    forecast = {
        **WEATHER,
        "name": "forecast",
        "inputSchema": {"type": "object", "properties": properties},
        "outputSchema": OUTPUT,
    }
    write.request("tools/list", 2, "tools/list", {"_meta": _meta()})
    tools = _complete(tools=[WEATHER], nextCursor="page2", **_CACHE)
    write.result("tools", 2, tools)
    write.request("tools/list 2", 3, "tools/list", {"cursor": "page2", "_meta": _meta()})
    write.result("tools 2", 3, _complete(tools=[forecast], **_CACHE))
    meta = {"progressToken": "t1", "io.modelcontextprotocol/logLevel": "info"}
    params = {"name": "weather", "arguments": {"city": "Bern"}, "_meta": {**_meta(), **meta}}
    write.request("call", 5, "tools/call", params)
    progress = {"progressToken": "t1", "progress": 1, "total": 3}
    write.notify("progress", "notifications/progress", progress)
    write.notify("progress 2", "notifications/progress", {**progress, "progress": 2})
    write.notify("log", "notifications/message", {"level": "warning", "data": "slow"})
    write.result("call result", 5, _complete(content=TEXT))
    params = {"name": "forecast", "arguments": {"city": "Rome"}, "_meta": _meta()}
    write.request("forecast", 6, "tools/call", params)
    text = [{"type": "text", "text": '{"degrees":21}'}]
    write.result("forecast result", 6, _complete(content=text, structuredContent={"degrees": 21}))
    write.request("call 2", 7, "tools/call", {**params, "name": "weather"})
    write.notify("cancelled", "notifications/cancelled", {"requestId": 7}, client=True)
    write.request("no tool", 8, "tools/call", {**params, "name": "nothing"})
    write.error("no tool error", 8, -32602)


def _retry(write: Writer) -> None:
    """Write a call whose result requests input, and its retry."""
    params = {"name": "weather", "arguments": {"city": "Bern"}, "_meta": _meta()}
    question = [{"role": "user", "content": {"type": "text", "text": "Which is larger?"}}]
    sampling = {"messages": question, "maxTokens": 50, "tools": [WEATHER]}
    page = {"mode": "url", "message": "Log in", "url": "https://example.com/login"}
    form = {"mode": "form", "message": "Who are you?", "requestedSchema": FORM}
    requests = {
        "form": {"method": "elicitation/create", "params": form},
        "page": {"method": "elicitation/create", "params": page},
        "roots": {"method": "roots/list"},
        "model": {"method": "sampling/createMessage", "params": sampling},
    }
    write.request("ask", 10, "tools/call", params)
    needed = {
        "resultType": "input_required",
        "inputRequests": requests,
        "requestState": "state1",
        "_meta": {_INFO: _SOFTWARE},
    }
    write.result("needed", 10, needed)
    answer = {
        "role": "assistant",
        "content": {"type": "text", "text": "9.9"},
        "model": "example-model",
    }
    responses = {
        "form": {"action": "accept", "content": {"name": "Ada"}},
        "page": {"action": "accept"},
        "roots": {"roots": [{"uri": "file:///home/user"}]},
        "model": answer,
    }
    retry = {**params, "inputResponses": responses, "requestState": "state1"}
    write.request("retry", 11, "tools/call", retry)
    write.result("retry result", 11, _complete(content=TEXT))


def _use_others(write: Writer) -> None:
    meta = {"_meta": _meta()}
    resource = {"uri": "file:///notes.txt", "name": "notes"}
    write.request("resources/list", 20, "resources/list", meta)
    write.result("resources", 20, _complete(resources=[resource], **_CACHE))
    write.request("templates/list", 21, "resources/templates/list", meta)
    template = {"uriTemplate": "file:///{path}", "name": "files"}
    write.result("templates", 21, _complete(resourceTemplates=[template], **_CACHE))
    write.request("read", 22, "resources/read", {"uri": "file:///notes.txt", **meta})
    text = {"uri": "file:///notes.txt", "text": "milk"}
    write.result("read result", 22, _complete(contents=[text], **_CACHE))
    prompt = {"name": "review", "arguments": [{"name": "code", "required": True}]}
    write.request("prompts/list", 23, "prompts/list", meta)
    write.result("prompts", 23, _complete(prompts=[prompt], **_CACHE))
    params = {"name": "review", "arguments": {"code": "x = 1"}, **meta}
    write.request("prompts/get", 24, "prompts/get", params)
    message = {"role": "user", "content": {"type": "text", "text": "Review x = 1"}}
    write.result("prompt", 24, _complete(messages=[message]))
    reference = {"type": "ref/prompt", "name": "review"}
    argument = {"name": "code", "value": "x"}
    params = {"ref": reference, "argument": argument, **meta}
    write.request("complete", 25, "completion/complete", params)
    write.result("completion", 25, _complete(completion={"values": ["x = 1"]}))
    subscription = {"io.modelcontextprotocol/subscriptionId": "sub"}
    end = {"resultType": "complete", "_meta": {**subscription, _INFO: _SOFTWARE}}
    write.result("listen result", "sub", end)


def task_extension() -> Entries:
    """Return a session of 2026-07-28 with the tasks of its extension."""
    write = Writer()
    meta = {"_meta": _meta(extensions={_TASKS: {}})}
    write.request("discover", 0, "server/discover", meta)
    server: dict[str, Any] = {"tools": {}, "extensions": {_TASKS: {}}}
    discovery = _complete(supportedVersions=[_STATELESS], capabilities=server, **_CACHE)
    write.result("discovered", 0, discovery)
    times = {
        "createdAt": "2026-07-28T10:00:00Z",
        "lastUpdatedAt": "2026-07-28T10:00:00Z",
        "ttlMs": 60000,
    }
    task = {"taskId": "task1", "status": "working", **times}
    write.request("call", 1, "tools/call", {"name": "export", "arguments": {}, **meta})
    write.result("task", 1, {"resultType": "task", **task, "_meta": {_INFO: _SOFTWARE}})
    named = {"taskId": "task1", **meta}
    form = {"mode": "form", "message": "Who are you?", "requestedSchema": FORM}
    needed = {"name": {"method": "elicitation/create", "params": form}}
    write.request("get", 2, "tasks/get", named)
    state = {**task, "status": "input_required", "inputRequests": needed}
    write.result("state", 2, _complete(**state))
    responses = {"name": {"action": "accept", "content": {"name": "Ada"}}}
    write.request("update", 3, "tasks/update", {**named, "inputResponses": responses})
    write.result("update result", 3, _complete())
    write.request("get 2", 4, "tasks/get", named)
    completed = {**task, "status": "completed", "result": {"content": TEXT}}
    write.result("state 2", 4, _complete(**completed))
    write.request("get 3", 5, "tasks/get", named)
    write.result("state 3", 5, _complete(**completed))
    write.request("call 2", 6, "tools/call", {"name": "export", "arguments": {}, **meta})
    created = {"resultType": "task", **task, "taskId": "task2", "_meta": {_INFO: _SOFTWARE}}
    write.result("task 2", 6, created)
    write.request("cancel", 7, "tasks/cancel", {"taskId": "task2", **meta})
    write.result("cancel result", 7, _complete())
    write.request("last", 99, "tasks/get", {"taskId": "task2", **meta})
    write.result("last result", 99, _complete(**{**task, "taskId": "task2", "status": "cancelled"}))
    return write.entries
