"""Servers in the configuration of an MCP client: put behind the proxy, and taken out of it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath, PureWindowsPath
from typing import Any

from sidecheck_server.cli.commented_json import CommentedJson, Edit

__all__ = ["ConfigError", "Server", "find_servers", "unwrap_server", "wrap_server"]

ORIGINAL = "SIDECHECK_WRAPPED"
"""Environment variable of a wrapped remote server, with the text of its former entry."""

TOKEN = "SIDECHECK_UPSTREAM_TOKEN"  # noqa: S105
"""Environment variable from which the proxy takes the token for a remote server."""

_PATHS = (("mcpServers",), ("servers",), ("context_servers",), ("mcp", "servers"))
"""Paths of the object with the servers: of most clients, VS Code, Zed, and VS Code's settings."""

_MODULE = ["-m", "sidecheck_server"]
_BEARER = re.compile(r"Bearer (\S++)", re.IGNORECASE)
_TYPES = ("type", "transport")
_TRANSPORT_HEADERS = frozenset({"accept", "content-type", "mcp-protocol-version"})
"""Headers that the proxy sets itself, and takes from no option."""


class ConfigError(Exception):
    """The configuration cannot be rewritten; the message names the fault."""


@dataclass(frozen=True, slots=True)
class Server:
    """Entry of a server."""

    name: str
    path: tuple[str, ...]
    entry: Mapping[str, Any]

    @property
    def proxy_arguments(self) -> list[Any] | None:
        """Arguments of `sidecheck proxy` if the entry runs it, else None."""
        command, arguments = self.entry.get("command"), self.entry.get("args")
        if not isinstance(command, str) or not isinstance(arguments, list):
            return None
        if arguments[:2] == _MODULE:
            arguments = arguments[2:]
        elif _program(command) != "sidecheck":
            return None
        return arguments[1:] if arguments[:1] == ["proxy"] else None

    @property
    def is_wrapped(self) -> bool:
        """Whether the proxy is before the server."""
        return self.proxy_arguments is not None


def _program(command: str) -> str:
    """Return the name of the program that *command* names, without a folder and `.exe`."""
    name = PurePath(command).name if "\\" not in command else PureWindowsPath(command).name
    return name.removesuffix(".exe")


def find_servers(document: CommentedJson) -> list[Server]:
    """Return the servers in *document*.

    Raises:
        ConfigError: it has no servers.
    """
    for path in _PATHS:
        value = document.value
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, dict):
            return [_server(name, path, entry) for name, entry in value.items()]
    raise ConfigError('it has no "mcpServers" or "servers" object')


def _server(name: str, path: tuple[str, ...], entry: Any) -> Server:
    if not isinstance(entry, dict):
        raise ConfigError(f'server "{name}" is not an object')
    return Server(name, (*path, name), entry)


def wrap_server(
    document: CommentedJson, server: Server, command: Sequence[str], options: Sequence[str]
) -> list[Edit]:
    """Return the edits that put `sidecheck proxy` with *options* before *server*.

    *command* is that of `sidecheck`, with its first arguments.

    Raises:
        ConfigError: its entry has neither a command nor a URL, or a value of a wrong type.
    """
    entry, name = server.entry, server.name
    arguments = entry.get("args", [])
    if "command" in entry:
        if not isinstance(entry["command"], str) or not entry["command"]:
            raise ConfigError(f'the command of server "{name}" is not a string')
        if not isinstance(arguments, list) or not all(isinstance(arg, str) for arg in arguments):
            raise ConfigError(f'the args of server "{name}" are not an array of strings')
        return _wrap_command(document, server, command, options)
    if isinstance(_url_of(entry), str):
        return [_wrap_url(document, server, command, options)]
    raise ConfigError(f'server "{name}" has neither a "command" nor a "url"')


def unwrap_server(document: CommentedJson, server: Server) -> list[Edit]:
    """Return the edits that remove the proxy before *server*, which is wrapped.

    Raises:
        ConfigError: the entry does not have the form that `wrap_server` writes.
    """
    environment = server.entry.get("env")
    if isinstance(environment, dict) and ORIGINAL in environment:
        return [_unwrap_url(document, server, environment)]
    arguments = server.entry["args"]
    end = arguments.index("--") + 1 if "--" in arguments else len(arguments)
    if end >= len(arguments):
        raise ConfigError(f'server "{server.name}" was not wrapped by this command; edit its entry')
    command = document.span(*server.path, "command")
    former = document.raw(*server.path, "args", end)
    edits = [Edit(command.start, command.end, former)]
    first = document.span(*server.path, "args", 0)
    last = document.span(*server.path, "args", len(arguments) - 1)
    if end + 1 < len(arguments):
        rest = document.span(*server.path, "args", end + 1)
        return [*edits, Edit(first.start, rest.start, b"")]
    if document.text[last.end : last.end + 1] == b" ":
        # The array was there, and empty.
        return [*edits, Edit(first.start, last.end + 1, b"")]
    return [*edits, document.remove_property(*server.path, "args")]


def _wrap_command(
    document: CommentedJson, server: Server, command: Sequence[str], options: Sequence[str]
) -> list[Edit]:
    program, *first = command
    span = document.span(*server.path, "command")
    former = document.text[span.start : span.end]
    items = [_dump(item) for item in (*first, "proxy", *options, "--")]
    inserted = b", ".join([*items, former])
    edits = [Edit(span.start, span.end, _dump(program))]
    if "args" not in server.entry:
        separator = b"," + (document.space_before(span.key_start) or b" ")
        return [*edits, Edit(span.end, span.end, separator + b'"args": [%s]' % inserted)]
    if server.entry["args"]:
        start = document.span(*server.path, "args", 0).start
        return [*edits, Edit(start, start, inserted + b", ")]
    start = document.span(*server.path, "args").start + 1
    return [*edits, Edit(start, start, inserted + b" ")]


def _url_of(entry: Mapping[str, Any]) -> Any:
    # Windsurf and Gemini CLI name it differently.
    return next((entry[key] for key in _URLS if key in entry), None)


_URLS = ("url", "serverUrl", "httpUrl")


def _wrap_url(
    document: CommentedJson, server: Server, command: Sequence[str], options: Sequence[str]
) -> Edit:
    entry = server.entry
    headers = entry.get("headers", {})
    if not isinstance(headers, dict) or not all(
        isinstance(value, str) for value in headers.values()
    ):
        raise ConfigError(f'the headers of server "{server.name}" are not an object of strings')
    environment = {ORIGINAL: document.raw(*server.path).decode()}
    arguments = ["--upstream", _url_of(entry)]
    for name, value in headers.items():
        token = _BEARER.fullmatch(value) if name.lower() == "authorization" else None
        if token:
            # Other users of the machine can read arguments, but not the environment.
            environment[TOKEN] = token[1]
        elif name.lower() not in _TRANSPORT_HEADERS:
            arguments += ["--header", f"{name}: {value}"]
    program, *first = command
    wrapped: dict[str, Any] = {
        "command": program,
        "args": [*first, "proxy", *options, *arguments],
        "env": environment,
    }
    kept = {key: value for key, value in entry.items() if key not in _REPLACED}
    kept = {key: "stdio" if key in _TYPES else value for key, value in kept.items()}
    if server.path[-2] == "servers" and "type" not in kept:
        kept = {"type": "stdio", **kept}
    return _replace_entry(document, server, {**kept, **wrapped})


_REPLACED = frozenset({*_URLS, "headers", "command", "args", "env"})
"""Properties of a remote server that its wrapped entry does not have, or has another value of."""


def _unwrap_url(document: CommentedJson, server: Server, environment: Mapping[str, Any]) -> Edit:
    raw = environment[ORIGINAL]
    try:
        former = CommentedJson(raw.encode()).value
    except (ValueError, AttributeError):
        former = None
    if not isinstance(former, dict):
        raise ConfigError(f'{ORIGINAL} of server "{server.name}" is not the text of an entry')
    omitted = _REPLACED | {*_TYPES}
    kept = {key: value for key, value in former.items() if key not in omitted}
    present = {key: value for key, value in server.entry.items() if key not in omitted}
    if present == kept:
        span = document.span(*server.path)
        return Edit(span.start, span.end, raw.encode())
    # The entry was edited meanwhile.
    rest = {key: value for key, value in former.items() if key in omitted or key in present}
    return _replace_entry(document, server, {**rest, **present})


def _replace_entry(document: CommentedJson, server: Server, entry: Mapping[str, Any]) -> Edit:
    """Return the edit that replaces the entry of *server*, in the style of the file."""
    span = document.span(*server.path)
    if b"\n" not in document.text[span.start : span.end]:
        return Edit(span.start, span.end, _dump(entry))
    line_end, _, margin = document.space_before(span.key_start).decode().rpartition("\n")
    unit = margin[: len(margin) // len(server.path)] or "  "
    lines = json.dumps(entry, ensure_ascii=False, indent=unit).split("\n")
    separator = ("\r\n" if line_end.endswith("\r") else "\n") + margin
    return Edit(span.start, span.end, separator.join(lines).encode())


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
