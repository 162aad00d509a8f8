#!/usr/bin/env python3
"""Fails on retired identifiers, and names the replacement of each.

usage: .ci/check_names.py [FILE...]   all files of the repository if none is given

`.ci/retired_names.txt` lists them, one per line:

    old -> new
    old -> new | service/* !service/sidecheck_server/cli/*

Globs after the bar limit a name to some paths, and those with `!` exempt others; `*`
matches slashes too. A name in snake case stands for its other spellings as well:
`old_name`, `OLD_NAME`, `oldName`, `OldName`, `GetOldName`, `--old-name`. Prints
`file:line: message` for every occurrence, and exits with 1 if there is any.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_LIST = ".ci/retired_names.txt"
_EXEMPT = (_LIST, "*.lock", "*/package-lock.json", "*/go.sum", "*.svg", "CHANGELOG.md")
_ENTRY = re.compile(r"(?P<old>\w+) -> (?P<new>[^|]*[^|\s])(?:\s*\|\s*(?P<globs>\S.*))?")
# Double underscores separate the parts of a nested setting's variable.
_IDENTIFIER = re.compile(r"--[a-z][a-z0-9-]+|(?:[A-Za-z0-9]|_(?!_))+")


@dataclass(frozen=True, slots=True)
class RetiredName:
    """A name that must not be used, and what replaces it."""

    old: str
    new: str
    included: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def applies_to(self, path: str) -> bool:
        """Return whether the file at *path* must not use the name."""
        if any(fnmatchcase(path, glob) for glob in self.excluded):
            return False
        return not self.included or any(fnmatchcase(path, glob) for glob in self.included)

    def spellings(self) -> Iterator[tuple[str, str]]:
        """Yield every spelling of the old name with that of the new one."""
        yield self.old, self.new
        if "_" not in self.old or not self.old.islower():
            return
        for spell in (str.upper, _camel, _pascal, _getter, _flag):
            yield spell(self.old), spell(self.new) if self.new.isidentifier() else self.new


def read_names(text: str) -> dict[str, list[tuple[RetiredName, str]]]:
    """Return the retired names by spelling, each with the spelling of its replacement.

    Raises:
        ValueError: A line is malformed.
    """
    names: dict[str, list[tuple[RetiredName, str]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        entry = _ENTRY.fullmatch(line.strip())
        if entry is None:
            raise ValueError(f"{_LIST}:{number}: expected `old -> new` or `old -> new | globs`")
        globs = (entry["globs"] or "").split()
        name = RetiredName(
            entry["old"],
            entry["new"],
            tuple(glob for glob in globs if not glob.startswith("!")),
            tuple(glob[1:] for glob in globs if glob.startswith("!")),
        )
        for old, new in name.spellings():
            names.setdefault(old, []).append((name, new))
    return names


def find_retired(
    path: str, text: str, names: Mapping[str, list[tuple[RetiredName, str]]]
) -> Iterator[str]:
    """Yield a message for every retired name in *text*, the content of *path*."""
    if names.keys().isdisjoint(map(_stripped, _IDENTIFIER.findall(text))):
        return
    for number, line in enumerate(text.splitlines(), start=1):
        for identifier in dict.fromkeys(map(_stripped, _IDENTIFIER.findall(line))):
            for name, new in names.get(identifier, ()):
                if name.applies_to(path):
                    yield f"{path}:{number}: `{identifier}`; use `{new}`"
                    break


def main(arguments: Iterable[str]) -> int:
    """Check the files named by *arguments*, or all; return the exit status."""
    try:
        names = read_names((_ROOT / _LIST).read_text())
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    occurrences = 0
    for path in sorted(arguments) or _files():
        if any(fnmatchcase(path, glob) for glob in _EXEMPT):
            continue
        try:
            text = (_ROOT / path).read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # binary, or deleted and not committed yet
        for message in find_retired(path, text, names):
            print(message)
            occurrences += 1
    return int(occurrences > 0)


def _files() -> list[str]:
    listing = subprocess.run(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),  # noqa: S607
        cwd=_ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [path for path in listing.stdout.split("\0") if path and (_ROOT / path).is_file()]


def _stripped(identifier: str) -> str:
    return identifier.strip("_")


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _getter(name: str) -> str:
    return f"Get{_pascal(name)}"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
