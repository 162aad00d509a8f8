"""Pinned tools: the definitions that a server may list, in a lock file.

The whole set is pinned, by name and by digest: a tool under another name, or one more, is as
much of a change as another definition.
"""

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import JsonValue
from sidecheck_server.input_files import UnusableFileError, check_file
from sidecheck_server.policies import Pinning

__all__ = ["Difference", "LockFileError", "PinnedTools", "open_pins"]

_FORMAT = 1
_MAX_DEPTH = 200
_MOST_BYTES = 64 << 20
_MOST_LOCATIONS = 8


class LockFileError(Exception):
    """The lock file is missing or cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A tool that is not as it was pinned."""

    name: str
    #: ``TOOL_ADDED``, ``TOOL_CHANGED``, ``TOOL_RENAMED`` or ``TOOL_REMOVED``.
    code: str
    text: str


class PinnedTools:
    """The tools that may be listed: those of *pinned*, by name; all with None.

    With *path*, the first complete list is written there.
    """

    def __init__(
        self, pinned: Mapping[str, JsonValue] | None = None, path: Path | None = None
    ) -> None:
        self._path = path
        self._pinned: dict[str, JsonValue] | None = None
        self._digests: dict[str, str] = {}
        if pinned is not None:
            self._pin(pinned)

    @property
    def active(self) -> bool:
        """Whether tools are compared with pinned ones, or are to be pinned."""
        return self._pinned is not None or self._path is not None

    def admits(self, name: str, definition: bytes) -> bool:
        """Return whether a tool called *name* may have *definition*."""
        if self._pinned is None:
            return True
        value = _read(definition)
        return value is not None and self._digests.get(name) == digest_of(value)

    def difference(self, name: str, definition: bytes) -> Difference:
        """Return how a tool that is not admitted differs from what is pinned."""
        assert self._pinned is not None, "all tools are admitted"
        value = _read(definition)
        if name in self._pinned:
            places = list(_changes(self._pinned[name], value, ""))
            shown = ", ".join(places[:_MOST_LOCATIONS])
            more = len(places) - _MOST_LOCATIONS
            shown += f" and {more:,} more" if more > 0 else ""
            return Difference(name, "TOOL_CHANGED", f"differs from the pinned tool at {shown}")
        for pinned_name, pinned in self._pinned.items():
            if _without_name(pinned) == _without_name(value):
                return Difference(
                    name, "TOOL_RENAMED", f"is the pinned tool {json.dumps(pinned_name)} renamed"
                )
        return Difference(name, "TOOL_ADDED", "is not among the pinned tools")

    def complete(self, definitions: Mapping[str, bytes]) -> list[Difference]:
        """Return the pinned tools that a complete list lacks; pin the list if none is pinned.

        Raises:
            LockFileError: the file cannot be written.
        """
        if self._pinned is not None:
            return [
                Difference(name, "TOOL_REMOVED", "is pinned, and not listed any more")
                for name in self._pinned
                if name not in definitions
            ]
        if self._path is not None:
            values = {name: _read(definition) for name, definition in definitions.items()}
            self._pin(_write(self._path, values))
        return []

    def _pin(self, pinned: Mapping[str, JsonValue]) -> None:
        self._pinned = dict(pinned)
        self._digests = {name: digest_of(value) for name, value in pinned.items()}


def open_pins(pinning: Pinning, path: Path) -> PinnedTools:
    """Return the pinned tools of the lock file at *path*.

    Raises:
        LockFileError: the file cannot be read, or does not exist and must.
    """
    if pinning is Pinning.OFF:
        return PinnedTools()
    if path.is_symlink():
        # The file that it names may not exist yet.
        path = Path(os.path.realpath(path))
    try:
        check_file(path, _MOST_BYTES)
    except UnusableFileError as error:
        raise LockFileError(f"{path} {error}") from None
    except FileNotFoundError:
        if pinning is Pinning.FIRST_USE:
            if not os.access(path.parent, os.W_OK):
                raise LockFileError(f"{path}: its folder cannot be written") from None
            return PinnedTools(path=path)
        raise LockFileError(
            f"{path}: no such file; run once with --pins first-use to write it"
        ) from None
    return PinnedTools(_read_lock(path))


def _read_lock(path: Path) -> dict[str, JsonValue]:
    try:
        lock: Any = _read(path.read_bytes())
    except OSError as error:
        raise LockFileError(f"{path}: {error.strerror}") from None
    if not isinstance(lock, dict) or not isinstance(lock.get("tools"), dict):
        raise LockFileError(
            f"{path}: not a lock file of pinned tools; restore the file, or delete it to pin again"
        )
    if lock.get("format") != _FORMAT:
        raise LockFileError(f"{path}: of another format than {_FORMAT}; delete it to pin again")
    tools: dict[str, Any] = lock["tools"]
    for name, tool in tools.items():
        known = isinstance(tool, dict) and tool.keys() >= {"digest", "definition"}
        if not known or tool["digest"] != digest_of(tool["definition"]):
            raise LockFileError(
                f"{path}: the digest of {json.dumps(name)} is not that of its definition;"
                " restore the file, or delete it to pin again"
            )
    return {name: tool["definition"] for name, tool in tools.items()}


def _write(path: Path, definitions: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Write the lock file at once, and return the tools that it pins.

    A reader sees all of it or none. If another proxy has written it meanwhile, its tools count.
    """
    tools = {
        name: {"digest": digest_of(value), "definition": value}
        for name, value in sorted(definitions.items())
    }
    text = json.dumps({"format": _FORMAT, "tools": tools}, indent=2, ensure_ascii=False)
    beside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        try:
            beside.write_text(f"{text}\n", encoding="utf-8")
            _publish(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    except FileExistsError:
        return _read_lock(path)
    except OSError as error:
        raise LockFileError(f"{path}: {error.strerror}") from None
    return dict(definitions)


def _publish(beside: Path, path: Path) -> None:
    """Give the file *beside* the name *path*.

    Raises:
        FileExistsError: there is one.
    """
    try:
        path.hardlink_to(beside)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links.
        beside.replace(path)


def _read(text: bytes) -> JsonValue:
    """Return the value of a JSON text, None if it is not JSON."""
    try:
        return decode(text, max_depth=_MAX_DEPTH)
    except (MalformedError, RequestError):
        return None


def _without_name(definition: JsonValue) -> JsonValue:
    if not isinstance(definition, dict):
        return definition
    return {key: value for key, value in definition.items() if key != "name"}


def _changes(pinned: JsonValue, found: JsonValue, pointer: str) -> Iterator[str]:
    """Yield the JSON Pointers of the parts that differ."""
    if isinstance(pinned, dict) and isinstance(found, dict):
        for key in sorted(pinned.keys() | found.keys()):
            inside = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in pinned or key not in found:
                yield inside
            else:
                yield from _changes(pinned[key], found[key], inside)
    elif digest_of(pinned) != digest_of(found):
        yield pointer or "its root"
