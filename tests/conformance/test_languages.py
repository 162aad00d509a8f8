"""The clients of all languages run the shared cases and their own tests, with real servers.

Each client runs in the test runner of its language. The summary of the run has a matrix of the
cases by language (tests/conftest.py).
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.shared_material import REPOSITORY, unavailable

from conformance.languages import LANGUAGES, CommandFailed
from conformance.matrix import Outcomes, read_outcomes
from conformance.servers import running_servers


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Path]:
    """Return the path of the settings of servers that one client has for itself."""
    with running_servers(tmp_path) as path:
        yield path


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_client_passes_all_shared_cases(
    name: str, settings: Path, record_property: Callable[[str, Any], None]
) -> None:
    """Its own tests pass too."""
    language = LANGUAGES[name]
    if missing := language.missing_programs():
        unavailable(f"{', '.join(missing)} not on PATH: the {name} client is not tested")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            str(REPOSITORY / folder) for folder in ("tests", "service", "clients/python")
        ),
        "SIDECHECK_CONFORMANCE": str(settings),
        "SIDECHECK_REQUIRE_ALL": "1",
    }
    language.make()
    failure = None
    try:
        language.run(language.test, environment)
    except CommandFailed as failed:
        failure = failed
    outcomes: Outcomes = read_outcomes(json.loads(settings.read_text()))
    record_property("client", name)
    record_property("outcomes", outcomes.as_json())
    if failure is not None:
        pytest.fail(str(failure), pytrace=False)

    assert () == outcomes.failed
    assert outcomes.skipped.keys() <= {"validate, coalesced"}
