"""The file of tokens, read again when it changes."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from sidecheck_server.access.identity import Identity
from sidecheck_server.access.tokens import UnusableTokensError, hash_of, read_tokens
from sidecheck_server.config.input_files import UnusableFileError, check_file

__all__ = ["ReportTokens", "TokensFile"]

_POLL_SECONDS: Final = 1.0
_LARGEST_FILE: Final = 1 << 20

#: Called after each change with the number of tokens, and why the file cannot be used or None.
ReportTokens: TypeAlias = Callable[[int, str | None], None]


class TokensFile:
    """The tokens in the file *path*, which `load` reads first.

    While the file cannot be used, the tokens that were last read hold.
    """

    def __init__(self, path: Path, report: ReportTokens) -> None:
        self._path = path
        self._report = report
        self._identities: Mapping[str, Identity] = {}
        self._content: bytes | None = None
        #: Why the file cannot be used, if it was reported.
        self._fault: str | None = None

    def find(self, token: str) -> Identity | None:
        """Return the identity of who has *token*, None if nobody has.

        The token is looked up by its hash. How long that takes tells something about the
        hash alone, which does not help to find a token with it: no two guesses have hashes
        that are related.
        """
        return self._identities.get(hash_of(token))

    def load(self) -> None:
        """Read the file.

        Raises:
            UnusableTokensError: it cannot be used.
        """
        content = self._read()
        self._identities = read_tokens(content)
        self._content = content

    async def watch(self) -> None:
        """Read the file again whenever it has changed, until cancelled."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            await self.refresh()

    async def refresh(self) -> None:
        """Read the file again if its content has changed, and report what came of it, once."""
        try:
            # A file system may make a reader wait.
            content = await asyncio.to_thread(self._read)
            if content == self._content and self._fault is None:
                return
            self._identities = read_tokens(content)
        except UnusableTokensError as error:
            if str(error) != self._fault:
                self._fault = str(error)
                self._report(len(self._identities), self._fault)
            return
        self._content, self._fault = content, None
        self._report(len(self._identities), None)

    def _read(self) -> bytes:
        """Return the content of the file.

        Raises:
            UnusableTokensError: it cannot be read.
        """
        try:
            check_file(self._path, _LARGEST_FILE)
            return self._path.read_bytes()
        except FileNotFoundError:
            raise UnusableTokensError("does not exist") from None
        except UnusableFileError as error:
            raise UnusableTokensError(str(error)) from None
        except OSError as error:
            raise UnusableTokensError(f"cannot be read: {error.strerror}") from None
