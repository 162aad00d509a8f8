"""Exposure of a server to other machines."""

from pathlib import Path
from typing import Any

import pytest
from sidecheck_server.config.settings import Settings, UnusableSettingsError
from sidecheck_server.rpc.server import check_exposure
from structlog.testing import capture_logs

FILE = Path("tokens.toml")


def warnings(**settings: Any) -> list[str]:
    """Return the events of the check."""
    with capture_logs() as logs:
        check_exposure(Settings(**settings))
    return [event["event"] for event in logs]


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.9.9.9:1", "[::1]:0", "localhost:0", ""])
@pytest.mark.parametrize("tokens", [None, FILE])
def test_local_addresses_need_no_protection(listen: str, tokens: Path | None) -> None:
    """Loopback and unix sockets cause no warning, with or without tokens."""
    socket = Path("/run/sidecheck.sock")

    assert [] == warnings(listen=listen, unix_socket=socket, tokens_file=tokens)


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "192.0.2.1:50151"])
def test_an_address_beyond_loopback(listen: str) -> None:
    """Without tokens it has a warning; tokens over plain text need a setting."""
    assert ["server.unauthenticated"] == warnings(listen=listen)
    assert [] == warnings(listen=listen, tokens_file=FILE, tokens_without_tls=True)
    with pytest.raises(UnusableSettingsError, match="tokens_without_tls"):
        warnings(listen=listen, tokens_file=FILE)
