"""Replacement of files of other programs: at once, and with the same mode."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import click

from sidecheck_server.cli.operating_system import keep_owner
from sidecheck_server.cli.rows import escape

__all__ = ["BACKUP_SUFFIX", "backup_path", "replace_file"]

BACKUP_SUFFIX = ".before-sidecheck"


def backup_path(file: str) -> Path:
    """Return the path of the backup of *file*, beside the file that it links to."""
    path = Path(file).resolve()
    return path.with_name(path.name + BACKUP_SUFFIX)


def replace_file(path: Path, text: bytes, *, mode_of: Path) -> None:
    """Replace or create the file *path* with *text*, with mode and owner of the file *mode_of*.

    Other programs read the former content or *text*, never a part.

    Raises:
        click.UsageError: the file cannot be written; exit code 2.
    """
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        status = mode_of.stat()
        keep_owner(temporary, status)
        Path(temporary).chmod(stat.S_IMODE(status.st_mode))
        Path(temporary).replace(path)
    except OSError as error:
        with suppress(OSError):
            Path(temporary).unlink()
        raise click.UsageError(f"cannot write {escape(str(path))}: {error.strerror}") from None
