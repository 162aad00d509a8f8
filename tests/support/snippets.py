"""Code blocks of pages as files of a project, in which compilers report lines of the page."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from support.shared_material import REPOSITORY

__all__ = ["SourceFile", "Snippet", "name_pages", "read_snippets", "source_files"]

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_LANGUAGE = re.compile(r"[a-z]*")
_CLASS = re.compile(r"^(?:public )?(?:final )?class (\w+)", re.MULTILINE)
_FUNCTION_MAIN = re.compile(r"^(?:async )?fn main\(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A fenced block of a page."""

    #: Path of the page in the repository.
    page: str
    #: Number of the first line of *text* in the page.
    line: int
    language: str
    #: The file that a reader saves it as; empty if the page does not name one.
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a project with a snippet, whose lines have the same numbers as in the page."""

    path: str
    text: str
    snippet: Snippet


def read_snippets(page: str) -> list[Snippet]:
    """Return the blocks of the page at that path in the repository."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    snippets = []
    for match in _FENCE.finditer(text):
        title = _TITLE.search(match["info"])
        language = _LANGUAGE.match(match["info"].strip())
        assert language
        line = text.count("\n", 0, match.start("body")) + 1
        snippets.append(Snippet(page, line, language[0], title[1] if title else "", match["body"]))
    return snippets


def source_files(snippets: Iterable[Snippet]) -> Iterator[SourceFile]:
    """Yield the files of *snippets*, which are of one language."""
    modules = []
    for snippet in snippets:
        name = f"line_{snippet.line}"
        blank_lines = "\n" * (snippet.line - 1)
        text = blank_lines + snippet.text
        match snippet.language:
            case _ if snippet.title:
                path = snippet.title
            case "go":
                path = f"{name}/{name}.go"
                if not snippet.text.startswith("package "):
                    text = f"package {name}\n{blank_lines[1:]}{snippet.text}"
            case "rust" if _FUNCTION_MAIN.search(snippet.text):
                path = f"examples/{name}.rs"
            case "rust":
                path = f"src/{name}.rs"
                modules.append(f"#[allow(dead_code)]\nmod {name};\n")
            case "java":
                declared = _CLASS.search(snippet.text)
                class_name = declared[1] if declared else f"Line{snippet.line}"
                path = f"src/main/java/{class_name}.java"
                if not declared:
                    text = blank_lines + _java_class(class_name, snippet.text)
            case "ts":
                path = f"{name}.ts"
            case "py" | "python":
                path = f"{name}.py"
            case other:
                raise ValueError(f"no files of {other} are written")
        yield SourceFile(path, text, snippet)
    if modules:
        yield SourceFile("src/lib.rs", "".join(modules), snippet)


def _java_class(name: str, members: str) -> str:
    """Return *members* in a class, without another line; the imports stay before it."""
    lines = members.splitlines()
    first = next(
        index for index, line in enumerate(lines) if line and not line.startswith("import ")
    )
    lines[first] = f"final class {name} {{ {lines[first]}"
    return "\n".join([*lines, "}"]) + "\n"


def name_pages(output: str, files: Iterable[SourceFile]) -> str:
    """Return the *output* of a compiler with places in pages instead of in *files*."""
    for file in files:
        name = re.escape(Path(file.path).name)
        # `file:line`, `file:[line`, as javac has it in Maven, or `file(line`, as tsc has it.
        output = re.sub(
            rf"[^\s\"'`]*\b{name}(?::\[?|\()(\d+)", rf"{file.snippet.page}:\1", output
        )
    return output
