"""TCP addresses: parsing, formatting, and loopback."""

import pytest
from sidecheck_server.config.addresses import Address, is_loopback_host


@pytest.mark.parametrize(
    ("text", "host", "port", "written", "is_loopback"),
    [
        ("127.0.0.1:50151", "127.0.0.1", 50151, "127.0.0.1:50151", True),
        ("127.9.9.9:1", "127.9.9.9", 1, "127.9.9.9:1", True),
        ("[::1]:0", "::1", 0, "[::1]:0", True),
        ("::1:80", "::1", 80, "[::1]:80", True),
        ("[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80, "[::ffff:127.0.0.1]:80", True),
        ("localhost:80", "localhost", 80, "localhost:80", True),
        ("localhost.:80", "localhost.", 80, "localhost.:80", True),
        ("LOCALHOST:080", "LOCALHOST", 80, "LOCALHOST:80", True),
        ("0.0.0.0:80", "0.0.0.0", 80, "0.0.0.0:80", False),
        ("[::]:80", "::", 80, "[::]:80", False),
        ("[::ffff:10.0.0.1]:80", "::ffff:10.0.0.1", 80, "[::ffff:10.0.0.1]:80", False),
        ("[fe80::1]:80", "fe80::1", 80, "[fe80::1]:80", False),
        ("[fe80::1%eth0]:80", "fe80::1%eth0", 80, "[fe80::1%eth0]:80", False),
        ("192.0.2.1:65535", "192.0.2.1", 65535, "192.0.2.1:65535", False),
        ("[2001:db8::1]:80", "2001:db8::1", 80, "[2001:db8::1]:80", False),
        ("nobody.invalid:80", "nobody.invalid", 80, "nobody.invalid:80", False),
    ],
)
def test_addresses(text: str, host: str, port: int, written: str, is_loopback: bool) -> None:
    """An address is parsed, formatted, and parsed again."""
    address = Address.parse(text)

    assert Address(host, port) == address
    assert written == str(address)
    assert address == Address.parse(written)
    assert is_loopback == address.is_loopback()
    assert is_loopback == is_loopback_host(host)


@pytest.mark.parametrize(
    "text",
    [
        *("", ":", "80", ":80", "[]:80", "host", "host:", "host:-1", "host:+1", "host: 1"),
        *("host:65536", "host:1e3", "host:²", "host:٣", "host:000080", f"host:{'9' * 5000}"),
        *("[::1:80", "::1]:80", "[[::1]]:80", "host:80:", "unix:/x:1"),
    ],
)
def test_texts_that_are_not_addresses(text: str) -> None:
    """The message names the expected form."""
    with pytest.raises(ValueError, match=r'^expected "host:port" with a port of at most 65535$'):
        Address.parse(text)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("Localhost.", True),
        ("[::1]", True),
        ("::1%lo", True),
        ("0:0:0:0:0:0:0:1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost..", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
        ("127.1", False),
        ("0.0.0.0", False),
        ("", False),
    ],
)
def test_loopback_by_the_text_alone(host: str, expected: bool) -> None:
    """Names are not resolved, since others may control their addresses."""
    assert expected == is_loopback_host(host)
