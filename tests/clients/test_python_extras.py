"""What the Python client needs, and what it needs for its extras alone."""

import subprocess
import sys

import pytest

EXTRAS = ["griffe", "jsonschema", "pydantic", "stamina"]
WITHOUT = f"import sys; EXTRAS = {EXTRAS}; sys.modules.update(dict.fromkeys(EXTRAS));"


def ends(code: str) -> tuple[int, str]:
    """Return how a program ends where no extra is installed: its code and its last words."""
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
    """None of what they are for is imported before it is needed."""
    assert (0, "") == ends(f"import sidecheck{module}")


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        pytest.param(
            "pip install sidecheck[jsonschema]",
            "from sidecheck.text_contract import validate; validate({})",
            id="text contract",
        ),
        pytest.param(
            "pip install sidecheck[pydantic]", "from sidecheck import elicitation", id="forms"
        ),
        pytest.param(
            "pip install sidecheck[infer]", "from sidecheck.inference import tool", id="tools"
        ),
        pytest.param(
            "pip install sidecheck[pydantic]",
            "from sidecheck import BlockingClient;"
            "BlockingClient('h:1').protocol.check_elicitation(dict)",
            id="a form given as a class",
        ),
    ],
)
def test_who_needs_an_extra_is_told_so(expected: str, code: str) -> None:
    """With the command that installs it."""
    returncode, told = ends(code)
    assert 1 == returncode
    assert told.startswith("ImportError: ")
    assert told.endswith(expected)
