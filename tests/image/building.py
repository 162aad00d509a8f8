"""Carries out the Dockerfile's steps in a folder, where there is no engine to build with.

The folder stands for the root of every stage's file system, the interpreter that runs
the tests for the one of the base image, and the user who runs them for the image's.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from image.dockerfile import pairs, read_image, read_steps
from support.shared_material import REPOSITORY

__all__ = ["build", "in_root", "is_sent", "surroundings"]

_ABSOLUTE = re.compile(r"(?<![\w./:-])/(?=\w)")


def build(root: Path) -> None:
    """Carry out every step that makes files, below *root*.

    Raises:
        subprocess.CalledProcessError: a step failed.
    """
    subprocess.run([sys.executable, "-m", "venv", root / "usr" / "local"], check=True)
    environment = surroundings(root)
    folder = root
    for step in read_steps():
        if step.name == "ENV":
            environment |= _variables(step.value, root, environment)
        elif step.name == "WORKDIR":
            folder = Path(in_root(root, step.value))
            folder.mkdir(parents=True, exist_ok=True)
        elif step.name == "COPY" and not step.value.startswith("--from"):
            *sources, target = step.value.split()
            for source in sources:
                _copy(source, folder / target, whole=len(sources) == 1)
        elif step.name == "RUN":
            command = in_root(root, step.value).replace(_user(), str(os.getuid()))
            subprocess.run(["/bin/sh", "-c", command], cwd=folder, env=environment, check=True)


def in_root(root: Path, text: str) -> str:
    """Return *text* with every absolute path in it below *root*."""
    return _ABSOLUTE.sub(f"{root}/", text)


def surroundings(root: Path) -> dict[str, str]:
    """Return the environment that the base image would give.

    With what tells pip where packages are, which an engine has from its own machine.
    """
    environment = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))
    }
    return {**environment, "HOME": str(root), "PATH": f"{root}/usr/local/bin:/usr/bin:/bin"}


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


def _copy(source: str, target: Path, *, whole: bool) -> None:
    """Copy as COPY does: a folder's contents to *target*, several files into it."""
    origin = REPOSITORY / source
    files = [origin] if origin.is_file() else [path for path in origin.rglob("*") if path.is_file()]
    sent = [file for file in files if is_sent(str(file.relative_to(REPOSITORY)))]
    assert sent, f"nothing is left of {source}"
    for file in sent:
        into = target / (file.relative_to(origin) if whole and origin.is_dir() else file.name)
        into.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, into)


def _user() -> str:
    return read_image().user.partition(":")[0]


def _variables(text: str, root: Path, before: dict[str, str]) -> dict[str, str]:
    return {
        name: in_root(root, value).replace("$PATH", before["PATH"])
        for name, value in pairs(text).items()
    }
