"""The READMEs lead from an empty folder to a program that runs, and all their snippets compile.

For each language, the commands and the manifest of the README of its client make a project, as
printed. Its first program runs there with a server, and prints what the page shows. The other
snippets are files of the same project: whole programs as they are, and fragments, which have all
their imports, in a package, module or class of their own.

The block that clones the repository, and builds the package where that is needed, is not run: links
to this checkout stand for the clone, and packages as they are published for the folders of clients,
except that of Go, whose module `tests/packages` tries.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conformance.languages import LANGUAGES
from packages.published import deploy_artifacts, unpack_crate, unpack_source_distribution
from support.npm_package import NPM_ENVIRONMENT, pack_typescript_client
from support.running import RunningServer
from support.shared_material import REPOSITORY, unavailable
from support.snippets import Snippet, SourceFile, name_pages, read_snippets, source_files

_CLIENTS = REPOSITORY / "clients"
_ADDRESS = re.compile(r"\b(?:localhost|127\.0\.0\.1):50151\b")
_COLORS = re.compile(r"\x1b\[\d*m")
_SECONDS = 900
_ATTEMPTS = 10
_OUTPUT_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True)
class Toolchain:
    """How the snippets of a language become a project."""

    #: Name of the client, in `conformance.languages` and of its folder.
    client: str
    folder: str
    #: Language of the fenced blocks.
    fence: str
    #: The file of the first program.
    main: str
    #: The file of the manifest, and the language of its block.
    manifest: tuple[str, str] = ("", "")
    #: Checks all files of the project, beside the commands of the page.
    check: str = ""
    #: Lock file of the client, whose releases the project has too: they may be compiled already.
    lock: str = ""
    #: Puts the built package where the README expects it, and returns variables of the environment.
    provide: Callable[[Path], Mapping[str, str]] = field(default=lambda _: {})


def _provide_module(_: Path) -> Mapping[str, str]:
    # Any release of Go that runs the tests is good enough.
    return {"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}


def _provide_npm_archive(clone: Path) -> Mapping[str, str]:
    folder = clone / "clients" / "typescript"
    folder.unlink()
    folder.mkdir()
    pack_typescript_client(folder)
    return NPM_ENVIRONMENT


def _replace_link(link: Path, folder: Path) -> None:
    link.unlink()
    link.symlink_to(folder)


def _provide_source_distribution(clone: Path) -> Mapping[str, str]:
    _replace_link(
        clone / "clients" / "python", unpack_source_distribution(clone.parent / "package")
    )
    return {}


def _provide_jar(clone: Path) -> Mapping[str, str]:
    """Put the artifacts in a repository of its own, with links to what the user's one has."""
    deployed = deploy_artifacts() / "io" / "sidecheck"
    users = Path.home() / ".m2" / "repository"
    own = clone.parent / "maven"
    for parent, replaced in ((Path(), "io"), (Path("io"), "sidecheck")):
        (own / parent / replaced).mkdir(parents=True)
        (users / parent).mkdir(parents=True, exist_ok=True)
        for path in (users / parent).iterdir():
            if path.name != replaced:
                (own / parent / path.name).symlink_to(path)
    shutil.copytree(deployed, own / "io" / "sidecheck", dirs_exist_ok=True)
    return {"MAVEN_OPTS": f"-Dmaven.repo.local={own}"}


def _provide_crate(clone: Path) -> Mapping[str, str]:
    _replace_link(clone / "clients" / "rust", unpack_crate(clone.parent / "package"))
    # With the profile of the client too.
    return {
        "CARGO_TARGET_DIR": str(_CLIENTS / "rust" / "target"),
        "CARGO_PROFILE_DEV_DEBUG": "line-tables-only",
    }


_MYPY = (
    f"MYPYPATH={_CLIENTS}/python {sys.executable} -m mypy --config-file= --no-error-summary"
    f" --check-untyped-defs --follow-imports=silent --cache-dir={REPOSITORY}/build/mypy-snippets"
    " --disable-error-code=import-untyped *.py"
)

TOOLCHAINS = (
    Toolchain("Go", "go", "go", "main.go", check="go vet ./...", provide=_provide_module),
    Toolchain(
        "TypeScript",
        "typescript",
        "ts",
        "main.ts",
        ("tsconfig.json", "json"),
        provide=_provide_npm_archive,
    ),
    Toolchain(
        "Java",
        "java",
        "java",
        "src/main/java/Main.java",
        ("pom.xml", "xml"),
        provide=_provide_jar,
    ),
    Toolchain(
        "Rust",
        "rust",
        "rust",
        "src/main.rs",
        ("Cargo.toml", "toml"),
        check="cargo build --examples",
        lock="Cargo.lock",
        provide=_provide_crate,
    ),
    Toolchain(
        "Python",
        "python",
        # Blocks of `python` are run by test_examples.py; the first one here too.
        "py",
        "main.py",
        check=_MYPY,
        provide=_provide_source_distribution,
    ),
)


class ScriptFailed(Exception):
    """Commands failed; the text has the end of their output."""


def _run(script: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Run the commands of *script*, and return their standard output."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if done.returncode:
        raise ScriptFailed(
            f"{script}\nexited with {done.returncode}:\n"
            + (done.stdout + done.stderr)[-_OUTPUT_CHARACTERS:]
        )
    return done.stdout


@pytest.fixture(scope="module")
def snippet_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server for the programs of all languages."""
    running = RunningServer(tmp_path_factory.mktemp("server"))
    yield running
    running.close()


def _link_clone(folder: Path) -> Path:
    clone = folder / "sidecheck"
    (clone / "clients").mkdir(parents=True)
    for client in _CLIENTS.iterdir():
        (clone / "clients" / client.name).symlink_to(client)
    return clone


def _opening(snippets: list[Snippet]) -> list[Snippet]:
    """Return the blocks from the clone to the output of the first program."""
    end = next(index for index, snippet in enumerate(snippets) if snippet.language == "text")
    return snippets[: end + 1]


@pytest.mark.parametrize("toolchain", TOOLCHAINS, ids=lambda toolchain: toolchain.folder)
def test_the_snippets_of_a_readme_compile_and_its_first_program_runs(
    toolchain: Toolchain, snippet_server: RunningServer, tmp_path: Path
) -> None:
    """A failure names the page and the line of the block."""
    if missing := LANGUAGES[toolchain.client].missing_programs():
        unavailable(f"{', '.join(missing)} not on PATH: no {toolchain.client} snippet is compiled")
    page = f"clients/{toolchain.folder}/README.md"
    clone, *opening, output = _opening(read_snippets(page))
    assert clone.text.startswith("git clone https://github.com/sidecheck/sidecheck\n")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        **toolchain.provide(_link_clone(tmp_path)),
    }
    folder = tmp_path
    files: list[SourceFile] = []
    printed = ""
    *preparations, run = [snippet for snippet in opening if snippet.language == "sh"]
    manifest, language = toolchain.manifest
    for snippet in opening:
        if snippet in preparations:
            script = f"{snippet.text}\npwd"
            folder = Path(_run_named(script, folder, environment, []).splitlines()[-1])
        elif snippet == run:
            if toolchain.lock:
                shutil.copy(_CLIENTS / toolchain.folder / toolchain.lock, folder)
            printed = _run_named(snippet.text, folder, environment, files)
            _run_named(toolchain.check, folder, environment, files)
        elif snippet.language == language:
            (folder / manifest).write_text(snippet.text)
        else:
            files = _project_files(toolchain, snippet)
            for file in files:
                path = folder / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_ADDRESS.sub(snippet_server.address, file.text))

    assert output.text == _COLORS.sub("", printed)
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in {toolchain.main, manifest or toolchain.main})


def _project_files(toolchain: Toolchain, first: Snippet) -> list[SourceFile]:
    others = [
        snippet
        for snippet in read_snippets(first.page)
        if snippet.language == toolchain.fence and snippet != first
    ]
    return list(source_files(toolchain.main, first, others))


def _run_named(
    script: str, folder: Path, environment: Mapping[str, str], files: list[SourceFile]
) -> str:
    """Run *script*; its failure has places in pages instead of in *files*."""
    for _ in range(_ATTEMPTS):
        try:
            return _run(script, folder, environment)
        except ScriptFailed as failure:
            reason = str(failure)
        # The deadline of a program's calls, 2 s, may be too short for the machine.
        if not re.search(r"DEADLINE_EXCEEDED|DeadlineExceeded|deadline exceeded", reason):
            break
    pytest.fail(name_pages(reason, files), pytrace=False)


def test_the_readmes_have_the_releases_that_the_clients_are_tested_with() -> None:
    """These are the MCP SDKs, and the compiler of TypeScript."""
    npm = dict(re.findall(r"(\S+)@(\d[.\d]*\d)", _read("typescript/README.md")))
    tested = json.loads(_read("typescript/package.json"))["devDependencies"]
    second_sdk = _read("../tests/e2e/test_second_typescript_sdk.py")
    maven = re.search(r"<artifactId>mcp</artifactId>\s+<version>(.+)<", _read("java/README.md"))
    cargo = re.search(r'^rmcp = \{ version = "(.+?)"', _read("rust/README.md"), re.MULTILINE)
    tested_crate = tomllib.loads(_read("rust/Cargo.toml"))["dependencies"]["rmcp"]["version"]

    version = npm.pop("@modelcontextprotocol/server")
    assert f'"@modelcontextprotocol/server@{version}"' in second_sdk
    assert {name: tested[name] for name in npm} == npm
    assert maven
    assert f"<mcp.version>{maven[1]}</mcp.version>" in _read("java/sidecheck/pom.xml")
    assert cargo
    assert tested_crate == cargo[1]


def _read(path: str) -> str:
    return (_CLIENTS / path).read_text(encoding="utf-8")
