"""Writes sessions in which each message has a name."""

from typing import Any

__all__ = ["FORM", "OUTPUT", "TEXT", "WEATHER", "Entries", "Writer"]

#: Sender and message, by the name of the message, in the order of the session.
Entries = dict[str, tuple[str, Any]]

FORM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}
WEATHER = {
    "name": "weather",
    "description": "Reports the weather of a city.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
OUTPUT = {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}
TEXT = [{"type": "text", "text": "done"}]


class Writer:
    """Writes the messages of a session."""

    def __init__(self) -> None:
        self.entries: Entries = {}

    def request(
        self, name: str, id_: Any, method: str, params: Any = None, *, server: bool = False
    ) -> None:
        message = {"jsonrpc": "2.0", "id": id_, "method": method}
        if params is not None:
            message["params"] = params
        self.entries[name] = ("server" if server else "client", message)

    def result(self, name: str, id_: Any, result: Any, *, client: bool = False) -> None:
        sender = "client" if client else "server"
        self.entries[name] = (sender, {"jsonrpc": "2.0", "id": id_, "result": result})

    def error(
        self, name: str, id_: Any, code: int, *, data: Any = None, client: bool = False
    ) -> None:
        error = {"code": code, "message": "refused"} | ({"data": data} if data else {})
        sender = "client" if client else "server"
        self.entries[name] = (sender, {"jsonrpc": "2.0", "id": id_, "error": error})

    def notify(self, name: str, method: str, params: Any = None, *, client: bool = False) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.entries[name] = ("client" if client else "server", message)
