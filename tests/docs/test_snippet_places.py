"""Places in snippets, as compilers report them, become places in pages."""

import pytest
from support.snippets import Snippet, name_pages, source_files

_PAGE = "clients/x/README.md"


@pytest.mark.parametrize(
    ("language", "reported", "named"),
    [
        ("go", "vet: line_40/line_40.go:45:13: undefined", f"vet: {_PAGE}:45:13: undefined"),
        ("rust", "  --> src/line_40.rs:45:3", f"  --> {_PAGE}:45:3"),
        ("java", "/a/src/main/java/Line40.java:[45,9] ';' expected", f"{_PAGE}:45:9 ';' expected"),
        ("ts", "line_40.ts(45,3): error TS2304", f"{_PAGE}:45:3: error TS2304"),
        ("py", "line_40.py:45: error: a", f"{_PAGE}:45: error: a"),
        ("go", "line_4/line_4.go:45:13: undefined", "line_4/line_4.go:45:13: undefined"),
    ],
)
def test_a_place_is_that_of_the_page(language: str, reported: str, named: str) -> None:
    """Other places are left as they are."""
    first = Snippet(_PAGE, 10, language, "")
    files = [*source_files("first", first, [Snippet(_PAGE, 40, language, "f();\n")])]

    assert named == name_pages(reported, files)


@pytest.mark.parametrize(
    ("language", "text", "path", "written"),
    [
        ("go", "import (\n", "line_3/line_3.go", "package line_3\n\nimport (\n"),
        ("go", "package main\n", "line_3/line_3.go", "\n\npackage main\n"),
        ("rust", "use a;\n", "src/line_3.rs", "\n\nuse a;\n"),
        ("rust", "async fn main() {}\n", "examples/line_3.rs", "\n\nasync fn main() {}\n"),
        (
            "java",
            "import a.B;\n\nvoid f() {}\n",
            "src/main/java/Line3.java",
            "\n\nimport a.B;\n\nfinal class Line3 { void f() {}\n}\n",
        ),
        ("java", "class A {}\n", "src/main/java/A.java", "\n\nclass A {}\n"),
        ("ts", "f();\n", "line_3.ts", "\n\nf();\n"),
    ],
)
def test_a_snippet_keeps_its_lines(language: str, text: str, path: str, written: str) -> None:
    """A fragment is in a package, module or class of its own."""
    first = Snippet(_PAGE, 1, language, "")
    file = [*source_files("first", first, [Snippet(_PAGE, 3, language, text)])][1]

    assert (path, written) == (file.path, file.text)
