"""Checks of the files that the server reads at startup."""

import stat
from pathlib import Path

__all__ = ["UnusableFileError", "check_file"]

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class UnusableFileError(Exception):
    """A file cannot be used; the message is the reason, without the file name."""


def check_file(path: Path, most_bytes: int | None = None) -> None:
    """Check that *path* is a regular file.

    Reading a FIFO or a device could block the startup, or never end.

    Raises:
        UnusableFileError: it is not a regular file, or has more than *most_bytes*.
        FileNotFoundError: it does not exist.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnusableFileError(f"cannot be read: {error.strerror}") from None
    except ValueError:
        raise UnusableFileError("has a null character in its name") from None
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "not a file")
        raise UnusableFileError(f"is {kind}; expected a regular file")
    if most_bytes is not None and status.st_size > most_bytes:
        raise UnusableFileError(
            f"has {status.st_size:,} bytes, more than the limit of {most_bytes:,}"
        )
