"""The method table agrees with the published schemas."""

import json
from typing import Any

import pytest
from sidecheck_server.core.mcp.context import VERSIONS, Sender
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS, METHODS, Need, find_method
from support.shared_material import shared


def _definitions(version: str) -> dict[str, Any]:
    schema = json.loads(shared(f"mcp/{version}/schema.json").read_text())
    definitions: dict[str, Any] = schema.get("definitions") or schema["$defs"]
    return definitions


def _published(version: str, union: str) -> set[tuple[str, bool]]:
    """Return (method, params required) of every message in a published union."""
    definitions = _definitions(version)
    definition = definitions.get(union)
    if definition is None:
        return set()
    refs = [branch["$ref"].rsplit("/", 1)[1] for branch in definition.get("anyOf", ())]
    messages = [definitions[name] for name in refs] or [definition]
    return {
        (message["properties"]["method"]["const"], "params" in message["required"])
        for message in messages
    }


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("sender", Sender)
@pytest.mark.parametrize("kind", ["Request", "Notification"])
def test_methods_match_the_published_schema(version: str, sender: Sender, kind: str) -> None:
    actual = sorted(
        (method.name, method.params_required)
        for method in METHODS
        if method.holds_in(version)
        and method.sender is sender
        and method.is_request == (kind == "Request")
    )
    # A list, not a set: two entries for one version would contradict each other.
    assert sorted(_published(version, f"{sender.title()}{kind}")) == actual


@pytest.mark.corpus
def test_input_requests_match_the_published_schema() -> None:
    actual = {(request.name, request.params_required) for request in INPUT_REQUESTS.values()}
    assert _published("2026-07-28", "InputRequest") == actual


@pytest.mark.parametrize(
    ("name", "version", "sender", "exists"),
    [
        ("tools/call", "2024-11-05", Sender.CLIENT, True),
        ("tools/call", "2024-11-05", Sender.SERVER, False),
        ("tools/call", "2024-11-05", None, True),
        ("initialize", "2026-07-28", None, False),
        ("ping", "2025-11-25", Sender.SERVER, True),
        ("notifications/progress", "2026-07-28", Sender.CLIENT, False),
        ("sampling/createMessage", "2026-07-28", None, False),
        ("no/such", "2025-11-25", None, False),
    ],
)
def test_find_method_by_version_and_sender(
    name: str, version: str, sender: Sender | None, exists: bool
) -> None:
    method = find_method(name, version, sender)
    assert (exists, exists and name) == (method is not None, method is not None and method.name)


@pytest.mark.parametrize(
    ("name", "version", "sender", "needs"),
    [
        ("completion/complete", "2024-11-05", Sender.CLIENT, None),
        ("completion/complete", "2025-03-26", Sender.CLIENT, Need(Sender.SERVER, "completions")),
        ("tools/list", "2025-11-25", Sender.CLIENT, Need(Sender.SERVER, "tools")),
        ("tasks/get", "2025-11-25", Sender.SERVER, Need(Sender.CLIENT, "tasks")),
        ("notifications/tasks/status", "2025-11-25", Sender.SERVER, Need(Sender.SERVER, "tasks")),
        (
            "notifications/roots/list_changed",
            "2025-06-18",
            Sender.CLIENT,
            Need(Sender.CLIENT, "roots.listChanged"),
        ),
        ("elicitation/create", "2025-06-18", Sender.SERVER, Need(Sender.CLIENT, "elicitation")),
        ("ping", "2025-06-18", Sender.SERVER, None),
    ],
)
def test_capabilities_that_a_method_needs(
    name: str, version: str, sender: Sender, needs: Need | None
) -> None:
    method = find_method(name, version, sender)
    assert method is not None
    assert needs == method.needs


def test_only_tasks_of_2025_11_25_need_further_capabilities() -> None:
    assert {
        ("tools/call", "tasks.requests.tools.call"),
        ("sampling/createMessage", "tasks.requests.sampling.createMessage"),
        ("elicitation/create", "tasks.requests.elicitation.create"),
    } == {(method.name, method.needs_as_task.path) for method in METHODS if method.needs_as_task}
    assert {("2025-11-25", "2025-11-25")} == {
        (method.since, method.until) for method in METHODS if method.needs_as_task
    }


def test_requests_that_may_require_input() -> None:
    assert {"tools/call", "prompts/get", "resources/read"} == {
        method.name for method in METHODS if method.may_request_input
    }
