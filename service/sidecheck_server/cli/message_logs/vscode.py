"""Output of VS Code for an MCP server ("MCP: List Servers", "Show Output", level Trace).

`[editor -> server]` and `[server -> editor]` are in `McpServerRequestHandler` of
https://github.com/microsoft/vscode (src/vs/workbench/contrib/mcp/common); until April 2025 they
were `[Client Says]` and `[Server Says]` (https://github.com/microsoft/vscode/issues/244377).
"""

import re

from sidecheck_server.cli.message_logs.log_lines import read_log_lines
from sidecheck_server.cli.message_logs.messages import MessageLog
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Sender

__all__ = ["read", "recognizes"]

_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d++"
_DIRECTIONS = {
    "editor -> server": Sender.CLIENT,
    "server -> editor": Sender.SERVER,
    "Client Says": Sender.CLIENT,
    "Server Says": Sender.SERVER,
}
_MESSAGE = re.compile(rf"(?:{_TIME} )?(?:\[\w++\] )?\[({'|'.join(_DIRECTIONS)})\] ?")
_HEAD = re.compile(rf"{_TIME} \[|{_MESSAGE.pattern}")


def recognizes(text: bytes) -> bool:
    """Return whether *text* has a message in this form."""
    return re.search(rb"^" + _MESSAGE.pattern.encode(), text, re.MULTILINE) is not None


def read(text: bytes, limits: Limits) -> MessageLog:  # noqa: ARG001  (the form of readers)
    """Return the messages of the log *text*."""
    return read_log_lines(text, _HEAD, _MESSAGE, lambda match: (_DIRECTIONS[match[1]], ""))
