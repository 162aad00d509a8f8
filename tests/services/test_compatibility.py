"""Registration with a compatibility policy: comparison, report, rejection and removal."""

import json
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
from sidecheck_server.core.compat.changes import Level, Reading
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.types import Severity
from sidecheck_server.registry import Registry
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.comparison import CompatibilityPolicy
from sidecheck_server.services.registration import (
    ChangePolicy,
    Outcome,
    Registrar,
    Registration,
)
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool
from support.checkers import registrar_of, run_in_process

LIMITS = Limits()
IGNORE, REPORT = CompatibilityPolicy.IGNORE, CompatibilityPolicy.REPORT
BREAKING, UNDECIDED = CompatibilityPolicy.REJECT_BREAKING, CompatibilityPolicy.REJECT_UNDECIDED

OLD = {"name": "a", "inputSchema": {"type": "object", "properties": {"n": {"maximum": 5}}}}
SAME = {"inputSchema": OLD["inputSchema"], "name": "a"}
NARROWER = {"name": "a", "inputSchema": {"type": "object", "properties": {"n": {"maximum": 3}}}}
WIDER = {"name": "a", "inputSchema": {"type": "object", "properties": {"n": {"maximum": 9}}}}
# A pattern that matches every text, which the proof does not see.
HARD = {
    "name": "a",
    "inputSchema": {
        "type": "object",
        "properties": {"n": {"maximum": 5, "not": {"not": {"pattern": "^(?:a?){30}b*$|^[^c]|^c"}}}},
    },
}
OTHER = {"name": "b", "inputSchema": {"type": "object"}}


@pytest.fixture
def registry() -> Iterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


@pytest.fixture
def registrar(registry: Registry) -> Registrar:
    return registrar_of(registry, CompiledSchemas(run_in_process, LIMITS, 0, 0))


def request_for(*tools: Any, **options: Any) -> Registration:
    texts = tuple(InlineTool(json.dumps(tool).encode()) for tool in tools)
    return Registration("s", texts, **options)


def in_short(outcome: Outcome) -> tuple[str, list[tuple[str, str]], str | None]:
    """Return the action, the violations, and the level of the comparison."""
    comparison = outcome.comparison
    return (
        outcome.action.value if outcome.action else "rejected",
        [(violation.code, violation.severity.value) for violation in outcome.violations],
        comparison.level(Reading.ASSUME_CLOSED).value if comparison else None,
    )


ERROR, WARNING = Severity.ERROR.value, Severity.WARNING.value
NO: list[tuple[str, str]] = []


@pytest.mark.parametrize(
    ("tool", "policy", "expected"),
    [
        pytest.param(OTHER, BREAKING, ("created", NO, None), id="created"),
        pytest.param(SAME, BREAKING, ("unchanged", NO, None), id="unchanged"),
        pytest.param(WIDER, IGNORE, ("changed", NO, None), id="compatible, ignored"),
        pytest.param(WIDER, REPORT, ("changed", NO, "compatible"), id="compatible, reported"),
        pytest.param(WIDER, UNDECIDED, ("changed", NO, "compatible"), id="compatible, proved"),
        pytest.param(NARROWER, IGNORE, ("changed", NO, None), id="breaking, ignored"),
        pytest.param(
            NARROWER,
            REPORT,
            ("changed", [("BREAKING_CHANGE", WARNING)], "breaking"),
            id="breaking, reported",
        ),
        pytest.param(
            NARROWER,
            BREAKING,
            ("rejected", [("BREAKING_CHANGE", ERROR)], "breaking"),
            id="breaking, rejected",
        ),
        pytest.param(
            NARROWER,
            UNDECIDED,
            ("rejected", [("BREAKING_CHANGE", ERROR)], "breaking"),
            id="breaking, rejected by the strictest",
        ),
        pytest.param(
            HARD,
            BREAKING,
            ("changed", [("UNDECIDED_CHANGE", WARNING)], "undecided"),
            id="undecided, reported",
        ),
        pytest.param(
            HARD,
            UNDECIDED,
            ("rejected", [("UNDECIDED_CHANGE", ERROR)], "undecided"),
            id="undecided, rejected",
        ),
    ],
)
@pytest.mark.parametrize("validate_only", [False, True])
async def test_policies(
    registry: Registry,
    registrar: Registrar,
    tool: Any,
    policy: CompatibilityPolicy,
    expected: tuple[str, list[tuple[str, str]], str | None],
    validate_only: bool,
) -> None:
    """They apply to registrations and to validate_only."""
    await registrar.register(request_for(OLD))
    before = registry.revision
    request = request_for(tool, compatibility=policy, validate_only=validate_only)
    registered = await registrar.register(request)

    assert [expected] == [in_short(outcome) for outcome in registered.outcomes]
    changes = expected[0] in {"created", "changed"} and not validate_only
    assert before + changes == registry.revision == registered.revision


async def test_the_violation_names_the_breaking_change(registrar: Registrar) -> None:
    """It has the location of the first breaking change."""
    await registrar.register(request_for(OLD))
    registered = await registrar.register(request_for(NARROWER, compatibility=BREAKING))
    [violation] = registered.outcomes[0].violations

    assert (
        "/inputSchema/properties/n/maximum",
        "the definition breaks callers of the registered one: maximum was lowered from 5 to 3",
    ) == (violation.instance_location, violation.message)


async def test_the_reading_decides(registrar: Registrar) -> None:
    """A new option breaks callers of an open object alone."""
    properties = {"n": {"maximum": 5}, "m": {"type": "integer"}}
    added = {"name": "a", "inputSchema": {"type": "object", "properties": properties}}
    await registrar.register(request_for(OLD))
    rejected = await registrar.register(
        request_for(added, compatibility=BREAKING, reading=Reading.AS_WRITTEN)
    )
    accepted = await registrar.register(request_for(added, compatibility=BREAKING))

    assert ["rejected", "changed"] == [
        in_short(comparison.outcomes[0])[0] for comparison in (rejected, accepted)
    ]
    [first], [second] = rejected.outcomes, accepted.outcomes
    assert first.comparison is not None
    assert first.comparison == second.comparison
    assert Level.BREAKING is first.comparison.level(Reading.AS_WRITTEN)


@pytest.mark.parametrize(
    ("policy", "removed", "kept_names"),
    [
        (IGNORE, ("a", "b"), ()),
        (REPORT, ("a", "b"), ()),
        (BREAKING, (), ("a", "b")),
        (UNDECIDED, (), ("a", "b")),
    ],
)
async def test_removals_break_callers_too(
    registry: Registry,
    registrar: Registrar,
    policy: CompatibilityPolicy,
    removed: tuple[str, ...],
    kept_names: tuple[str, ...],
) -> None:
    await registrar.register(request_for(OLD, OTHER))
    third = {"name": "c", "inputSchema": {"type": "object"}}
    for validate_only in (True, False):
        registered = await registrar.register(
            request_for(third, replace=True, compatibility=policy, validate_only=validate_only)
        )
        assert (removed, kept_names) == (registered.removed, registered.kept)
    bindings, _ = registry.page("s", None, 100, 1 << 20)

    assert [*kept_names, "c"] == [binding.name for binding in bindings]


async def test_both_policies_have_their_say(registrar: Registrar) -> None:
    await registrar.register(request_for(OLD))
    request = request_for(NARROWER, compatibility=REPORT, change_policy=ChangePolicy.REJECT)
    registered = await registrar.register(request)

    assert [
        (
            "rejected",
            [("BREAKING_CHANGE", WARNING), ("DEFINITION_CHANGED", ERROR)],
            "breaking",
        )
    ] == [in_short(outcome) for outcome in registered.outcomes]


async def test_definitions_of_one_name_are_compared_each(registrar: Registrar) -> None:
    """Each is compared with the registered one; the last accepted one is registered."""
    await registrar.register(request_for(OLD))
    registered = await registrar.register(request_for(NARROWER, WIDER, compatibility=BREAKING))

    assert [("rejected", "breaking"), ("changed", "compatible")] == [
        (action, level) for action, _, level in map(in_short, registered.outcomes)
    ]


async def test_a_change_in_between_is_compared_with(
    registry: Registry, registrar: Registrar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compatibility with the former definition does not imply it with the present one."""
    await registrar.register(request_for(OLD))
    register = registry.register
    others = registrar_of(registry, CompiledSchemas(run_in_process, LIMITS, 0, 0))
    is_first = Event()

    def register_after_another(server: str, definitions: Any, **options: Any) -> Any:
        if not is_first.is_set():
            is_first.set()
            register("s", widest, keep=None)
        return register(server, definitions, **options)

    preview = await others.register(
        request_for(
            {"name": "a", "inputSchema": {"type": "object", "properties": {"n": {"maximum": 99}}}},
            validate_only=True,
        )
    )
    widest = [outcome.definition for outcome in preview.outcomes if outcome.definition]
    monkeypatch.setattr(registry, "register", register_after_another)
    registered = await registrar.register(request_for(WIDER, compatibility=BREAKING))

    assert is_first.is_set()
    assert [("rejected", [("BREAKING_CHANGE", ERROR)], "breaking")] == [
        in_short(outcome) for outcome in registered.outcomes
    ]
