"""What a server exposes to other machines: tokens in plain text, and calls by anybody."""

import structlog

from sidecheck_server.rpc.sockets import is_loopback
from sidecheck_server.settings import Settings, UnusableSettingsError

__all__ = ["check_exposure"]

_log = structlog.get_logger("sidecheck.server")


def check_exposure(settings: Settings) -> None:
    """Check that tokens pass no network in plain text; warn if anybody may call from elsewhere.

    Raises:
        UnusableSettingsError: they would, and the settings do not say that they may.
    """
    if not settings.listen or is_loopback(settings.listen):
        return
    is_encrypted = settings.tls_certificate is not None
    if settings.tokens_file is None:
        if settings.tls_client_ca is None:
            _log.warning("server.unauthenticated", address=settings.listen)
    elif not (is_encrypted or settings.tokens_without_tls):
        raise UnusableSettingsError(
            f"invalid settings: tokens_file: tokens for {settings.listen} would pass the network "
            "in plain text; listen on a loopback address or a unix socket, behind what terminates "
            "TLS, or set tokens_without_tls where the network itself is encrypted"
        )
