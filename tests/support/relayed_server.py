"""MCP server over stdio with one peculiarity: `python relayed_server.py KIND`.

It logs the method and id of each message that it receives to standard error.
"""

import json
import os
import subprocess
import sys
from typing import Any

__all__ = ["LONG", "STRAY"]

#: By kind: bytes that the server writes before each of its messages.
STRAY = {
    "text": b"[db] connected to /tmp/x\n",
    "JSON log": b'{"level":"info","msg":"ready"}\n',
    "JSON log with id and method": b'{"id":1,"event":"request.start","method":"GET"}\n',
    "JSON values": b'42\nnull\n"ready"\n[]\n{}\n',
    "pretty-printed log": b'{\n  "level": "info"\n}\n',
    "begun value": b'[\n{"level":\n',
    "terminal codes": b"\x1b[?25l\x1b[32mready\x1b[0m\n",
    "NUL": b"\x00\x00\n",
    "flood": b"INFO handled a request\n" * 1_000,
}

LONG = 200_000
"""Characters of the text of long messages."""

_LOG = {"level": "info", "data": "x" * 1_000}

_TOOLS = [{"name": "echo", "inputSchema": {"type": "object"}}]


class _Server:
    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._unanswered: Any = None

    def receive(self, message: Any) -> None:  # noqa: C901  (a case for each kind)
        """Receive *message*, and answer it if it is a request."""
        method, id_ = message.get("method", "response"), message.get("id")
        _write(2, f"SAW {method} {id_}\n".encode())
        listing = method == "tools/list"
        match self._kind:
            case "lists much" if listing:
                tools = [{**_TOOLS[0], "description": "x" * LONG}]
                self.send({"result": {"tools": tools}, "id": id_})
            case "asks for roots" if listing:
                self._unanswered = id_
                self.send({"id": "roots", "method": "roots/list"})
            case "asks for roots" if method == "response":
                self.answer(self._unanswered, {"tools": _TOOLS})
            case "lists late" if listing:
                self._unanswered = id_
            case "lists late" if method == "ping" and id_ == 9:
                self.answer(self._unanswered, {"tools": _TOOLS})
                self.answer(id_, {})
            case "leaves a child" if method == "tools/call":
                # It ends with the proxy, which holds its input.
                with subprocess.Popen(["/bin/sh", "-c", "cat >/dev/null; exit"]):
                    os._exit(3)
            case "silent":
                pass
            case "late" if method == "tools/call":
                self._unanswered = id_
            case "late" if method == "notifications/cancelled":
                self.answer(self._unanswered, {"content": []})
            case "late and long" if method == "tools/call":
                self._unanswered = id_
            case "late and long" if method == "notifications/cancelled":
                self.answer(self._unanswered, {"content": [{"type": "text", "text": "x" * LONG}]})
            case "obeys" if method == "tools/call" and message["params"]["arguments"]:
                pass
            case "ends" if method == "tools/call":
                self._answer_and_end(id_, message["params"])
            case "logs much" if method == "tools/call":
                for number in range(3_000):
                    _write(2, f"line {number:4} {'x' * 80}\n".encode())
                self.answer(id_, {"content": []})
            case _ if "method" in message and "id" in message:
                self.answer(id_, self.result(method, message.get("params", {})))

    def _answer_and_end(self, id_: Any, params: Any) -> None:
        """End before or after the response, as the arguments of the call say."""
        end = params["arguments"].get("end")
        if end == "asking":
            self.send({"id": id_, "method": "roots/list"})
        if end == "within":
            _write(1, b'{"jsonrpc":"2.0","id":%d,"result":{' % id_)
        if end == "much":
            for _ in range(170):
                self.send({"method": "notifications/message", "params": _LOG})
            self.answer(id_, self.result("tools/call", params))
        if end in {"before", "asking", "within", "much"}:
            os._exit(3)
        self.answer(id_, self.result("tools/call", params))
        if end == "after":
            os._exit(4)

    def result(self, method: str, params: Any) -> Any:
        """Return the result of *method*."""
        match method:
            case "initialize":
                return {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {"listChanged": self._kind == "ends"}},
                    "serverInfo": {"name": "relayed", "version": "1"},
                }
            case "tools/list":
                return {"tools": _TOOLS}
            case "tools/call":
                size = LONG if params.get("arguments", {}).get("long") else 2
                return {"content": [{"type": "text", "text": "x" * size}]}
        return {}

    def answer(self, id_: Any, result: Any) -> None:
        """Answer the request with *id_*."""
        self.send({"id": id_, "result": result})

    def send(self, message: Any) -> None:
        """Write *message* in the form of this kind of server."""
        indent = 2 if self._kind == "pretty" else None
        text = json.dumps({"jsonrpc": "2.0", **message}, indent=indent).encode()
        match self._kind:
            case "mark":
                text = b"\xef\xbb\xbf" + text
            case "glued":
                text = b"Loading... " + text
        _write(1, STRAY.get(self._kind, b"") + text + b"\n")


def _write(descriptor: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def main() -> None:
    """Answer the messages of standard input until its end."""
    if sys.argv[1] in {"launcher", "detaching launcher"} and os.fork():
        os._exit(0)
    if sys.argv[1] == "detaching launcher":
        os.setsid()
    server = _Server(sys.argv[1])
    for line in sys.stdin.buffer:
        server.receive(json.loads(line))


if __name__ == "__main__":
    main()
