"""Files that the proxy writes line by line, for as long as it can."""

from collections.abc import Callable
from io import FileIO

__all__ = ["LineFile"]


class LineFile:
    """Writes lines to *file*, which does not block.

    At the first error, and if nobody reads what it is, it warns and stops: messages go on.
    """

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
                written = self._file.write(rest)
                if written is None:
                    self._end("it is not read")
                    return
                rest = rest[written:]
        except OSError as error:
            self._end(error.strerror or str(error))

    def _end(self, reason: str) -> None:
        self._has_failed = True
        self._warn(f"sidecheck proxy: {self._file.name!r} ends here: {reason}\n")
