"""Sessions without a fault, of the versions with a handshake."""

from typing import Any

from broken.writer import FORM, OUTPUT, TEXT, WEATHER, Entries, Writer

__all__ = ["HANDSHAKE_VERSIONS", "batches", "handshake"]

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_RELATED = "io.modelcontextprotocol/related-task"


def handshake(version: str) -> Entries:
    """Return a session of a *version* with a handshake: each feature that the version has."""
    write = Writer()
    _begin(write, version)
    _use_tools(write, version)
    _use_resources(write)
    _use_prompts(write, version)
    _ask_client(write, version)
    if version == "2025-11-25":
        _use_tasks(write)
    write.request("last", 99, "ping")
    write.result("last result", 99, {})
    return write.entries


def _begin(write: Writer, version: str) -> None:
    client: dict[str, Any] = {"roots": {"listChanged": True}, "sampling": {}}
    server: dict[str, Any] = {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "logging": {},
    }
    if version >= "2025-03-26":
        server["completions"] = {}
    if version >= "2025-06-18":
        client["elicitation"] = {}
    if version >= "2025-11-25":
        client["elicitation"] = {"form": {}, "url": {}}
        client["sampling"] = {"tools": {}, "context": {}}
        client["tasks"] = {
            "list": {},
            "cancel": {},
            "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
        }
        server["tasks"] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    software = {"name": "example", "version": "1"}
    params = {"protocolVersion": version, "capabilities": client, "clientInfo": software}
    write.request("initialize", 0, "initialize", params)
    result = {"protocolVersion": version, "capabilities": server, "serverInfo": software}
    write.result("initialize result", 0, result)
    write.notify("initialized", "notifications/initialized", client=True)
    write.request("ping", 1, "ping")
    write.result("ping result", 1, {})
    write.request("server ping", "s1", "ping", server=True)
    write.result("server ping result", "s1", {}, client=True)


def _use_tools(write: Writer, version: str) -> None:
    forecast = {**WEATHER, "name": "forecast"}
    export = {**WEATHER, "name": "export"}
    if version >= "2025-03-26":
        forecast["annotations"] = {"readOnlyHint": True}
    if version >= "2025-06-18":
        forecast["outputSchema"] = OUTPUT
    if version >= "2025-11-25":
        export["execution"] = {"taskSupport": "required"}
    write.request("tools/list", 2, "tools/list")
    write.result("tools", 2, {"tools": [WEATHER], "nextCursor": "page2"})
    write.request("tools/list 2", 3, "tools/list", {"cursor": "page2"})
    write.result("tools 2", 3, {"tools": [forecast, export]})
    write.request("setLevel", 4, "logging/setLevel", {"level": "info"})
    write.result("setLevel result", 4, {})
    params = {
        "name": "weather",
        "arguments": {"city": "Bern"},
        "_meta": {"progressToken": "t1"},
    }
    write.request("call", 5, "tools/call", params)
    progress = {"progressToken": "t1", "progress": 1, "total": 3}
    write.notify("progress", "notifications/progress", progress)
    write.notify("progress 2", "notifications/progress", {**progress, "progress": 2})
    write.notify("log", "notifications/message", {"level": "warning", "data": "slow"})
    write.result("call result", 5, {"content": TEXT, "isError": False})
    write.request("forecast", 6, "tools/call", {"name": "forecast", "arguments": {"city": "Rome"}})
    result: dict[str, Any] = {"content": [{"type": "text", "text": '{"degrees":21}'}]}
    if version >= "2025-06-18":
        result["structuredContent"] = {"degrees": 21}
    write.result("forecast result", 6, result)
    params = {"name": "weather", "arguments": {"city": "Oslo"}}
    write.request("call 2", 7, "tools/call", params)
    cancelled = {"requestId": 7, "reason": "not needed"}
    write.notify("cancelled", "notifications/cancelled", cancelled, client=True)
    write.request("no tool", 8, "tools/call", {"name": "nothing", "arguments": {}})
    write.error("no tool error", 8, -32602)
    write.notify("tools changed", "notifications/tools/list_changed")


def _use_resources(write: Writer) -> None:
    resource = {"uri": "file:///notes.txt", "name": "notes", "mimeType": "text/plain"}
    write.request("resources/list", 10, "resources/list")
    write.result("resources", 10, {"resources": [resource]})
    write.request("templates/list", 11, "resources/templates/list")
    template = {"uriTemplate": "file:///{path}", "name": "files"}
    write.result("templates", 11, {"resourceTemplates": [template]})
    write.request("read", 12, "resources/read", {"uri": "file:///notes.txt"})
    text = {"uri": "file:///notes.txt", "mimeType": "text/plain", "text": "milk"}
    blob = {"uri": "file:///logo.png", "mimeType": "image/png", "blob": "aGVsbG8="}
    write.result("read result", 12, {"contents": [text, blob]})
    write.request("subscribe", 13, "resources/subscribe", {"uri": "file:///notes.txt"})
    write.result("subscribe result", 13, {})
    write.notify("updated", "notifications/resources/updated", {"uri": "file:///notes.txt"})
    write.request("unsubscribe", 14, "resources/unsubscribe", {"uri": "file:///notes.txt"})
    write.result("unsubscribe result", 14, {})
    write.notify("resources changed", "notifications/resources/list_changed")


def _use_prompts(write: Writer, version: str) -> None:
    prompt = {"name": "review", "arguments": [{"name": "code", "required": True}]}
    write.request("prompts/list", 20, "prompts/list", {})
    write.result("prompts", 20, {"prompts": [prompt]})
    params = {"name": "review", "arguments": {"code": "x = 1"}}
    write.request("prompts/get", 21, "prompts/get", params)
    message = {"role": "user", "content": {"type": "text", "text": "Review x = 1"}}
    image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
    messages = [message, {"role": "user", "content": image}]
    write.result("prompt", 21, {"messages": messages})
    write.notify("prompts changed", "notifications/prompts/list_changed")
    reference = {"type": "ref/prompt", "name": "review"}
    argument = {"name": "code", "value": "x"}
    write.request("complete", 22, "completion/complete", {"ref": reference, "argument": argument})
    values = {"values": ["x = 1"], "total": 1, "hasMore": False}
    write.result("completion", 22, {"completion": values})


def _ask_client(write: Writer, version: str) -> None:
    write.request("roots/list", "r1", "roots/list", server=True)
    roots = [{"uri": "file:///home/user", "name": "home"}]
    write.result("roots", "r1", {"roots": roots}, client=True)
    write.notify("roots changed", "notifications/roots/list_changed", client=True)
    question = [{"role": "user", "content": {"type": "text", "text": "Which is larger?"}}]
    params: dict[str, Any] = {"messages": question, "maxTokens": 50}
    answer = {
        "role": "assistant",
        "content": {"type": "text", "text": "9.9"},
        "model": "example-model",
    }
    write.request("sample", "r2", "sampling/createMessage", params, server=True)
    write.result("sample result", "r2", answer, client=True)
    if version >= "2025-06-18":
        form = {"message": "Who are you?", "requestedSchema": FORM}
        write.request("form", "r3", "elicitation/create", form, server=True)
        accepted = {"action": "accept", "content": {"name": "Ada", "age": 36}}
        write.result("form result", "r3", accepted, client=True)
        write.request("form 2", "r4", "elicitation/create", form, server=True)
        write.result("form 2 result", "r4", {"action": "decline"}, client=True)
    if version < "2025-11-25":
        return
    page = {
        "mode": "url",
        "message": "Log in",
        "url": "https://example.com/login",
        "elicitationId": "e1",
    }
    write.request("url", "r5", "elicitation/create", page, server=True)
    write.result("url result", "r5", {"action": "accept"}, client=True)
    write.notify("url done", "notifications/elicitation/complete", {"elicitationId": "e1"})
    params = {**params, "tools": [WEATHER], "toolChoice": {"mode": "auto"}}
    use = {"type": "tool_use", "id": "u1", "name": "weather", "input": {"city": "Bern"}}
    write.request("sample tools", "r6", "sampling/createMessage", params, server=True)
    answer = {**answer, "content": use, "stopReason": "toolUse"}
    write.result("sample tools result", "r6", answer, client=True)
    tool_result = {"type": "tool_result", "toolUseId": "u1", "content": TEXT}
    turns = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [tool_result]}]
    params = {**params, "messages": [*question, *turns]}
    write.request("sample turns", "r7", "sampling/createMessage", params, server=True)
    answer = {**answer, "content": {"type": "text", "text": "Sunny"}, "stopReason": "endTurn"}
    write.result("sample turns result", "r7", answer, client=True)


def _use_tasks(write: Writer) -> None:
    params = {"name": "export", "arguments": {"city": "Bern"}, "task": {"ttl": 60000}}
    task = {
        "taskId": "task1",
        "status": "working",
        "createdAt": "2025-11-25T10:00:00Z",
        "lastUpdatedAt": "2025-11-25T10:00:00Z",
        "ttl": 60000,
    }
    # The list changed after it was seen.
    write.request("tools/list 3", 30, "tools/list")
    tool = {**WEATHER, "name": "export", "execution": {"taskSupport": "required"}}
    write.result("tools 3", 30, {"tools": [WEATHER, tool]})
    write.request("export", 31, "tools/call", params)
    write.result("task", 31, {"task": task})
    write.request("tasks/get", 32, "tasks/get", {"taskId": "task1"})
    write.result("tasks/get result", 32, task)
    write.notify("task status", "notifications/tasks/status", {**task, "status": "completed"})
    write.request("tasks/result", 33, "tasks/result", {"taskId": "task1"})
    result = {"content": TEXT, "_meta": {_RELATED: {"taskId": "task1"}}}
    write.result("tasks/result result", 33, result)
    write.request("tasks/get 2", 34, "tasks/get", {"taskId": "task1"})
    write.result("tasks/get 2 result", 34, {**task, "status": "completed"})
    write.request("export 2", 35, "tools/call", params)
    write.result("task 2", 35, {"task": {**task, "taskId": "task2"}})
    write.request("tasks/cancel", 36, "tasks/cancel", {"taskId": "task2"})
    cancelled = {**task, "taskId": "task2", "status": "cancelled"}
    write.result("tasks/cancel result", 36, cancelled)
    write.request("tasks/list", 37, "tasks/list")
    write.result("tasks", 37, {"tasks": [cancelled]})


def batches() -> Entries:
    """Return a session of 2025-03-26 with a batch of requests and one of their responses."""
    write = Writer()
    _begin(write, "2025-03-26")
    requests = [
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    ]
    write.entries["batch"] = ("client", requests)
    responses = [
        {"jsonrpc": "2.0", "id": 3, "result": {}},
        {"jsonrpc": "2.0", "id": 2, "result": {"tools": [WEATHER]}},
    ]
    write.entries["batch result"] = ("server", responses)
    write.request("last", 99, "ping")
    write.result("last result", 99, {})
    return write.entries
