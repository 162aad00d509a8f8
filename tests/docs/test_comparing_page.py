"""Commands of the workflow and of the hook in the page about comparing."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.generate.pages import REPOSITORY

_PAGE = REPOSITORY / "docs" / "guides" / "comparing.md"
_SNIPPET = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_WORKFLOW, _HOOKS = map(yaml.safe_load, _SNIPPET.findall(_PAGE.read_text(encoding="utf-8")))
_STEPS: list[dict[str, Any]] = _WORKFLOW["jobs"]["diff"]["steps"]


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder: a clone whose branch `main` is the base of a pull request."""
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(name, "a")
    for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "a@example.com")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    Path("README").write_text("")
    git("init", "-q", "-b", "main")
    git("add", "README")
    commit()


def git(*words: str) -> None:
    """Run git in the current folder."""
    subprocess.run(["git", *words], check=True, timeout=300, capture_output=True)


def commit() -> None:
    """Commit the staged files, as the base of a pull request too."""
    git("commit", "-q", "-m", "a")
    git("update-ref", "refs/remotes/origin/main", "HEAD")


def write_tools(maximum: int) -> None:
    """Write the tools of a server, whose argument has a *maximum*."""
    properties = {"n": {"type": "integer", "maximum": maximum}}
    schema = {"type": "object", "properties": properties}
    Path("tools.json").write_text(json.dumps([{"name": "t", "inputSchema": schema}]))


def run_workflow() -> int:
    """Run the steps that compare, as a runner does; return the first exit code that is not 0."""
    for step in _STEPS:
        script = step.get("run", "")
        if script.startswith(("git", "sidecheck")):
            done = subprocess.run(["bash", "-e", "-c", script], check=False, timeout=300)
            if done.returncode:
                return done.returncode
    return 0


def run_hook() -> int:
    """Run the hook, as pre-commit does; return its exit code."""
    (repository,) = _HOOKS["repos"]
    (hook,) = repository["hooks"]
    assert ("local", False) == (repository["repo"], hook["pass_filenames"])
    assert re.search(hook["files"], "tools.json")
    return subprocess.run(shlex.split(hook["entry"]), check=False, timeout=300).returncode


@pytest.mark.parametrize(("maximum", "exit_code"), [(6, 0), (4, 1)])
def test_a_change_that_breaks_callers_fails_both(maximum: int, exit_code: int) -> None:
    """The workflow compares with the base of the pull request, the hook with the last commit."""
    write_tools(5)
    git("add", "tools.json")
    commit()
    write_tools(maximum)

    assert (exit_code, exit_code) == (run_workflow(), run_hook())
    assert "| <code>MAXIMUM_" in Path("comment.md").read_text(encoding="utf-8")


def test_neither_fails_where_the_file_is_new() -> None:
    """There is nothing to compare it with."""
    write_tools(5)

    assert (0, 0) == (run_workflow(), run_hook())
    assert "TOOL_ADDED" in Path("comment.md").read_text(encoding="utf-8")


def test_the_comment_is_the_file_that_the_comparison_writes() -> None:
    """It is written for a breaking tool too."""
    (comment,) = [step for step in _STEPS if "gh pr comment" in step.get("run", "")]

    assert "always()" == comment["if"]
    assert "--body-file comment.md" in comment["run"]
