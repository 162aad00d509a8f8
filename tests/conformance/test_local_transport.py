"""A client of services in the same process passes the shared cases, without a server."""

import json
from pathlib import Path

import pytest
from support.running_proxy import local_client

from conformance.python_client import run_case
from conformance.servers import running_servers

#: Groups of cases for a server that works, and has only the tools that the cases register.
_GROUPS = {
    "adapt",
    "check batches",
    "check messages",
    "check tools",
    "convert calls",
    "convert tools",
    "infer",
    "normalize",
    "sessions",
    "stream",
    "validate",
}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """Return the cases of all languages."""
    with running_servers(tmp_path_factory.mktemp("conformance")) as path:
        lines = Path(json.loads(path.read_text())["cases"]).read_text().splitlines()
    return [json.loads(line) for line in lines]


async def test_services_in_the_same_process_pass_the_shared_cases(
    cases: list[dict[str, object]],
) -> None:
    """Verdicts, errors and streams are those of a server."""
    chosen = [case for case in cases if case["group"] in _GROUPS and case["server"] == "real"]
    async with local_client() as client:
        results = [await run_case(client, case) for case in chosen]

    assert 1_900 < len(chosen)
    assert [] == [result for result in results if not result.get("passed")]
