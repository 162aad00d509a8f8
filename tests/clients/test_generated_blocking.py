"""The generated blocking client is up to date."""

import subprocess
import sys
from filecmp import dircmp
from pathlib import Path

from support.shared_material import REPOSITORY


def test_the_blocking_client_is_up_to_date(tmp_path: Path) -> None:
    """Run `make generate` if this fails."""
    client, folder = REPOSITORY / "clients/python", tmp_path / "_blocking"
    subprocess.run([sys.executable, client / "generate_blocking.py", folder], check=True)
    difference = dircmp(client / "sidecheck/_blocking", folder, ignore=["__pycache__"])
    assert ([], [], []) == (difference.left_only, difference.right_only, difference.diff_files)
