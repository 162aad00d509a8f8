"""Pinned tools: lock file with the tool definitions that a server may list.

The lock file pins the whole set, by name and digest: a renamed or additional tool is a change,
just as a changed definition is.
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
_MAX_FILE_BYTES = 64 << 20
_MAX_SHOWN_LOCATIONS = 8
_MAX_LISTED = 10_000
_MAX_LISTED_BYTES = 16 << 20
"""Maximum number of listed tools, and total size of their definitions, to keep before pinning."""

_NOT_PINNABLE = (
    f"cannot be pinned: not JSON, or beyond {_MAX_LISTED:,} tools or"
    f" {_MAX_LISTED_BYTES >> 20} MiB of definitions"
)


class LockFileError(Exception):
    """The lock file is missing or unusable; the text of the error has the reason."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference between a tool and its pinned definition."""

    name: str
    #: ``TOOL_ADDED``, ``TOOL_CHANGED``, ``TOOL_RENAMED``, ``TOOL_REMOVED`` or
    #: ``TOOLS_NOT_PINNED``.
    code: str
    text: str


class PinnedTools:
    """Tools that the server may list: *pinned* ones, keyed by name, or any if None.

    With *path*, the first complete list is pinned and written there. Until then, the first listed
    definition of each tool is the only admitted one, so that clients see no definition that
    differs from the pinned one.
    """

    def __init__(
        self, pinned: Mapping[str, JsonValue] | None = None, path: Path | None = None
    ) -> None:
        self._path = path
        self._pinned: dict[str, JsonValue] | None = None
        #: Digests of the admitted definitions, by tool name.
        self._digests: dict[str, str] = {}
        #: JSON texts of the first listed definitions, kept until they are pinned.
        self._first_definitions: dict[str, bytes] = {}
        self._first_definition_bytes = 0
        if pinned is not None:
            self._pin(pinned)

    @property
    def is_active(self) -> bool:
        """Whether tools are pinned, or will be after the first complete list."""
        return self._pinned is not None or self._path is not None

    def is_pinned(self) -> bool:
        """Return whether tools are pinned; load the lock file if another process wrote it.

        Raises:
            LockFileError: the file cannot be used.
        """
        if self._pinned is None and self._path is not None and self._path.exists():
            self._pin(_read_lock(self._path))
        return self._pinned is not None

    def note_definition(self, name: str, definition: bytes) -> None:
        """Remember *definition* as the first one listed for *name*, before pinning."""
        if not self.is_active or self._pinned is not None or name in self._first_definitions:
            return
        size = self._first_definition_bytes + len(name) + len(definition)
        value = _read(definition)
        if value is None or len(self._first_definitions) >= _MAX_LISTED or size > _MAX_LISTED_BYTES:
            return
        self._first_definitions[name] = definition
        self._first_definition_bytes = size
        self._digests[name] = digest_of(value)

    def admits(self, name: str, definition: bytes) -> bool:
        """Return whether the server may list the tool *name* with *definition*."""
        if not self.is_active:
            return True
        value = _read(definition)
        return value is not None and self._digests.get(name) == digest_of(value)

    def find_difference(self, name: str, definition: bytes) -> Difference:
        """Return how *definition*, which is not admitted, differs from the admitted one."""
        value = _read(definition)
        if self._pinned is None:
            if name not in self._first_definitions:
                return Difference(name, "TOOLS_NOT_PINNED", _NOT_PINNABLE)
            first_definition = _read(self._first_definitions[name])
            return _describe_change(name, first_definition, value, "tool as it was listed first")
        if name in self._pinned:
            return _describe_change(name, self._pinned[name], value, "pinned tool")
        for pinned_name, pinned in self._pinned.items():
            if _without_name(pinned) == _without_name(value):
                return Difference(
                    name, "TOOL_RENAMED", f"is the pinned tool {json.dumps(pinned_name)} renamed"
                )
        return Difference(name, "TOOL_ADDED", "is not among the pinned tools")

    def complete(self, names: Collection[str]) -> list[Difference]:
        """Compare a complete list of *names* with the pinned set, or pin it if none is.

        Return a difference for each pinned tool that the list lacks, or the reason why the list
        cannot be pinned.

        Raises:
            LockFileError: the file cannot be written.
        """
        if self._pinned is None and self._path is not None:
            text = None
            if all(name in self._first_definitions for name in names):
                values = {name: _read(self._first_definitions[name]) for name in sorted(names)}
                text = _lock_text(values)
            if text is None or len(text) > _MAX_FILE_BYTES:
                return [Difference("", "TOOLS_NOT_PINNED", _NOT_PINNABLE)]
            self._pin(_write(self._path, text, values))
        return [
            Difference(name, "TOOL_REMOVED", "is pinned, and not listed any more")
            for name in self._pinned or ()
            if name not in names
        ]

    def _pin(self, pinned: Mapping[str, JsonValue]) -> None:
        self._pinned = dict(pinned)
        self._first_definitions.clear()
        self._digests = {name: digest_of(value) for name, value in pinned.items()}


def open_pins(pinning: Pinning, path: Path) -> PinnedTools:
    """Return the pinned tools of the lock file at *path*.

    Raises:
        LockFileError: the file cannot be read, or does not exist although *pinning* requires it.
    """
    if pinning is Pinning.OFF:
        return PinnedTools()
    if path.is_symlink():
        # Resolved without `strict`: the target may not exist yet.
        path = Path(os.path.realpath(path))
    try:
        check_file(path, _MAX_FILE_BYTES)
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
        raise LockFileError(f"{path}: unknown format, expected {_FORMAT}; delete it to pin again")
    tools: dict[str, Any] = lock["tools"]
    for name, tool in tools.items():
        is_entry = isinstance(tool, dict) and tool.keys() >= {"digest", "definition"}
        if not is_entry or tool["digest"] != digest_of(tool["definition"]):
            raise LockFileError(
                f"{path}: the digest of {json.dumps(name)} is not that of its definition;"
                " restore the file, or delete it to pin again"
            )
    return {name: tool["definition"] for name, tool in tools.items()}


def _lock_text(definitions: Mapping[str, JsonValue]) -> bytes:
    """Return the text of the lock file that pins *definitions*."""
    tools = {
        name: {"digest": digest_of(value), "definition": value}
        for name, value in definitions.items()
    }
    text = json.dumps({"format": _FORMAT, "tools": tools}, indent=2, ensure_ascii=False)
    return f"{text}\n".encode()


def _write(
    path: Path, text: bytes, definitions: Mapping[str, JsonValue]
) -> Mapping[str, JsonValue]:
    """Write the lock file *text* of *definitions* atomically; return the pinned tools.

    If another process has written the file meanwhile, return the tools of that file.
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
        FileExistsError: there is a file at *path*.
    """
    try:
        path.hardlink_to(temporary_path)
    except FileExistsError:
        raise
    except OSError:
        # The file system has no hard links.
        temporary_path.replace(path)


def _read(text: bytes) -> JsonValue:
    """Return the value of a JSON text, None if it is not JSON."""
    try:
        return decode(text, max_depth=_MAX_DEPTH)
    except (MalformedError, RequestError):
        return None


def _describe_change(
    name: str, expected: JsonValue, actual: JsonValue, description: str
) -> Difference:
    """Return how *actual* differs from *expected*, which the text calls *description*."""
    locations = list(_find_changes(expected, actual, ""))
    text = ", ".join(locations[:_MAX_SHOWN_LOCATIONS])
    rest = len(locations) - _MAX_SHOWN_LOCATIONS
    text += f" and {rest:,} more" if rest > 0 else ""
    return Difference(name, "TOOL_CHANGED", f"differs from the {description} at {text}")


def _without_name(definition: JsonValue) -> JsonValue:
    if not isinstance(definition, dict):
        return definition
    return {key: value for key, value in definition.items() if key != "name"}


def _find_changes(expected: JsonValue, actual: JsonValue, pointer: str) -> Iterator[str]:
    """Yield the JSON Pointers of differing parts; *pointer* is that of both values."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            member = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in expected or key not in actual:
                yield member
            else:
                yield from _find_changes(expected[key], actual[key], member)
    elif digest_of(expected) != digest_of(actual):
        yield pointer or "its root"
