"""`sidecheck completion`: scripts that make a shell complete the command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from sidecheck_server.cli import sidecheck


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        pytest.param("bash", "complete -o nosort -F _sidecheck_completion sidecheck", id="bash"),
        pytest.param("zsh", "#compdef sidecheck", id="zsh"),
        pytest.param("fish", 'complete --no-files --command sidecheck --arguments "', id="fish"),
    ],
)
def test_the_script_is_printed(shell: str, line: str) -> None:
    """It is the script of the named shell."""
    result = CliRunner().invoke(sidecheck, ["completion", shell], catch_exceptions=False)

    assert 0 == result.exit_code
    assert line in result.stdout
    assert "_SIDECHECK_COMPLETE" in result.stdout


def test_another_shell_is_a_wrong_command() -> None:
    """The message names the supported shells."""
    result = CliRunner().invoke(sidecheck, ["completion", "cmd"], catch_exceptions=False)

    assert 2 == result.exit_code
    assert "'cmd' is not one of 'bash', 'zsh', 'fish'" in result.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        pytest.param(["sidecheck", "ch"], ["check"], id="a command"),
        pytest.param(["sidecheck", "infe"], ["infer"], id="a command like another"),
        pytest.param(["sidecheck", "infer", "--on-u"], ["--on-unsupported"], id="an option of it"),
        pytest.param(["sidecheck", "tools", "de"], ["delete"], id="a command of a group"),
        pytest.param(["sidecheck", "check", "--form"], ["--format"], id="an option"),
        pytest.param(["sidecheck", "check", "--format", "s"], ["sarif"], id="a value"),
    ],
)
def test_bash_completes_the_command(tmp_path: Path, typed: list[str], offered: list[str]) -> None:
    """bash has read the script before."""
    command = tmp_path / "sidecheck"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sidecheck_server "$@"\n')
    command.chmod(0o755)
    words = " ".join(typed)
    script = (
        'eval "$(sidecheck completion bash)"\n'
        f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}\n"
        "_sidecheck_completion sidecheck\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )

    assert offered == done.stdout.split()
