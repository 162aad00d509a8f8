"""Dependencies of the Python client and of its extras."""

import subprocess
import sys

import pytest

EXTRAS = ["cachetools", "griffe", "jsonschema", "pydantic", "tenacity"]
WITHOUT = f"import sys; EXTRAS = {EXTRAS}; sys.modules.update(dict.fromkeys(EXTRAS));"


def run_without_extras(code: str) -> tuple[int, str]:
    """Return the exit code and the last line on stderr of *code* without the extras."""
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT + code],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return run.returncode, (run.stderr.splitlines() or [""])[-1]


@pytest.mark.parametrize("module", ["", ".testing", ".tool_results", ".text_contract"])
def test_the_client_works_without_its_extras(module: str) -> None:
    """Packages of extras are imported only when they are used."""
    assert (0, "") == run_without_extras(f"import sidecheck{module}")


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        pytest.param(
            "pip install jsonschema",
            "from sidecheck.text_contract import validate; validate({})",
            id="text contract",
        ),
        pytest.param("pip install pydantic", "from sidecheck import elicitation", id="forms"),
        pytest.param(
            "pip install cachetools griffelib jsonschema pydantic tenacity",
            "from sidecheck.inference import tool",
            id="tools",
        ),
        pytest.param(
            "pip install pydantic",
            "from sidecheck import BlockingClient;"
            "BlockingClient('h:1').protocol.check_elicitation(dict)",
            id="form of a class",
        ),
    ],
)
def test_missing_extras_are_named(expected: str, code: str) -> None:
    """The message has the command that installs the missing packages."""
    returncode, last_line = run_without_extras(code)
    assert 1 == returncode
    assert last_line.startswith("ImportError: ")
    assert last_line.endswith(expected)
