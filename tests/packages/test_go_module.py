"""The Go module works in an empty project that gets it from a module proxy."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from conformance.languages import LANGUAGES
from packages.published import GO_MODULE, GO_VERSION, write_module_proxy
from support.running import RunningServer
from support.shared_material import REPOSITORY, unavailable
from support.snippets import read_snippets

_PAGE = "clients/go/README.md"
_SECONDS = 900


def _go(*arguments: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ("go", *arguments),
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, f"go {' '.join(arguments)}:\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_first_program_runs_with_the_published_module(
    shared_server: RunningServer, tmp_path: Path
) -> None:
    """The project replaces no module; the program prints what the README shows."""
    if LANGUAGES["Go"].missing_programs():
        unavailable("go not on PATH: no Go module is tried")
    snippets = read_snippets(_PAGE)
    program = next(snippet.text for snippet in snippets if snippet.language == "go")
    expected = next(snippet.text for snippet in snippets if snippet.language == "text")
    write_module_proxy(tmp_path / "proxy")
    project = tmp_path / "weather"
    project.mkdir()
    configured = _go("env", "GOPROXY", "GOMODCACHE", folder=project, environment={}).split()
    environment = {
        # Other modules come from the cache of the user, where it has them.
        "GOPROXY": f"file://{tmp_path}/proxy,file://{configured[1]}/cache/download,{configured[0]}",
        # The cache must not keep a version whose files change with the checkout.
        "GOMODCACHE": str(tmp_path / "modules"),
        "GOFLAGS": "-mod=mod -modcacherw",
        "GONOSUMDB": GO_MODULE,
        "GOTOOLCHAIN": "local",
    }
    _go("mod", "init", "example.com/weather", folder=project, environment=environment)
    # Without its sums, the checksum database would be asked for each dependency.
    shutil.copy(REPOSITORY / "clients" / "go" / "go.sum", project)
    _go("get", f"{GO_MODULE}@{GO_VERSION}", folder=project, environment=environment)
    address = re.compile(r"\blocalhost:50151\b")
    (project / "main.go").write_text(address.sub(shared_server.address, program))
    printed = _go("run", ".", folder=project, environment=environment)
    modules = _go("mod", "edit", "-json", folder=project, environment=environment)

    assert printed == expected
    assert '"Replace": null' in modules
