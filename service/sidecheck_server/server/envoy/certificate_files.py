"""Files of the certificates that Envoy presents, which it reads again when they are replaced.

Each file has one secret of Envoy's secret discovery service (SDS).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["AUTHORITIES", "CERTIFICATE", "write_certificates"]

CERTIFICATE: Final = "certificate"
AUTHORITIES: Final = "authorities"
"""Names of the secrets, and stems of their files: certificate and key, authorities of clients."""

_TYPE: Final = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"


def write_certificates(folder: Path, pems: Mapping[str, bytes]) -> None:
    """Write *pems*, the content of each file by its setting, to *folder*."""
    certificate = {
        "certificate_chain": {"inline_string": pems["tls_certificate"].decode()},
        "private_key": {"inline_string": pems["tls_key"].decode()},
    }
    _replace(folder, CERTIFICATE, {"tls_certificate": certificate})
    if "tls_client_ca" in pems:
        authorities = {"trusted_ca": {"inline_string": pems["tls_client_ca"].decode()}}
        _replace(folder, AUTHORITIES, {"validation_context": authorities})


def _replace(folder: Path, name: str, secret: Mapping[str, Any]) -> None:
    replacement = folder / f"{name}.next"
    replacement.touch(mode=0o600)
    replacement.write_text(json.dumps({"resources": [{"@type": _TYPE, "name": name, **secret}]}))
    # Envoy notices a rename, and no change in place.
    replacement.rename(folder / f"{name}.json")
