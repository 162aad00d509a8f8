"""Code blocks of pages as files of a project, in which compilers report lines of the page."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from support.shared_material import REPOSITORY

__all__ = ["Snippet", "SourceFile", "name_pages", "read_snippets", "source_files"]

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
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
        language = _LANGUAGE.match(match["info"].strip())
        assert language
        line = text.count("\n", 0, match.start("body")) + 1
        snippets.append(Snippet(page, line, language[0], match["body"]))
    return snippets


def source_files(main: str, first: Snippet, others: Iterable[Snippet]) -> Iterator[SourceFile]:
    """Yield the files of a project: *main* with the *first* snippet, and those of the *others*."""
    yield SourceFile(main, _blank_lines(first) + first.text, first)
    modules = []
    for snippet in others:
        path, text = _place(snippet)
        yield SourceFile(path, text, snippet)
        if path.startswith("src/line_"):
            modules.append(f"#[allow(dead_code)]\nmod {Path(path).stem};\n")
    if modules:
        yield SourceFile("src/lib.rs", "".join(modules), first)


def _blank_lines(snippet: Snippet) -> str:
    return "\n" * (snippet.line - 1)


def _place(snippet: Snippet) -> tuple[str, str]:
    """Return the path and the text of the file of a snippet, by the rules of its language."""
    name = f"line_{snippet.line}"
    text = _blank_lines(snippet) + snippet.text
    match snippet.language:
        case "go":
            if not snippet.text.startswith("package "):
                text = f"package {name}{text}"
            return f"{name}/{name}.go", text
        case "rust":
            is_program = _FUNCTION_MAIN.search(snippet.text)
            return f"{'examples' if is_program else 'src'}/{name}.rs", text
        case "java":
            declared = _CLASS.search(snippet.text)
            class_name = declared[1] if declared else f"Line{snippet.line}"
            if not declared:
                text = _blank_lines(snippet) + _java_class(class_name, snippet.text)
            return f"src/main/java/{class_name}.java", text
        case other:
            return f"{name}.{other}", text


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
        # `file:line:column` or, as javac has it in Maven, `file:[line,column]` or, as tsc has it,
        # `file(line,column)`.
        place = rf"[^\s\"'`]*\b{name}(?::\[?|\()(\d+)(?:[:,](\d+)[\])]?)?"
        for match in reversed([*re.finditer(place, output)]):
            named = ":".join([file.snippet.page, *filter(None, match.groups())])
            output = output[: match.start()] + named + output[match.end() :]
    return output
