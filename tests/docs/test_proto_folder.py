"""The folder of the .proto files is all that a code generator needs."""

import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import pytest
from support.shared_material import REPOSITORY

PROTO = REPOSITORY / "proto"
VENDORED = sorted(path.relative_to(PROTO).as_posix() for path in PROTO.glob("google/**/*.proto"))


def test_protoc_needs_no_other_folder(tmp_path: Path) -> None:
    """Every file compiles with the folder as the only place of imports."""
    protos = sorted(path.relative_to(PROTO).as_posix() for path in PROTO.rglob("*.proto"))
    command = ["-m", "grpc_tools.protoc", f"--proto_path={PROTO}", "--fatal_warnings"]
    output = f"--descriptor_set_out={tmp_path / 'api.binpb'}"
    compiled = subprocess.run(
        [sys.executable, *command, output, *protos], capture_output=True, text=True, check=False
    )

    assert (0, "") == (compiled.returncode, compiled.stderr)


@pytest.mark.parametrize("name", VENDORED)
def test_a_vendored_file_is_as_published(name: str) -> None:
    """It has the bytes of the pinned package."""
    published = [
        path for path in files("googleapis-common-protos") or () if path.as_posix() == name
    ]

    assert [(PROTO / name).read_bytes()] == [path.read_binary() for path in published]
