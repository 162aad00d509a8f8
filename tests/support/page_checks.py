"""npm packages that check the page, installed once for all test processes."""

import fcntl
import shutil
import subprocess
from pathlib import Path

from support.shared_material import REPOSITORY, unavailable

__all__ = ["PAGE_FILES", "PAGE_PACKAGE", "page_checks"]

PAGE_FILES = REPOSITORY / "service" / "sidecheck_server" / "admin" / "page"
PAGE_PACKAGE = REPOSITORY / "tests" / "page" / "npm"

_INSTALLED = REPOSITORY / "build" / "page"
_SECONDS = 600


def page_checks() -> Path:
    """Return the folder of the packages that `tests/page/npm` locks; run no install script."""
    if shutil.which("npm") is None:
        unavailable("no npm on PATH, which installs what checks the page")
    _INSTALLED.mkdir(parents=True, exist_ok=True)
    lock_text = (PAGE_PACKAGE / "package-lock.json").read_text()
    with (_INSTALLED / ".made").open("a+") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        lock_file.seek(0)
        if lock_file.read() != lock_text:
            lock_file.truncate(0)
            for name in ("package.json", "package-lock.json"):
                shutil.copy(PAGE_PACKAGE / name, _INSTALLED)
            words = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(words, cwd=_INSTALLED, check=True, timeout=_SECONDS)
            lock_file.write(lock_text)
    return _INSTALLED / "node_modules"
