"""Pinned tools: the definitions that a server may list, in a lock file.

The whole set is pinned, by name and by digest: a tool under another name, or one more, is as
much of a change as another definition.
"""

import json
import os
import secrets
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidecheck_server.config.input_files import UnusableFileError, check_file
from sidecheck_server.config.policies import Pinning
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import JsonValue

__all__ = ["Difference", "LockFileError", "PinnedTools", "open_pins"]

_FORMAT = 1
_MAX_DEPTH = 200
_MOST_BYTES = 64 << 20
_MOST_LOCATIONS = 8
_MOST_LISTED = 10_000
_MOST_LISTED_BYTES = 16 << 20
"""Tools, and bytes of their definitions, that are kept until they are pinned."""

_NOT_PINNABLE = (
    f"cannot be pinned: not JSON, or beyond {_MOST_LISTED:,} tools or"
    f" {_MOST_LISTED_BYTES >> 20} MiB of definitions"
)


class LockFileError(Exception):
    """The lock file is missing or cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A tool that is not as it was pinned."""

    name: str
    #: ``TOOL_ADDED``, ``TOOL_CHANGED``, ``TOOL_RENAMED``, ``TOOL_REMOVED`` or
    #: ``TOOLS_NOT_PINNED``.
    code: str
    text: str


class PinnedTools:
    """The tools that may be listed: those of *pinned*, by name; all with None.

    With *path*, the first complete list is written there. Until then each tool may be listed
    with the definition that it was listed with first, so no client sees another than is pinned.
    """

    def __init__(
        self, pinned: Mapping[str, JsonValue] | None = None, path: Path | None = None
    ) -> None:
        self._path = path
        self._pinned: dict[str, JsonValue] | None = None
        #: Digests of the tools that may be listed.
        self._digests: dict[str, str] = {}
        #: JSON texts of the tools that were listed, until they are pinned.
        self._listed: dict[str, bytes] = {}
        self._listed_bytes = 0
        if pinned is not None:
            self._pin(pinned)

    @property
    def active(self) -> bool:
        """Whether tools are compared with pinned ones, or are to be pinned."""
        return self._pinned is not None or self._path is not None

    def is_pinned(self) -> bool:
        """Return whether the tools are pinned by now, maybe by another process.

        Raises:
            LockFileError: the file cannot be used.
        """
        if self._pinned is None and self._path is not None and self._path.exists():
            self._pin(_read_lock(self._path))
        return self._pinned is not None

    def note_listed(self, name: str, definition: bytes) -> None:
        """Note that a tool called *name* is listed with *definition*, until tools are pinned."""
        if not self.active or self._pinned is not None or name in self._listed:
            return
        size = self._listed_bytes + len(name) + len(definition)
        value = _read(definition)
        if value is None or len(self._listed) >= _MOST_LISTED or size > _MOST_LISTED_BYTES:
            return
        self._listed[name] = definition
        self._listed_bytes = size
        self._digests[name] = digest_of(value)

    def admits(self, name: str, definition: bytes) -> bool:
        """Return whether a tool called *name* may have *definition*."""
        if not self.active:
            return True
        value = _read(definition)
        return value is not None and self._digests.get(name) == digest_of(value)

    def difference(self, name: str, definition: bytes) -> Difference:
        """Return how a tool that is not admitted differs from what is pinned or was listed."""
        value = _read(definition)
        if self._pinned is None:
            if name not in self._listed:
                return Difference(name, "TOOLS_NOT_PINNED", _NOT_PINNABLE)
            return _changed(name, _read(self._listed[name]), value, "tool as it was listed first")
        if name in self._pinned:
            return _changed(name, self._pinned[name], value, "pinned tool")
        for pinned_name, pinned in self._pinned.items():
            if _without_name(pinned) == _without_name(value):
                return Difference(
                    name, "TOOL_RENAMED", f"is the pinned tool {json.dumps(pinned_name)} renamed"
                )
        return Difference(name, "TOOL_ADDED", "is not among the pinned tools")

    def complete(self, names: Collection[str]) -> list[Difference]:
        """Return the pinned tools that a complete list of *names* lacks.

        The list is pinned if none is; else what is returned says why it is not.

        Raises:
            LockFileError: the file cannot be written.
        """
        if self._pinned is None and self._path is not None:
            text = None
            if all(name in self._listed for name in names):
                values = {name: _read(self._listed[name]) for name in sorted(names)}
                text = _lock_text(values)
            if text is None or len(text) > _MOST_BYTES:
                return [Difference("", "TOOLS_NOT_PINNED", _NOT_PINNABLE)]
            self._pin(_write(self._path, text, values))
        return [
            Difference(name, "TOOL_REMOVED", "is pinned, and not listed any more")
            for name in self._pinned or ()
            if name not in names
        ]

    def _pin(self, pinned: Mapping[str, JsonValue]) -> None:
        self._pinned = dict(pinned)
        self._listed.clear()
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


def _lock_text(definitions: Mapping[str, JsonValue]) -> bytes:
    """Return the lock file that pins *definitions*."""
    tools = {
        name: {"digest": digest_of(value), "definition": value}
        for name, value in definitions.items()
    }
    text = json.dumps({"format": _FORMAT, "tools": tools}, indent=2, ensure_ascii=False)
    return f"{text}\n".encode()


def _write(
    path: Path, text: bytes, definitions: Mapping[str, JsonValue]
) -> Mapping[str, JsonValue]:
    """Write *text*, the lock file of *definitions*, at once, and return the tools that it pins.

    A reader sees all of it or none. If another proxy has written it meanwhile, its tools count.
    """
    temporary_path = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        try:
            temporary_path.write_bytes(text)
            _publish(temporary_path, path)
        finally:
            temporary_path.unlink(missing_ok=True)
    except FileExistsError:
        return _read_lock(path)
    except OSError as error:
        raise LockFileError(f"{path}: {error.strerror}") from None
    return definitions


def _publish(temporary_path: Path, path: Path) -> None:
    """Rename the file at *temporary_path* to *path*.

    Raises:
        FileExistsError: there is one.
    """
    try:
        path.hardlink_to(temporary_path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links.
        temporary_path.replace(path)


def _read(text: bytes) -> JsonValue:
    """Return the value of a JSON text, None if it is not JSON."""
    try:
        return decode(text, max_depth=_MAX_DEPTH)
    except (MalformedError, RequestError):
        return None


def _changed(name: str, before: JsonValue, found: JsonValue, other: str) -> Difference:
    """Return how the tool called *name*, as *found*, differs from the *other* one *before*."""
    places = list(_changes(before, found, ""))
    shown = ", ".join(places[:_MOST_LOCATIONS])
    more = len(places) - _MOST_LOCATIONS
    shown += f" and {more:,} more" if more > 0 else ""
    return Difference(name, "TOOL_CHANGED", f"differs from the {other} at {shown}")


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
