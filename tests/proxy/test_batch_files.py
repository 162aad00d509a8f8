"""Command lines of batch files on Windows."""

import re

import pytest
from sidecheck_server.proxy.stdio.batch_files import (
    UnsafeArgumentError,
    batch_command_line,
    is_batch_file,
)

NPX = r"C:\Program Files\nodejs\npx.cmd"


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        pytest.param("-y", '"-y"', id="a word"),
        pytest.param("", '""', id="nothing"),
        pytest.param("a b", '"a b"', id="a space"),
        pytest.param("a&calc", '"a&calc"', id="the end of a command"),
        pytest.param("a|b>c<d^e(f)", '"a|b>c<d^e(f)"', id="operators"),
        pytest.param("https://h/mcp?a=1&b=%20", '"https://h/mcp?a=1&b=%20"', id="a URL"),
        pytest.param("%%", '"%%"', id="two percent signs"),
        pytest.param("C:\\data\\", '"C:\\data\\\\"', id="a backslash at the end"),
        pytest.param("C:\\a\\b", '"C:\\a\\b"', id="backslashes"),
    ],
)
def test_an_argument_is_quoted(argument: str, expected: str) -> None:
    """Within quotes, cmd.exe leaves it as it is."""
    assert f'"{NPX}" {expected}' == batch_command_line([NPX, argument])


@pytest.mark.parametrize(
    ("argument", "fault"),
    [
        pytest.param('"&calc"', "a double quote", id="quotes"),
        pytest.param("a\nb", "a line break", id="a line feed"),
        pytest.param("a\rb", "a line break", id="a carriage return"),
        pytest.param("a\0b", "a null character", id="a null character"),
        pytest.param("%PATH%", "a variable between percent signs", id="a variable"),
        pytest.param("%CD:~,1%", "a variable between percent signs", id="a part of a variable"),
    ],
)
def test_an_argument_that_would_change_is_rejected(argument: str, fault: str) -> None:
    """The message names it by its number, not by its value, and says what to do."""
    expected = (
        f"{NPX} is a batch file, and argument 2 has {fault}, which cmd.exe does not pass on as it"
        " is; name the program that it starts, such as node with its script"
    )
    with pytest.raises(UnsafeArgumentError, match=f"^{re.escape(expected)}$"):
        batch_command_line([NPX, "-y", argument])


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("npx.cmd", True),
        ("C:\\a\\NPX.CMD", True),
        ("run.bat", True),
        ("run.bat. .", True),
        ("node.exe", False),
        ("bat", False),
    ],
)
def test_batch_files_are_known_by_their_suffix(program: str, expected: bool) -> None:
    """Spaces and dots at the end do not count."""
    assert expected is is_batch_file(program)
