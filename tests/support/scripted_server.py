"""Scripted MCP server over stdio; arguments select its behavior: `python scripted_server.py`."""

import json
import os
import signal
import sys
import time
from typing import Any

TOOL = {
    "name": "echo",
    "description": "Returns its arguments, or does what `do` says",
    "inputSchema": {"type": "object", "properties": {"do": {"type": "string"}}},
}


def main() -> None:
    """Answer the requests of standard input until its end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no JSON"}})
            continue
        if "id" in message and "method" in message:
            respond(message)
    sys.stderr.write("end of input\n")


def respond(message: Any) -> None:
    """Respond to the request *message*."""
    match message["method"]:
        case "initialize":
            result: Any = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted", "version": "1"},
            }
        case "tools/list" if os.environ.get("LISTS") == "no":
            return
        case "tools/list":
            result = {"tools": [TOOL]}
        case _:
            arguments = message["params"].get("arguments", {})
            do(arguments.get("do", ""))
            text = json.dumps(arguments, ensure_ascii=False)
            result = {"content": [{"type": "text", "text": text}]}
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def do(command: str) -> None:
    """Misbehave according to *command*."""
    match command:
        case "exit":
            os._exit(3)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "print":
            write(b"some text\n")
        case "half":
            write(b'{"jsonrpc":"2.0","id":')
            os._exit(0)
        case "bytes":
            write(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\xff"}}\n')
        case "frame":
            write(b"Content-Length: 2\r\n\r\n{}")
            time.sleep(600)
        case "close":
            os.dup2(2, 1)
        case "flood":
            while True:
                write(b"x" * 100_000)


def send(message: Any) -> None:
    """Write *message* as a line."""
    write(json.dumps(message, ensure_ascii=False).encode() + b"\n")


def write(text: bytes) -> None:
    """Write *text*, and flush it."""
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
