"""Command lines of batch files, such as npx.cmd, for the command interpreter of Windows.

Windows starts a batch file through cmd.exe, which expands and splits a command line by rules of
its own (CVE-2024-3566). Within double quotes it leaves all characters as they are except quotes,
line breaks and variables between two percent signs. So each argument is quoted, and an argument
with one of those is refused.
"""

import re
from collections.abc import Sequence

__all__ = ["UnsafeArgumentError", "batch_command_line", "is_batch_file"]

_SUFFIXES = (".bat", ".cmd")
_UNSAFE = {
    "a double quote": re.compile('"'),
    "a line break": re.compile(r"[\r\n]"),
    "a null character": re.compile("\0"),
    "a variable between percent signs": re.compile("%[^%]+%"),
}


class UnsafeArgumentError(Exception):
    """The command interpreter would change an argument; the message names it and the remedy."""


def is_batch_file(program: str) -> bool:
    """Return whether Windows starts *program* through the command interpreter."""
    # Windows ignores spaces and dots at the end of a file name.
    return program.rstrip(" .").lower().endswith(_SUFFIXES)


def batch_command_line(command: Sequence[str]) -> str:
    """Return the command line of *command*, a batch file and its arguments.

    Raises:
        UnsafeArgumentError: the command interpreter would not pass an argument on as it is.
    """
    for number, argument in enumerate(command):
        for fault, pattern in _UNSAFE.items():
            if pattern.search(argument):
                part = f"argument {number}" if number else "the name"
                raise UnsafeArgumentError(
                    f"{command[0]} is a batch file, and {part} has {fault}, which cmd.exe does not"
                    " pass on as it is; name the program that it starts, such as node with its"
                    " script"
                )
    # The program that the batch file starts would take a backslash before a quote as its escape.
    return " ".join(f'"{argument}{_last_backslashes(argument)}"' for argument in command)


def _last_backslashes(text: str) -> str:
    return text[len(text.rstrip("\\")) :]
