"""Collected tools, as their servers listed or dumped them, can be registered."""

import json
from collections import Counter
from contextlib import closing

import pytest
from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.types import Severity
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.container import ServiceOptions, create_services
from sidecheck_server.services.registration import Registration
from sidecheck_server.services.request_work import open_request
from sidecheck_server.services.targets import InlineTool
from support.shared_material import read_records, shared

#: Tools whose input schemas are invalid, by the codes of their errors.
REJECTED = {("TYPE",): 6, ("ENUM",): 1, ("UNIQUE_ITEMS",): 1}
#: Warnings that say how a definition was read.
READ_LENIENTLY = {"NULL_PROPERTY_DROPPED": 387, "OUTPUT_SCHEMA_WRAPPED": 1}


@pytest.mark.slow
async def test_tools_of_the_corpus_are_registered() -> None:
    """All but those whose schemas are invalid in their dialect."""
    limits = Limits()
    records = read_records(shared("corpus") / "tools.jsonl.gz")
    tools = tuple(InlineTool(json.dumps(record["tool"]).encode()) for record in records)
    with closing(open_registry(None)) as registry:
        services = create_services(
            registry, InProcessWorker(limits).run, limits, ServiceOptions(256 << 20)
        )
        registered = await services.registrar.register(Registration("corpus", tools))
    rejected = Counter(
        tuple(
            sorted(
                {
                    violation.code
                    for violation in outcome.violations
                    if violation.severity is Severity.ERROR
                }
            )
        )
        for outcome in registered.outcomes
        if outcome.action is None
    )
    codes = Counter(
        violation.code for outcome in registered.outcomes for violation in outcome.violations
    )

    assert REJECTED == rejected
    assert READ_LENIENTLY == {code: codes[code] for code in READ_LENIENTLY}


@pytest.mark.slow
async def test_requests_of_some_hundred_tools_reach_all_of_them() -> None:
    """Each has steps for a thousand new tools of the usual size."""
    limits = Limits()
    records = read_records(shared("corpus") / "tools.jsonl.gz")
    tools = tuple(InlineTool(json.dumps(record["tool"]).encode()) for record in records)
    not_reached = 0
    with closing(open_registry(None)) as registry:
        services = create_services(
            registry, InProcessWorker(limits).run, limits, ServiceOptions(256 << 20)
        )
        for start in range(0, len(tools), 750):
            open_request(limits)
            registered = await services.registrar.register(
                Registration("corpus", tools[start : start + 750])
            )
            not_reached += sum(
                violation.code == "LIMIT_EXCEEDED"
                for outcome in registered.outcomes
                for violation in outcome.violations
            )

    assert 0 == not_reached
