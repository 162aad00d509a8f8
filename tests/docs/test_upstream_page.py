"""The code of each fault report of `docs/upstream.md` has the output that the report states."""

import re
import subprocess
import sys

import pytest

from docs.generate.pages import REPOSITORY

_REPORT = re.compile(
    r"^## (?P<title>.*?)\n.*?^```py\n(?P<code>.*?)^```\n+"
    r"Expected:\n+```text\n(?P<expected>.*?)^```\n+Actual:\n+```text\n(?P<actual>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
_TEXT = (REPOSITORY / "docs" / "upstream.md").read_text(encoding="utf-8")
_REPORTS = [match.groupdict() for match in _REPORT.finditer(_TEXT)]


def test_every_section_is_a_report() -> None:
    """Each has a title, code, and two different outputs."""
    titles = re.findall(r"^## (.*)$", _TEXT, re.MULTILINE)
    assert "Reported already" == titles.pop()

    assert titles == [report["title"] for report in _REPORTS]
    assert [] == [report for report in _REPORTS if report["expected"] == report["actual"]]


@pytest.mark.parametrize("report", _REPORTS, ids=lambda report: report["title"])
def test_a_fault_is_still_there(report: dict[str, str]) -> None:
    """If the installed release mends it, the report and what avoids the fault can be removed."""
    run = subprocess.run(
        [sys.executable, "-c", report["code"]],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert run.stdout != report["expected"], "the installed release mends this fault"
    assert report["actual"] == run.stdout, run.stderr
