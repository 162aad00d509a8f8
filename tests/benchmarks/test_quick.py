"""The benchmarks run, and their report comes out; how fast anything was is not asserted."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.shared_material import REPOSITORY, shared, unavailable

pytest.importorskip("matplotlib", reason="the group bench of pyproject.toml is not installed")

SCRIPTS = (
    "validation",
    "protocol",
    "admission",
    "conversion",
    "comparison",
    "inference",
    "inference_differences",
    "serving",
    "remote",
    "coalescing",
    "proxy",
    "registry_replicas",
)
PLOTS = {
    "validation.svg",
    "growth-text.svg",
    "growth-lines.svg",
    "protocol.svg",
    "admission.svg",
    "conversion.svg",
    "inference.svg",
    "serving.svg",
    "remote.svg",
}


def run(script: str, *arguments: str) -> str:
    """Run one script of the benchmarks and return what it printed."""
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "benchmarks" / f"{script}.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report that the quick forms wrote, without the corpus."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIDECHECK_SHARED", str(folder / "nowhere"))
        for script in SCRIPTS:
            run(script, "--quick", "--report", str(folder))
    run("summary", str(folder))
    return folder


@pytest.mark.parametrize("script", SCRIPTS)
def test_each_script_keeps_tables_whose_rows_have_every_column(report: Path, script: str) -> None:
    """Each section has tables, and each row of them as many cells as the head."""
    tables = json.loads((report / f"{script}.json").read_text())["tables"]
    assert tables
    for table in tables:
        assert {len(table["head"])} == {len(row) for row in table["rows"]}, table["caption"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_each_section_makes_claims_and_says_whether_they_are_met(report: Path, script: str) -> None:
    """A claim has its four parts, and says yes or no."""
    claims = json.loads((report / f"{script}.json").read_text())["claims"]
    assert claims
    assert [{"what", "wanted", "found", "met"}] * len(claims) == [set(claim) for claim in claims]
    assert {True, False} >= {claim["met"] for claim in claims}


def test_the_report_has_every_section_and_names_its_command(report: Path) -> None:
    """The page that joins the sections has the machine, the claims and every command."""
    page = (report / "README.md").read_text()
    assert page.startswith("# Benchmarks\n")
    wanted = ["## Machine", "## Claims", *(f"`python benchmarks/{each}.py" for each in SCRIPTS)]
    assert [] == [part for part in wanted if part not in page]


def test_plots_are_written_and_linked(report: Path) -> None:
    """Every plot that the page shows is there."""
    page = (report / "README.md").read_text()
    assert PLOTS == {path.name for path in report.glob("*.svg")}
    assert {plot for plot in PLOTS if f"]({plot})" in page} == PLOTS


def test_the_projects_own_tools_do_without_the_corpus(report: Path) -> None:
    """Where the corpus is not at hand, only the project's own tools are judged."""
    page = (report / "README.md").read_text()
    assert "| own: " in page
    assert "| corpus: " not in page


@pytest.mark.corpus
def test_tools_of_the_corpus_are_judged_where_it_is_at_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the corpus, tools of both origins are judged."""
    monkeypatch.setenv("SIDECHECK_SHARED", str(shared("corpus").parent))
    printed = run("validation", "--quick")
    assert "| own: " in printed
    assert "| corpus: " in printed


def test_tracing_is_measured(tmp_path: Path) -> None:
    """Off, recorded, and left out by the sampler."""
    run("tracing", "--quick", "--report", str(tmp_path))
    [table] = json.loads((tmp_path / "tracing.json").read_text())["tables"]
    assert ["off", "sampler always_off", "sampler always_on"] == [row[0] for row in table["rows"]]


def test_overload_is_measured_with_a_program_in_go(tmp_path: Path) -> None:
    """Each number of connections with each deadline has a row; no call is cancelled."""
    if shutil.which("go") is None:
        unavailable("go is not on PATH")
    run("overload", "--quick", "--report", str(tmp_path))
    section = json.loads((tmp_path / "overload.json").read_text())
    cancelled = [claim for claim in section["claims"] if claim["what"].startswith("cancelled")]

    assert [[["4", "100ms"], ["4", "500ms"], ["4", "0s"]]] * 2 == [
        [row[:2] for row in table["rows"]] for table in section["tables"]
    ]
    assert ["0", "0", "0"] == [claim["found"] for claim in cancelled]


def test_calls_can_come_from_grpcs_own_client() -> None:
    """Without h2load the server is loaded by other means, and the report says so."""
    assert "Load: gRPC's own Python client" in run("serving", "--quick", "--callers")
