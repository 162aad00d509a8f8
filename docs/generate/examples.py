"""Runs the examples of the documentation, and writes their output into the pages.

An example is a fenced block of a page:

- ``python``: all blocks of a page are one program, run against a server. The output of a block
  is in the ``text`` block that follows it, or, one line for each ``print``, in a comment after
  the ``print``.
- ``console``: each line after ``$ `` is a command, and the lines below it are its output.
- A block with ``title="name"`` is written to that file. Programs find the first content of each
  file, commands the last one above them.

All other blocks are ignored. Run as a script, this module starts a server and refreshes every
page; the tests fail if a page is stale.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["ADDRESS", "REPOSITORY", "ExampleError", "example_pages", "refresh"]

REPOSITORY = Path(__file__).parents[2]
ADDRESS = "127.0.0.1:50151"
"""The address that examples use; replaced by that of the server when they run."""
ADMIN_ADDRESS = "127.0.0.1:50152"
"""The HTTP address that examples use; replaced as well."""

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^```(python|console)", re.MULTILINE)
_TITLE = re.compile(r'title="([^"/]+)"')
_COMMENTED_PRINT = re.compile(r"(?P<call>print\(.*\))  # (?P<output>.*)$", re.MULTILINE)
_BOUNDARY = "\x1eend of block"
_SECONDS = 300
_MAX_GAP = 16
"""Characters between the bodies of a program and of its output: two fences and a blank line."""


class ExampleError(Exception):
    """An example failed, or the number of its output lines differs from that of its prints."""


class _Block(NamedTuple):
    language: str
    title: str
    body: str
    start: int
    end: int


def example_pages() -> list[Path]:
    """Return every page whose examples are run."""
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
    pages += sorted((REPOSITORY / "clients").glob("*/README.md"))
    return [page for page in pages if _EXAMPLE.search(page.read_text(encoding="utf-8"))]


def refresh(page: str, address: str, admin_address: str = ADMIN_ADDRESS) -> str:
    """Return the text *page* with the current output of its examples.

    Raises:
        ExampleError: an example failed.
    """
    blocks = list(_blocks(page))
    edits: list[tuple[int, int, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        titled = [block for block in blocks if block.title]
        for block in reversed(titled):
            _write_file(folder, block, address)
        programs = [block for block in blocks if block.language == "python" and not block.title]
        outputs = _run_python(programs, folder, address) if programs else []
        for block, output in zip(programs, outputs, strict=True):
            edits.append(_python_edit(blocks, block, output))
        for block in blocks:
            if block.title:
                _write_file(folder, block, address)
            elif block.language == "console":
                output = _run_console(block.body, folder, address, admin_address)
                edits.append((block.start, block.end, output))
    for start, end, text in sorted(edits, reverse=True):
        page = page[:start] + text + page[end:]
    return page


def _blocks(page: str) -> Iterator[_Block]:
    for match in _FENCE.finditer(page):
        info = match["info"].strip()
        title = _TITLE.search(info)
        language = info.partition(" ")[0]
        start, end = match.span("body")
        yield _Block(language, title[1] if title else "", match["body"], start, end)


def _write_file(folder: Path, block: _Block, address: str) -> None:
    text = block.body.replace(ADDRESS, address)
    (folder / block.title).write_text(text, encoding="utf-8")


def _environment(address: str) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "SIDECHECK_LISTEN": address,
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }


def _run_python(blocks: list[_Block], folder: Path, address: str) -> list[str]:
    code = "".join(f"{block.body}\nprint({_BOUNDARY!r})\n" for block in blocks)
    run = subprocess.run(  # noqa: S603  (the documentation's own code)
        [sys.executable, "-W", "error", "-c", code.replace(ADDRESS, address)],
        cwd=folder,
        env=_environment(address),
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if run.returncode or run.stderr:
        raise ExampleError(f"a Python example failed:\n{run.stderr}")
    return run.stdout.replace(address, ADDRESS).split(f"{_BOUNDARY}\n")[:-1]


def _python_edit(blocks: list[_Block], block: _Block, output: str) -> tuple[int, int, str]:
    next_block = next((other for other in blocks if other.start > block.end), None)
    is_output = next_block is not None and next_block.language == "text"
    if next_block is not None and is_output and next_block.start - block.end < _MAX_GAP:
        return (next_block.start, next_block.end, output)
    lines = iter(output.splitlines())
    prints = len(_COMMENTED_PRINT.findall(block.body))
    if len(output.splitlines()) != prints:
        raise ExampleError(f"{prints} commented prints, but the output is:\n{output}")
    body = _COMMENTED_PRINT.sub(lambda match: f"{match['call']}  # {next(lines)}", block.body)
    return (block.start, block.end, body)


def _with_addresses(command: str, address: str, admin_address: str) -> str:
    return command.replace(ADMIN_ADDRESS, admin_address).replace(ADDRESS, address)


def _run_console(body: str, folder: Path, address: str, admin_address: str) -> str:
    pieces = []
    for line in body.splitlines():
        if line.startswith("$ "):
            run = subprocess.run(  # noqa: S603
                ["/bin/bash", "-c", _with_addresses(line[2:], address, admin_address)],
                cwd=folder,
                env=_environment(address),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=_SECONDS,
            )
            output = run.stdout.replace(address, ADDRESS).replace(admin_address, ADMIN_ADDRESS)
            pieces.append(f"{line}\n{output}")
    text = "".join(piece if piece.endswith("\n") else f"{piece}\n" for piece in pieces)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


def _main() -> None:
    for page in example_pages():
        server = subprocess.Popen(  # noqa: S603
            [
                *(sys.executable, "-m", "sidecheck_server", "serve", "--listen", "127.0.0.1:0"),
                *("--log-format", "json"),
            ],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "SIDECHECK_ADMIN_LISTEN": "127.0.0.1:0"},
        )
        try:
            assert server.stderr is not None
            admin = next(json.loads(line) for line in server.stderr if '"admin.ready"' in line)
            ready = next(json.loads(line) for line in server.stderr if '"server.ready"' in line)
            text = page.read_text(encoding="utf-8")
            admin_address = admin["address"].removeprefix("http://")
            fresh = refresh(text, ready["addresses"][0], admin_address)
        except ExampleError as error:
            sys.stderr.write(f"{page.relative_to(REPOSITORY)}: {error}\n")
        else:
            if fresh != text:
                page.write_text(fresh, encoding="utf-8")
                sys.stdout.write(f"{page.relative_to(REPOSITORY)}: refreshed\n")
        finally:
            server.terminate()
            server.communicate()


if __name__ == "__main__":
    _main()
