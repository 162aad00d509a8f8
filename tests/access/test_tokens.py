"""Tokens and the file that lists them."""

import re

import pytest
from sidecheck_server.access.identity import Identity, Role
from sidecheck_server.access.tokens import UnusableTokensError, hash_of, new_token, read_tokens
from support.tokens import TOKENS, entry, tokens_file

HASH = "a" * 64
SECRET = "sct_written-into-the-file-by-mistake"
NAMED = f'[[tokens]]\nname = "a"\nsha256 = "{HASH}"\n'


def test_tokens_are_recognizable_and_differ() -> None:
    """Scanners recognize the prefix and the length."""
    tokens = {new_token() for _ in range(100)}

    assert 100 == len(tokens)
    assert all(re.fullmatch(r"sct_[A-Za-z0-9_-]{43}", token) for token in tokens)


def test_identities_are_read_by_hash() -> None:
    """An identity has roles and servers; without servers, it has all."""
    identities = read_tokens(tokens_file().encode())

    assert (
        Identity("limited", frozenset({Role.VALIDATE, Role.REGISTER}), frozenset({"mine"}))
        == identities[hash_of(TOKENS["limited"])]
    )
    assert Identity("admin", frozenset({Role.ADMIN})) == identities[hash_of(TOKENS["admin"])]
    assert 5 == len(identities)
    assert hash_of(TOKENS["stranger"]) not in identities


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "tokens: Field required"),
        (b"tokens = []", "tokens: Tuple should have at least 1 item"),
        (b"\xff", "is not UTF-8"),
        (f"[[tokens]]\n{SECRET}\n".encode(), "is not TOML (at line 2, column 37)"),
        (b"x = " + b"[" * 100_000, "nests too deeply"),
        (f"{NAMED}".encode(), "tokens.0.roles: Field required"),
        (f"{NAMED}roles = []".encode(), "tokens.0.roles: "),
        (f'{NAMED}roles = ["{SECRET}"]'.encode(), "tokens.0.roles.0: Input should be"),
        (f'{NAMED}roles = ["admin"]\nservers = []'.encode(), "tokens.0.servers: "),
        (f'{NAMED}roles = ["admin"]\nservers = [""]'.encode(), "tokens.0.servers.0: "),
        (f'{NAMED}roles = ["admin"]\n{SECRET} = 1'.encode(), "tokens.0: Unexpected keyword"),
        (
            f'[[tokens]]\nname = "a"\nsha256 = "{SECRET}"\nroles = ["admin"]'.encode(),
            "tokens.0.sha256: String should match",
        ),
        (
            f'[[tokens]]\nname = "a b"\nsha256 = "{HASH}"\nroles = ["admin"]'.encode(),
            "tokens.0.name: String should match",
        ),
        (f"{entry('admin', 'admin')}\n{entry('admin', 'validate')}".encode(), "two entries"),
    ],
)
def test_an_unusable_file_is_rejected_without_its_values(content: bytes, fault: str) -> None:
    """Somebody may have written the token itself into it."""
    with pytest.raises(UnusableTokensError) as raised:
        read_tokens(content)

    assert fault in str(raised.value)
    assert SECRET not in str(raised.value)
