"""Commands and programs of "Copy as" have the results that the page shows."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, expect

from .conftest import Site, choose_example, editor

_NASTY = r"""{"city": "Os'lo $(touch made) `touch made` \"\"\" \\ \u0041 é 😀", "days": "JSON"}"""
_EXAMPLES = (
    "Arguments with faults",
    "JSON in strings",
    "A result against its output schema",
    "A list of tools with faults",
    "A tool for eight provider APIs",
    "Two versions of a tool",
    "Python functions",
    "A broken message",
    "A transcript",
)


def _is_first(response: Response) -> bool:
    """Return whether it is the answer, or that of the first API where there are several."""
    body = response.request.post_data or ""
    return "/v1/" in response.url and ('"api"' not in body or '"openai-chat"' in body)


def _copied(page: Page, language: str) -> str:
    page.get_by_role("button", name="Copy as").click()
    dialog = page.get_by_role("dialog", name="Copy as")
    dialog.get_by_text(language, exact=True).click()
    text = dialog.get_by_role("region", name="Text to copy").inner_text()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    return text


def _run(script: str, folder: Path, *, ok: tuple[int, ...] = (0,)) -> str:
    """Return what a script of a shell prints, with the commands of this environment."""
    commands = folder / "bin"
    commands.mkdir(exist_ok=True)
    sidecheck = commands / "sidecheck"
    sidecheck.write_text(f'#!/bin/sh\nexec {sys.executable} -m sidecheck_server "$@"\n')
    sidecheck.chmod(0o755)
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e"],
        input=script.encode(),
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        check=False,
        timeout=600,
    )
    assert done.returncode in ok, done.stderr.decode()
    assert not (folder / "made").exists()
    return done.stdout.decode()


@pytest.mark.parametrize("title", _EXAMPLES)
def test_curl_gets_the_answer_that_the_page_got(site: Site, title: str, tmp_path: Path) -> None:
    """The request has the same bytes."""
    if shutil.which("curl") is None:
        pytest.fail("no curl on PATH")
    page = site.open()
    with page.expect_response(_is_first) as answered:
        choose_example(page, title)
    shown = answered.value.json()

    answer = json.loads(_run(_copied(page, "curl"), tmp_path))
    assert shown == answer


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Arguments with faults", ["MAXIMUM", "ADDITIONAL_PROPERTIES", "ENUM"]),
        ("A result against its output schema", ["/structuredContent/days/0/high"]),
        ("A list of tools with faults", ["TOOL_NAME_CHARACTERS", "4 tools"]),
        ("A tool for eight provider APIs", ["files_search"]),
        ("Two versions of a tool", ["REQUIRED_PROPERTY_ADDED", "TYPE_NARROWED"]),
        ("Python functions", ["get_forecast", "Name of the city."]),
        ("A broken message", ["/message/params/name"]),
        ("A transcript", ["REQUEST_ID_REUSED", "PROGRESS_NOT_RISING", "6 messages"]),
    ],
)
def test_the_command_line_finds_the_same(
    site: Site, title: str, expected: list[str], tmp_path: Path
) -> None:
    """The command needs no server."""
    page = site.open()
    choose_example(page, title)
    output = _run(_copied(page, "Command line"), tmp_path, ok=(0, 1))

    assert [] == [text for text in expected if text not in output]


@pytest.mark.parametrize("title", _EXAMPLES)
def test_the_python_program_runs(site: Site, title: str, tmp_path: Path) -> None:
    """It uses the client with the address of gRPC."""
    page = site.open()
    choose_example(page, title)
    program = _copied(page, "Python").replace("127.0.0.1:50151", site.server.address)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd=tmp_path,
    )

    assert 0 == done.returncode, done.stderr
    assert done.stdout.strip()


def test_no_character_of_a_payload_means_anything_to_a_shell_or_python(
    site: Site, tmp_path: Path
) -> None:
    """The payload has quotes, substitutions, escapes, and the end of the here-document."""
    page = site.open()
    name = "o'\"$(touch made)`touch made`"
    tool = {"name": name, "inputSchema": {"type": "object", "required": ["gone"]}}
    editor(page, "Definitions").fill(json.dumps(tool, indent=1))
    payload = _NASTY.replace(", ", ",\nJSON\n,\n", 1).replace("JSON\n,\n", "")
    editor(page, "JSON").fill(payload + "\n\n")
    expect(page.locator("#verdict-status")).to_have_text("Invalid: 1 violation")

    curl = json.loads(_run(_copied(page, "curl"), tmp_path))
    assert ["REQUIRED"] == [violation["code"] for violation in curl["verdict"]["violations"]]
    assert "REQUIRED" in _run(_copied(page, "Command line"), tmp_path, ok=(1,))
    program = _copied(page, "Python").replace("127.0.0.1:50151", site.server.address)
    (tmp_path / "program.py").write_text(program)
    assert "REQUIRED" in _run(f"{sys.executable} program.py", tmp_path)

    editor(page, "JSON").fill('{"broken":\nJSON\n')
    curl = json.loads(_run(_copied(page, "curl"), tmp_path))
    assert ["PAYLOAD_NOT_JSON"] == [
        violation["code"] for violation in curl["verdict"]["violations"]
    ]
    output = _run(_copied(page, "Command line"), tmp_path, ok=(1,))
    assert "PAYLOAD_NOT_JSON" in output
