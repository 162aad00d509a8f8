"""File of the certificates that Envoy presents, which it reads again when it is replaced."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["AUTHORITIES", "CERTIFICATE", "write_secrets"]

CERTIFICATE: Final = "certificate"
AUTHORITIES: Final = "authorities"
"""Names of the secrets: the certificate with its key, and the authorities of clients."""

_SECRET: Final = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"


def write_secrets(path: Path, pems: Mapping[str, bytes]) -> None:
    """Replace the file *path* by one with *pems*, the content of each file by its setting.

    Envoy notices the replacement by a rename, not a change in place.
    """
    resources: list[Mapping[str, Any]] = [
        {
            "@type": _SECRET,
            "name": CERTIFICATE,
            "tls_certificate": {
                "certificate_chain": {"inline_string": pems["tls_certificate"].decode()},
                "private_key": {"inline_string": pems["tls_key"].decode()},
            },
        }
    ]
    if "tls_client_ca" in pems:
        authorities = {"inline_string": pems["tls_client_ca"].decode()}
        resources.append(
            {
                "@type": _SECRET,
                "name": AUTHORITIES,
                "validation_context": {"trusted_ca": authorities},
            }
        )
    replacement = path.with_suffix(".next")
    replacement.touch(mode=0o600)
    replacement.write_text(json.dumps({"resources": resources}))
    replacement.rename(path)
