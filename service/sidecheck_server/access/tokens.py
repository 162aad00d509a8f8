"""Bearer tokens: their creation, and the file with their hashes and permissions.

The file has the SHA-256 of each token. A slow hash, as for passwords, would add no security
and delay every call: a token has 256 random bits and cannot be guessed.
"""
# Decision 0065: tokens are random, so a fast hash and a plain look-up are safe.

import asyncio
import hashlib
import secrets
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from sidecheck_server.access.identity import Identity, Role
from sidecheck_server.config.input_files import UnusableFileError, check_file

__all__ = [
    "PREFIX",
    "ReportTokens",
    "TokenEntry",
    "TokensFile",
    "UnusableTokensError",
    "hash_of",
    "new_token",
    "read_tokens",
]

_POLL_SECONDS: Final = 1.0
_LARGEST_FILE: Final = 1 << 20

#: Called after each change with the number of tokens, and the fault of the file or None.
ReportTokens: TypeAlias = Callable[[int, str | None], None]


class TokensFile:
    """The tokens in the file *path*; call `load` first.

    While the file is unusable, the tokens that were read last remain valid.
    """

    def __init__(self, path: Path, report: ReportTokens) -> None:
        self._path = path
        self._report = report
        self._identities: Mapping[str, Identity] = {}
        self._content: bytes | None = None
        #: The reported fault of the file, or None.
        self._fault: str | None = None

    def find(self, token: str) -> Identity | None:
        """Return the identity of *token*, or None if it is unknown.

        The look-up is by hash. Its duration depends only on the hash of the guess, and hashes
        of similar guesses are unrelated, so timing does not help to find a token.
        """
        return self._identities.get(hash_of(token))

    def load(self) -> None:
        """Read the file.

        Raises:
            UnusableTokensError: the file cannot be used.
        """
        content = self._read()
        self._identities = read_tokens(content)
        self._content = content

    async def watch(self) -> None:
        """Read the file again after each change, until cancelled."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            await self.refresh()

    async def refresh(self) -> None:
        """Read the file again if its content has changed, and report the result once."""
        try:
            # In a thread, because reading may block.
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
            UnusableTokensError: the file cannot be read.
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


PREFIX: Final = "sct_"
"""Prefix of all tokens from `new_token`, by which secret scanners recognize them."""

_TOKEN_BYTES = 32


class UnusableTokensError(Exception):
    """A file of tokens is unusable; the message is the fault, without the file name."""


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """An entry of the file."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    #: The operator's name for the token, which appears in the log.
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$")]
    #: SHA-256 of the token, in hexadecimal.
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    roles: Annotated[frozenset[Role], Field(min_length=1)]
    #: The servers whose tools it may use; None for all servers.
    servers: (
        Annotated[
            frozenset[Annotated[str, Field(min_length=1, max_length=256)]], Field(min_length=1)
        ]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class _File:
    __pydantic_config__ = ConfigDict(extra="forbid")

    tokens: Annotated[tuple[TokenEntry, ...], Field(min_length=1)]


_FILE: Final = TypeAdapter(_File)


def new_token() -> str:
    """Return a new random token."""
    return PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)


def hash_of(token: str) -> str:
    """Return the SHA-256 of *token* in hexadecimal, the form in the file."""
    return hashlib.sha256(token.encode(errors="backslashreplace")).hexdigest()


def read_tokens(content: bytes) -> Mapping[str, Identity]:
    """Return the identities in *content*, a tokens file in TOML, by token hash.

    Raises:
        UnusableTokensError: the content is invalid or has no token. The message contains no
            value of the file, because someone may have written a token into it.
    """
    try:
        file = _FILE.validate_python(tomllib.loads(content.decode()))
    except UnicodeDecodeError:
        raise UnusableTokensError("is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UnusableTokensError(f"is not TOML{_extract_place(str(error))}") from None
    except RecursionError:
        raise UnusableTokensError("nests too deeply") from None
    except ValidationError as error:
        raise UnusableTokensError(f"is invalid: {_describe_faults(error)}") from None
    identities: dict[str, Identity] = {}
    names = set()
    for entry in file.tokens:
        if entry.name in names or entry.sha256 in identities:
            raise UnusableTokensError(f"has two entries with the name or the hash of {entry.name}")
        names.add(entry.name)
        identities[entry.sha256] = Identity(entry.name, entry.roles, entry.servers)
    return identities


def _extract_place(fault: str) -> str:
    """Return the line and column in *fault*, a message of the TOML parser, or ""."""
    _, parenthesis, place = fault.rpartition(" (at ")
    return f" (at {place}" if parenthesis else ""


def _describe_faults(error: ValidationError) -> str:
    faults = []
    for fault in error.errors():
        # Do not repeat an unknown name: it may be a secret.
        is_unknown = fault["type"] == "unexpected_keyword_argument"
        place = fault["loc"][:-1] if is_unknown else fault["loc"]
        faults.append(f"{'.'.join(map(str, place)) or 'the file'}: {fault['msg']}")
    return "; ".join(faults)
