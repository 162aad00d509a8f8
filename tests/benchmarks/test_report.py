"""Quick benchmarks run and write their report; no test asserts a speed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.shared_material import REPOSITORY, unavailable

pytest.importorskip("matplotlib", reason="the group bench of pyproject.toml is not installed")

BENCHMARKS = REPOSITORY / "benchmarks"
#: Scripts that need nothing but the group bench.
SCRIPTS = (
    "validation",
    "protocol",
    "registration",
    "conversion",
    "comparison",
    "inference",
    "serving",
    "remote",
    "coalescing",
    "proxy",
    "registry_replicas",
    "tracing",
)
PLOTS = {
    "validation.svg",
    "growth-text.svg",
    "growth-lines.svg",
    "protocol.svg",
    "registration.svg",
    "conversion.svg",
    "inference.svg",
    "serving.svg",
    "remote.svg",
}


def run(program: Path, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a script of the benchmarks and check its exit status."""
    completed = subprocess.run(
        [sys.executable, str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert completed.returncode == status, completed.stderr
    return completed


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a quick report without the shared material."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIDECHECK_SHARED", str(folder / "nowhere"))
        run(BENCHMARKS, "--quick", "--report", str(folder))
    return folder


@pytest.mark.parametrize("script", SCRIPTS)
def test_rows_of_tables_have_every_column(report: Path, script: str) -> None:
    """Each section has tables, whose rows have as many cells as the head."""
    tables = json.loads((report / f"{script}.json").read_text())["tables"]
    assert tables
    for table in tables:
        assert {len(table["head"])} == {len(row) for row in table["rows"]}, table["caption"]


@pytest.mark.parametrize("script", sorted({*SCRIPTS} - {"tracing"}))
def test_sections_make_claims(report: Path, script: str) -> None:
    """A claim has its four parts, and is met or not."""
    claims = json.loads((report / f"{script}.json").read_text())["claims"]
    parts = {"statement", "goal", "measured", "met"}
    assert claims
    assert [parts] * len(claims) == [set(claim) for claim in claims]
    assert {True, False} >= {claim["met"] for claim in claims}


def test_the_page_has_every_section_and_command(report: Path) -> None:
    """The page that joins the sections has the machine, the claims and every command."""
    page = (report / "README.md").read_text()
    commands = (f"`python benchmarks/{script}.py" for script in SCRIPTS)
    assert page.startswith("# Benchmarks\n")
    assert [] == [part for part in ("## Machine", "## Claims", *commands) if part not in page]


def test_plots_are_written_and_linked(report: Path) -> None:
    """The page shows every plot of the folder."""
    page = (report / "README.md").read_text()
    assert PLOTS == {path.name for path in report.glob("*.svg")}
    assert {plot for plot in PLOTS if f"]({plot})" in page} == PLOTS


def test_missing_material_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A script without its material exits with 2, and names it in one line."""
    monkeypatch.setenv("SIDECHECK_SHARED", str(tmp_path))
    completed = run(BENCHMARKS / "fast_share.py", status=2)
    assert (
        completed.stderr == "the corpus is missing; set SIDECHECK_SHARED to the shared material\n"
    )


def test_tracing_has_a_row_for_each_sampler(report: Path) -> None:
    """Tracing is off, recorded, or discarded by the sampler."""
    [table] = json.loads((report / "tracing.json").read_text())["tables"]
    assert ["off", "sampler always_off", "sampler always_on"] == [row[0] for row in table["rows"]]


def test_overload_has_a_row_for_each_deadline(report: Path) -> None:
    """The server does not cancel calls at any deadline."""
    if shutil.which("go") is None:
        unavailable("go is not on PATH")
    section = json.loads((report / "overload.json").read_text())
    claims = [claim for claim in section["claims"] if claim["statement"].startswith("cancelled")]

    assert [[["4", "100ms"], ["4", "500ms"], ["4", "0s"]]] * 2 == [
        [row[:2] for row in table["rows"]] for table in section["tables"]
    ]
    assert ["0", "0", "0"] == [claim["measured"] for claim in claims]


def test_grpcs_client_makes_calls_without_h2load() -> None:
    """The report names the load generator."""
    printed = run(BENCHMARKS / "serving.py", "--quick", "--callers").stdout
    assert "Load: gRPC's Python client" in printed
