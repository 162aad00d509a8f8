"""Files that the proxy writes line by line, for as long as it can."""

from collections.abc import Callable
from io import FileIO

__all__ = ["LineFile"]


class LineFile:
    """Writes lines to *file*. At the first error it warns and stops: messages go on."""

    def __init__(self, file: FileIO, warn: Callable[[str], None]) -> None:
        self._file = file
        self._warn = warn
        self._has_failed = False

    def write(self, line: bytes) -> None:
        """Write *line*, which has no line break."""
        if self._has_failed:
            return
        try:
            rest = memoryview(line + b"\n")
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
        except OSError as error:
            self._has_failed = True
            self._warn(f"sidecheck proxy: {self._file.name!r} ends here: {error.strerror}\n")
