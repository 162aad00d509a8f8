"""What a server exposes to other machines: tokens in plain text, and calls by anybody."""

import structlog

from sidecheck_server.config.addresses import Address
from sidecheck_server.config.settings import Settings, UnusableSettingsError

__all__ = ["check_exposure"]

_log = structlog.get_logger("sidecheck.server")


def check_exposure(settings: Settings) -> None:
    """Check that tokens pass no network in plain text; warn if anybody may call from elsewhere.

    Raises:
        UnusableSettingsError: they would, and the settings do not say that they may.
    """
    is_encrypted = settings.tls_certificate is not None
    if settings.listen and not Address.parse(settings.listen).is_loopback():
        _check_address(settings, settings.listen, is_encrypted=is_encrypted)
    if (
        settings.admin_listen
        and settings.admin_open
        and not Address.parse(settings.admin_listen).is_loopback()
    ):
        _check_address(settings, settings.admin_listen, is_encrypted=False)


def _check_address(settings: Settings, address: str, *, is_encrypted: bool) -> None:
    if settings.tokens_file is None:
        if not (is_encrypted and settings.tls_client_ca is not None):
            _log.warning("server.unauthenticated", address=address)
    elif not (is_encrypted or settings.tokens_without_tls):
        raise UnusableSettingsError(
            f"invalid settings: tokens_file: tokens for {address} would pass the network "
            "in plain text; listen on a loopback address or a unix socket, behind what terminates "
            "TLS, or set tokens_without_tls where the network itself is encrypted"
        )
