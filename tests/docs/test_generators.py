"""Parts of the generators of the documentation."""

from pathlib import Path

import pytest

from docs.generate.examples import ExampleError, refresh
from docs.generate.markdown import documented_constants, paragraph, table

NOWHERE = "127.0.0.1:1"


def test_a_table_escapes_bars_and_keeps_line_breaks() -> None:
    """A cell never ends its row."""
    assert "| a |\n| --- |\n| b\\|c<br>d |\n" == table(["a"], [["b|c\nd"]])


def test_a_paragraph_is_one_line_of_markdown() -> None:
    """Double backticks are reStructuredText."""
    assert "a `b` c" == paragraph("a\n  ``b``\n c")


def test_constants_are_documented_above_or_below(tmp_path: Path) -> None:
    """A comment or a string documents them."""
    source = tmp_path / "source.py"
    source.write_text('class A:\n    #: One\n    #: two.\n    X = 1\n    Y = 2\n    """Three."""\n')

    assert {"X": "One two.", "Y": "Three."} == documented_constants(source, "A")


def test_a_constant_without_documentation_is_an_error(tmp_path: Path) -> None:
    """A page is never silently incomplete."""
    source = tmp_path / "source.py"
    source.write_text("class A:\n    X = 1\n")

    with pytest.raises(LookupError, match=r"A\.X has no docstring"):
        documented_constants(source, "A")


def test_outputs_are_put_into_comments_and_text_blocks() -> None:
    """All blocks of a page are one program."""
    page = (
        "```python\nx = 1\nprint(x)  # old\n```\n\n"
        "```python\nprint(x + 1)\nprint(3)\n```\n\n```text\nold\n```\n"
    )

    fresh = refresh(page, NOWHERE)

    assert "print(x)  # 1\n" in fresh
    assert "```text\n2\n3\n```" in fresh
    assert fresh == refresh(fresh, NOWHERE)


def test_commands_run_beside_the_files_of_the_page() -> None:
    """A block with a title is a file."""
    page = '```json title="a.json"\n{}\n```\n\n```console\n$ cat a.json\nold\n$ echo b\n```\n'

    assert "```console\n$ cat a.json\n{}\n$ echo b\nb\n```" in refresh(page, NOWHERE)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param("raise ValueError\n", id="raises"),
        pytest.param("print(1)\n", id="prints-what-the-page-does-not-show"),
    ],
)
def test_a_failing_example_is_an_error(block: str) -> None:
    """Output without a place for it is an error too."""
    with pytest.raises(ExampleError):
        refresh(f"```python\n{block}```\n", NOWHERE)
