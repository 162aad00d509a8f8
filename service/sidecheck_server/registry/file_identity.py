"""Identity of a registry's files: whether the path still leads to the files that are open.

A file that was unlinked, renamed or replaced can still be written through its descriptor,
and what is written there is gone with the process.
"""

from pathlib import Path

__all__ = ["FileIdentity"]


class FileIdentity:
    """The database file at a path and its write-ahead log, as they were when it was made.

    Files are looked up and never opened: POSIX releases the locks of a process when it
    closes any descriptor of the file.
    """

    def __init__(self, path: Path) -> None:
        """Remember the files.

        Raises:
            OSError: one of them does not exist.
        """
        # SQLite names the log after the file that a symbolic link leads to.
        self._paths = (path.absolute(), Path(f"{path.resolve()}-wal"))
        self._identities = [_identify(path) for path in self._paths]

    def changed_file(self) -> Path | None:
        """Return the path that leads to another file, or to none; None if neither does."""
        for path, identity in zip(self._paths, self._identities, strict=True):
            try:
                same = _identify(path) == identity
            except OSError:
                same = False
            if not same:
                return path
        return None


def _identify(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
