"""The public interface of each client as text, by a tool of its ecosystem."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from conformance.languages import LANGUAGES
from support.shared_material import REPOSITORY
from surface.python_surface import render_python

__all__ = ["SURFACES"]

_CLIENTS = REPOSITORY / "clients"
_TOOLS = Path(__file__).resolve().parent
_SECONDS = 900


def _run(*command: str | Path, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def _render_go() -> str:
    return "\n".join(
        _strip_comments(_run("go", "doc", "-all", f"./{package}", folder=_CLIENTS / "go"))
        for package in ("sidecheck", "sidecheckmcp")
    )


def _strip_comments(page: str) -> str:
    """Return the declarations of a page of `go doc`, which indents comments by four spaces."""
    package, _, rest = page.partition("\n")
    headings = re.search(r"^(?:CONSTANTS|VARIABLES|FUNCTIONS|TYPES)$", rest, re.MULTILINE)
    assert headings
    lines = (re.sub(r"\s+// .*", "", line) for line in rest[headings.start() :].splitlines())
    declared = [line for line in lines if line and not re.match(r" {4}|\s*//", line)]
    return "\n".join((package, *declared, ""))


def _render_typescript() -> str:
    LANGUAGES["TypeScript"].make()
    tool = _TOOLS / "typescript"
    _run("npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", folder=tool)
    return "\n".join(_report(tool, entry) for entry in ("index", "mcp"))


def _report(tool: Path, entry: str) -> str:
    """Return the report of API Extractor on a file of type declarations."""
    project = _CLIENTS / "typescript"
    silent = {"default": {"logLevel": "none"}}
    with tempfile.TemporaryDirectory() as folder:
        configuration = {
            "projectFolder": str(project),
            "mainEntryPointFilePath": str(project / "dist" / f"{entry}.d.ts"),
            "compiler": {"tsconfigFilePath": str(project / "src" / "tsconfig.json")},
            "apiReport": {
                "enabled": True,
                "reportFolder": folder,
                "reportTempFolder": folder,
                "reportFileName": entry,
            },
            "docModel": {"enabled": False},
            "dtsRollup": {"enabled": False},
            "tsdocMetadata": {"enabled": False},
            # What a declaration should have is the linter's subject.
            "messages": {"extractorMessageReporting": silent, "tsdocMessageReporting": silent},
        }
        # The tool expects the name of the package beside its configuration.
        shutil.copy(project / "package.json", folder)
        path = Path(folder) / "api-extractor.json"
        path.write_text(json.dumps(configuration))
        extractor = tool / "node_modules" / ".bin" / "api-extractor"
        _run(extractor, "run", "--local", "--config", path, folder=project)
        report = (Path(folder) / f"{entry}.api.md").read_text()
    return f"## {entry}\n\n" + report[report.index("```ts") :]


def _render_java() -> str:
    LANGUAGES["Java"].make()
    classes = _CLIENTS / "java" / "sidecheck" / "target" / "classes"
    names = sorted(
        ".".join(path.relative_to(classes).with_suffix("").parts)
        for path in classes.rglob("*.class")
        if path.stem != "package-info" and not path.is_relative_to(classes / "io/sidecheck/v1")
    )
    printed = _run("javap", "-protected", "-constants", *names, folder=classes)
    declarations = re.split(r'^Compiled from ".+"\n', printed, flags=re.MULTILINE)
    return "".join(text for text in declarations if text.startswith(("public ", "protected ")))


def _render_rust() -> str:
    """Return the items of the crate, without the stubs, which the .proto files describe."""
    client = _CLIENTS / "rust"
    _run(
        *("cargo", "rustdoc", "--locked", "--quiet", "--lib", "--all-features"),
        *("--", "-Z", "unstable-options", "--output-format", "json"),
        folder=client,
        RUSTDOC=str(_TOOLS / "rust" / "rustdoc.sh"),
    )
    printed = _run(
        *("cargo", "run", "--locked", "--quiet", "--target-dir", client / "target"),
        *("--manifest-path", _TOOLS / "rust" / "Cargo.toml"),
        *("--", client / "target" / "doc" / "sidecheck.json"),
        folder=client,
    )
    return "".join(item for item in printed.splitlines(keepends=True) if not _is_stub(item))


def _is_stub(item: str) -> bool:
    """Tell whether an item mentions nothing of the crate but stubs."""
    modules = re.findall(r"(?<!::)\bsidecheck(?:::(\w+))?", item)
    return set(modules) == {"stubs"}


#: What renders the interface of a client, by its name in `conformance.languages`.
_RENDERERS: Mapping[str, Callable[[], str]] = {
    "Python": render_python,
    "Go": _render_go,
    "TypeScript": _render_typescript,
    "Java": _render_java,
    "Rust": _render_rust,
}

#: The same, with the committed file of each.
SURFACES = {
    client: (_CLIENTS / client.lower() / "api.txt", render) for client, render in _RENDERERS.items()
}
