"""An MCP server over stdio that attacks its client: `python hostile_server.py PLANS`.

PLANS is a file with a JSON object of plans, by name. The server responds to requests as it
should. It carries out the plan that has the name of a method at requests of that method, "start"
before it reads any, and the one that a call names in its argument ``do``.
"""

import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["TOOL", "Plan", "write_plans"]

TOOL = {
    "name": "echo",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}


@dataclass(frozen=True, slots=True)
class Plan:
    """Bytes that the server writes in place of a response, and its next action."""

    #: Text in Latin-1; ``ID`` is the id of the request, ``COUNT`` the number of texts so far.
    text: str = ""
    times: int = 1
    #: Whether the server also sends the response.
    responds: bool = False
    then: Literal["go on", "close its output", "exit"] = "go on"


def write_plans(path: Path, plans: Mapping[str, Plan]) -> None:
    """Write *plans* to *path*."""
    path.write_text(json.dumps({name: asdict(plan) for name, plan in plans.items()}))


class _Server:
    def __init__(self, plans: Mapping[str, Plan]) -> None:
        self._plans = plans
        self._count = 0

    def respond(self, request: Any) -> None:
        """Respond to *request*, or attack."""
        method = request["method"]
        name = request["params"]["arguments"].get("do") if method == "tools/call" else method
        plan = self._plans.get(name)
        if plan is not None:
            self.carry_out(plan, json.dumps(request["id"]))
        if plan is None or plan.responds:
            response = {"jsonrpc": "2.0", "id": request["id"], "result": _result(method)}
            _write(json.dumps(response).encode() + b"\n")

    def carry_out(self, plan: Plan, id_: str = "null") -> None:
        """Carry out *plan* at the request with *id_*."""
        for _ in range(plan.times):
            self._count += 1
            text = plan.text.replace("ID", id_).replace("COUNT", str(self._count))
            _write(text.encode("latin-1"))
        match plan.then:
            case "close its output":
                os.dup2(2, 1)
            case "exit":
                os._exit(3)


def _result(method: str) -> Any:
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "hostile", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
    return {"content": [{"type": "text", "text": '{"n":1}'}], "structuredContent": {"n": 1}}


def _write(text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(1, rest) :]


def main() -> None:
    """Answer the requests of standard input until its end."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
    written = json.loads(Path(sys.argv[1]).read_text())
    plans = {name: Plan(**fields) for name, fields in written.items()}
    server = _Server(plans)
    if "start" in plans:
        server.carry_out(plans["start"])
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            server.respond(message)


if __name__ == "__main__":
    main()
