"""The archive of the TypeScript client, as npm installs it."""

import os
import subprocess
from pathlib import Path

from conformance.languages import LANGUAGES

__all__ = ["NPM_ENVIRONMENT", "pack_typescript_client"]

#: What npm has in its cache is not asked for again.
NPM_ENVIRONMENT = {"NPM_CONFIG_PREFER_OFFLINE": "true", "NPM_CONFIG_AUDIT": "false"}


def pack_typescript_client(folder: Path) -> Path:
    """Write the archive of the client to *folder*, and return its path."""
    language = LANGUAGES["TypeScript"]
    language.make()
    subprocess.run(
        ["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", str(folder)],
        cwd=language.folder,
        env={**os.environ, **NPM_ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=900,
    )
    (archive,) = folder.glob("sidecheck-*.tgz")
    return archive
