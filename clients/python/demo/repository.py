"""A small Git repository for the Git server to read."""

import os
import subprocess
from pathlib import Path

__all__ = ["make_repository"]

_SECONDS = 120.0


def make_repository(path: Path) -> None:
    """Make a repository with two commits at *path*.

    Raises:
        FileNotFoundError: Git is not installed.
        subprocess.SubprocessError: Git failed.
    """
    # Neither the repository around the caller, which a Git hook names in variables,
    # nor the caller's configuration (signing, templates) is of any concern here.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    } | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    path.mkdir()
    for arguments in (
        ("init", "--quiet"),
        (*author, "commit", "--quiet", "--allow-empty", "--message", "Open the shop"),
        (*author, "commit", "--quiet", "--allow-empty", "--message", "Sell tea"),
    ):
        subprocess.run(  # noqa: S603  (the arguments are the ones above)
            ("git", *arguments),  # noqa: S607  (whichever Git the caller uses)
            cwd=path,
            env=environment,
            check=True,
            capture_output=True,
            timeout=_SECONDS,
        )
