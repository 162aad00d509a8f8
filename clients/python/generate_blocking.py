"""Generates the blocking client, ``sidecheck/_blocking``, from the asynchronous one.

usage: python clients/python/generate_blocking.py [FOLDER]

Writes to FOLDER in place of ``sidecheck/_blocking``, for example to compare the two.
"""

import re
import shutil
import subprocess
import sys
import tokenize
from io import StringIO
from pathlib import Path
from typing import Final

import unasync

__all__ = ["generate"]

PACKAGE: Final = Path(__file__).resolve().parent / "sidecheck"

#: Classes that have a blocking form, and the names that differ for it.
NAMES: Final = {
    **{
        name: f"Blocking{name}"
        for name in (
            "Client",
            "ConversionClient",
            "FakeValidator",
            "InferenceClient",
            "ProtocolClient",
            "RegistryMethods",
            "ResultChecker",
            "Session",
            "Stream",
            "Validator",
        )
    },
    "_async": "_blocking",
    "tasks": "threads",
}

#: Phrases of docstrings and comments that differ.
PHRASES: Final = {
    "``async with``": "``with``",
    "`contextlib.aclosing`": "`contextlib.closing`",
    "tasks of one event loop: the one that runs at its first call": (
        "any number of threads; do not create it before a fork"
    ),
    "The asynchronous client, and the source of the blocking one.": "The blocking client.",
}
HEADER: Final = "# Generated from sidecheck/_async by generate_blocking.py. Do not edit.\n"


def generate(folder: Path) -> None:
    """Write the blocking client to *folder*, which is replaced."""
    if folder.exists():
        shutil.rmtree(folder)
    source = PACKAGE / "_async"
    rule = unasync.Rule(f"{source}/", f"{folder}/", additional_replacements=NAMES)
    paths = [str(path) for path in sorted(source.glob("*.py"))]
    unasync.unasync_files(paths, [rule])
    for path in sorted(folder.glob("*.py")):
        path.write_text(HEADER + adapt(path.read_text(encoding="utf-8")), encoding="utf-8")
    config = f"--config={PACKAGE.parents[2] / 'pyproject.toml'}"
    fixes = ["--fix-only", "--unsafe-fixes", "--select=F401,I,RUF022,UP028"]
    # Ruff recognizes the package only inside the repository.
    fixes += ["--config=lint.isort.known-first-party = ['sidecheck']"]
    for command in (["check", *fixes], ["format"]):
        subprocess.run(  # noqa: S603  (ruff of this environment)
            [sys.executable, "-m", "ruff", *command, "--quiet", config, folder], check=True
        )


def adapt(text: str) -> str:
    """Return generated code with its annotations, docstrings and comments adapted."""
    text = re.sub(r"^# ruff: noqa: ASYNC109 .*\n\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"Awaitable\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", r"\1", text)
    lines = text.splitlines(keepends=True)
    # Last token first, so that the positions of the others stay valid.
    for token in reversed([*tokenize.generate_tokens(StringIO(text).readline)]):
        if token.type in {tokenize.STRING, tokenize.COMMENT}:
            (first, start), (last, end) = token.start, token.end
            block = "".join(lines[first - 1 : last])
            tail = len(lines[last - 1]) - end
            stop = len(block) - tail
            adapted = block[:start] + adapt_prose(token.string) + block[stop:]
            lines[first - 1 : last] = adapted.splitlines(keepends=True)
    return "".join(lines)


def adapt_prose(text: str) -> str:
    """Return a docstring or comment with its phrases and names adapted."""
    for phrase, replacement in PHRASES.items():
        text = text.replace(phrase, replacement)
    return re.sub(r"(?<=`)\w+", lambda match: NAMES.get(match[0], match[0]), text)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE / "_blocking")
