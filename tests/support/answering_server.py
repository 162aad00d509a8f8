"""MCP server over stdio whose answers the client writes: `python answering_server.py`.

The answer to a call is the text of its argument `answer`, with the id of the call for `{id}`.
Like servers that log in JSON, it writes each message that it receives to its output too, with
`--log`.
"""

import json
import sys
from typing import Any

SCHEMA = {"type": "object", "properties": {"when": {"type": "string", "format": "date-time"}}}
TOOL = {
    "name": "echo",
    "description": "Returns its arguments, or writes `answer`",
    "inputSchema": SCHEMA,
    "outputSchema": SCHEMA,
    "_meta": {"_fastmcp": {"tags": []}},
}
RESULTS: dict[str, Any] = {
    "ping": {},
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "serverInfo": {"name": "answering", "version": "1"},
    },
    "tools/list": {"tools": [TOOL], "nextCursor": None},
    "prompts/list": {"prompts": [{"name": "a", "_meta": {"_fastmcp": {}}}], "nextCursor": None},
    "resources/list": {
        "resources": [
            {"name": "a", "uri": "file:///a", "annotations": None},
            {"name": "b", "uri": "file:///b", "_meta": {"_fastmcp": {}}},
        ]
    },
}


def main() -> None:
    """Answer the requests of standard input until its end."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "--log" in sys.argv:
            write(json.dumps({"level": 30, "id": 1, "method": "received", "msg": message}))
        if "method" in message and "id" in message:
            write(answer_to(message))


def answer_to(message: Any) -> str:
    """Return the answer to the request *message*."""
    arguments = message.get("params", {}).get("arguments", {})
    if "answer" in arguments:
        return str(arguments["answer"]).replace("{id}", str(message["id"]))
    text = json.dumps(arguments)
    result = {"content": [{"type": "text", "text": text}], "structuredContent": arguments}
    result = RESULTS.get(message["method"], result)
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})


def write(text: str) -> None:
    """Write *text* as a line."""
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
