"""The site builds, and a reader's browser fetches nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate.pages import REPOSITORY


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_fetches_nothing(tmp_path: Path) -> None:
    """Broken links and pages that are not in the navigation are warnings."""
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=REPOSITORY,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert 0 == run.returncode, run.stderr

    pages = list(tmp_path.rglob("*.html"))
    fetched = r"<(?:script|img|iframe)[^>]*\ssrc=\"https?:|<link[^>]*stylesheet[^>]*https?:|@import"
    assert pages
    assert [] == [page for page in pages if re.search(fetched, page.read_text(encoding="utf-8"))]
