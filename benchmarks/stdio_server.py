"""A small MCP server over stdio, for `proxy.py`: one tool with schemas, and an answer at once."""

import json
import sys
from typing import Any

TOOL = {
    "name": "store",
    "description": "Stores notes",
    "inputSchema": {
        "type": "object",
        "properties": {
            "folder": {"type": "string", "minLength": 1},
            "notes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string", "maxLength": 80},
                        "text": {"type": "string"},
                        "stars": {"type": "integer", "minimum": 0, "maximum": 5},
                    },
                    "required": ["title", "text"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["folder", "notes"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"stored": {"type": "integer"}},
        "required": ["stored"],
    },
}

RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "store", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "tools/call": {
        "content": [{"type": "text", "text": '{"stored":10}'}],
        "structuredContent": {"stored": 10},
    },
}


def main() -> None:
    """Answer every request of standard input."""
    write = sys.stdout.buffer.write
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message:
            result = RESULTS[message["method"]]
            response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            write(json.dumps(response).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
