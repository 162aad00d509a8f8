"""Logs of Claude Desktop: `mcp-server-NAME.log`, and `mcp.log` with all servers.

Lines as they stand in public reports: https://github.com/stuzero/pg-mcp-server/issues/15 (level
before server, 2025-04), https://github.com/sjzar/chatlog/issues/166 (server before level, and
metadata after the message, 2025-07). Since 2026 it leaves out the middle of long messages, as in
`...[14696 chars truncated]...`.
"""

import re

from sidecheck_server.cli.message_logs.log_lines import read_log_lines
from sidecheck_server.cli.message_logs.messages import MessageLog
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Sender

__all__ = ["read", "recognizes"]

_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d++)?Z"
_MESSAGE = re.compile(
    rf"(?:{_TIME} ++)?\[([^\]\n]++)\](?: \[([^\]\n]++)\])? Message from (client|server): ?"
)
_HEAD = re.compile(rf"{_TIME} ++\[|{_MESSAGE.pattern}")
_LEVELS = frozenset({"debug", "error", "info", "trace", "warn", "warning"})


def recognizes(text: bytes) -> bool:
    """Return whether *text* has a message in this form."""
    return re.search(rb"^" + _MESSAGE.pattern.encode(), text, re.MULTILINE) is not None


def read(text: bytes, limits: Limits) -> MessageLog:  # noqa: ARG001  (the form of readers)
    """Return the messages of the log *text*."""
    return read_log_lines(text, _HEAD, _MESSAGE, _describe)


def _describe(match: re.Match[str]) -> tuple[Sender, str]:
    names = [name for name in (match[1], match[2]) if name and name not in _LEVELS]
    return Sender(match[3]), names[0] if names else ""
