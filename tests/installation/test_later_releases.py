"""Installation uses the locked releases, with any pip and in spite of later releases."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installation.index import LATER_VERSION, LaterIndex, running_index
from support.shared_material import REPOSITORY, repository_files

_UV = REPOSITORY / ".tools" / "uv" / "bin" / "uv"
_PIN = re.compile(r"^([a-z0-9-]+)==([^\s;]+)", re.MULTILINE)

#: Dependencies of the service, of the demo, and uv itself.
_LATER = frozenset(
    {
        *("aiohttp", "anyio", "click", "grpcio", "grpcio-health-checking", "mcp", "protobuf"),
        *("pydantic", "rich", "starlette", "uv", "uvicorn"),
    }
)

# `python -m venv` installs the pip that came with the interpreter; this stands for an interpreter
# that came with another.
_PYTHON = """#!/bin/sh
"{python}" "$@" || exit
if [ "$1 $2" = "-m venv" ]; then
    "$3/bin/python" -m pip install --quiet --no-deps --disable-pip-version-check "pip=={pip}"
fi
"""


def _locked(*names: str) -> dict[str, str]:
    text = "\n".join((REPOSITORY / name).read_text() for name in names)
    return dict(_PIN.findall(text))


def _upstream() -> str:
    """Return the address of the index that this machine installs from."""
    printed = subprocess.run(
        [_UV, "pip", "compile", "--quiet", "--emit-index-url", "-"],
        input="",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    [address] = re.findall(r"--index-url (\S+)", printed)
    return str(address)


def _clone(folder: Path) -> Path:
    for name in repository_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, folder / name)
    return folder


def _environment(home: Path, index: LaterIndex) -> dict[str, str]:
    """Return the variables of a user who has no cache and no settings but the index."""
    variables = ("PATH", "LANG", "SSL_CERT_FILE", "PIP_CERT", "PIP_DEFAULT_TIMEOUT")
    return {
        **{name: os.environ[name] for name in variables if name in os.environ},
        "HOME": str(home),
        "PIP_INDEX_URL": index.url,
        "PIP_NO_CACHE_DIR": "1",
    }


def _installed(python: Path) -> dict[str, str]:
    printed = subprocess.run(
        [_UV, "pip", "list", "--quiet", "--format", "freeze", "--python", python],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return dict(_PIN.findall(printed))


@pytest.mark.parametrize(
    "pip",
    [
        pytest.param("22.3", id="pip of Python 3.11.0"),
        pytest.param(_locked("requirements.lock")["pip"], id="pip of the lock"),
    ],
)
def test_the_demo_runs_with_locked_packages(pip: str, tmp_path: Path) -> None:
    """The index has later releases of twelve dependencies that cannot be installed."""
    python = tmp_path / "python"
    python.write_text(_PYTHON.format(python=sys.executable, pip=pip))
    python.chmod(0o755)
    clone = _clone(tmp_path / "clone")
    with running_index(_upstream(), _LATER) as index:
        process = subprocess.run(
            ["make", "demo", f"PYTHON={python}"],
            cwd=clone,
            env=_environment(tmp_path, index),
            capture_output=True,
            text=True,
            check=False,
        )

    assert (0, "") == (process.returncode, process.stderr), process.stdout + process.stderr
    assert _LATER <= index.requested
    service = _locked("deploy/runtime.lock", "deploy/build.lock")
    demo = _locked("clients/python/demo/requirements.lock")
    for environment, locked in ((".venv", service), (".venv-demo", demo)):
        installed = _installed(clone / environment / "bin" / "python")
        assert {} == {
            name: version
            for name, version in installed.items()
            if locked.get(name, version) != version or version == LATER_VERSION
        }
        assert set(installed) - {"sidecheck", "sidecheck-server"} <= set(locked)
