"""Build context of the image: the files of the repository that an engine is sent."""

import re

from support.shared_material import REPOSITORY

__all__ = ["is_sent"]


def is_sent(path: str) -> bool:
    """Return whether the engine is sent the file *path* of the repository.

    By https://docs.docker.com/build/concepts/context/#dockerignore-files: the last
    pattern that matches a file, or a folder that it is in, decides.
    """
    sent = True
    for line in (REPOSITORY / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!")
        if pattern and not pattern.startswith("#") and _matches(pattern, path):
            sent = line.startswith("!")
    return sent


def _matches(pattern: str, path: str) -> bool:
    expression = re.escape(pattern).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
    return re.fullmatch(f"{expression}(/.*)?", path) is not None
