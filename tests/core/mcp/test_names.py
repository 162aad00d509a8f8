"""Checks of tool names: SDK warnings, sanitizing, duplicates and collisions."""

from random import Random

import pytest
from mcp.shared.tool_name_validation import validate_tool_name
from sidecheck_server.core.limits import Exhausted
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.mcp.tool_names import (
    CheckedName,
    CheckedNames,
    Collision,
    check_names,
    sanitize_name,
    sdk_warnings,
)
from sidecheck_server.core.types import Severity, Verdict

_ALLOWED = "Allowed characters are: A-Z, a-z, 0-9, underscore (_), dash (-), and dot (.)"
_DASH = "Tool name starts or ends with a dash, which may cause parsing issues in some contexts"
_DOT = "Tool name starts or ends with a dot, which may cause parsing issues in some contexts"

SDK = {
    "getUser": (True, ()),
    "a.b-c_1": (True, ()),
    "a" * 128: (True, ()),
    "": (False, ("Tool name cannot be empty",)),
    "a" * 129: (False, ("Tool name exceeds maximum length of 128 characters (current: 129)",)),
    " " * 200: (False, ("Tool name exceeds maximum length of 128 characters (current: 200)",)),
    "-": (True, (_DASH,)),
    ".a-": (True, (_DASH, _DOT)),
    "get user": (
        False,
        (
            "Tool name contains spaces, which may cause parsing issues",
            "Tool name contains invalid characters: ' '",
            _ALLOWED,
        ),
    ),
    "-a, b, c!": (
        False,
        (
            "Tool name contains spaces, which may cause parsing issues",
            "Tool name contains commas, which may cause parsing issues",
            _DASH,
            "Tool name contains invalid characters: ',', ' ', '!'",
            _ALLOWED,
        ),
    ),
    "a\n": (False, ("Tool name contains invalid characters: '\\n'", _ALLOWED)),
    "café": (False, ("Tool name contains invalid characters: 'é'", _ALLOWED)),
}

SANITIZED = {
    "getUser": "getUser",
    "admin.tools.list": "admin_tools_list",
    "a  b": "a__b",
    "аdmin": "_dmin",
    "": "_",
    "!": "_",
    "x" * 65: "x" * 64,
    "x" * 63 + ".y": "x" * 63 + "_",
}


@pytest.mark.parametrize(("name", "expected"), SDK.items(), ids=repr)
def test_sdk_warnings(name: str, expected: tuple[bool, tuple[str, ...]]) -> None:
    assert expected == sdk_warnings(name)


def random_names(count: int) -> list[str]:
    random = Random(20)
    alphabet = "aB9_-. ,/!é\nа"
    return ["".join(random.choices(alphabet, k=random.randrange(6))) for _ in range(count)]


def test_installed_sdk_gives_the_same_warnings() -> None:
    names = [*SDK, *random_names(2000)]
    theirs = {name: validate_tool_name(name) for name in names}
    assert {name: (result.is_valid, tuple(result.warnings)) for name, result in theirs.items()} == {
        name: sdk_warnings(name) for name in names
    }


@pytest.mark.parametrize(("name", "safe"), SANITIZED.items(), ids=repr)
def test_sanitize_name(name: str, safe: str) -> None:
    assert safe == sanitize_name(name)


def checked(
    *names: str, version: str = "2025-11-25", min_severity: Severity = Severity.INFO
) -> CheckedNames:
    return check_names(names, Context(version=version), ReportLimits(min_severity=min_severity))


def test_valid_name() -> None:
    plain = CheckedName(Verdict(), sdk_valid=True, sdk_warnings=(), sanitized="get_weather")
    assert (plain,) == checked("get_weather").names


@pytest.mark.parametrize("version", VERSIONS)
def test_fast_path_agrees_with_the_rules(version: str) -> None:
    """A duplicate name takes the slow path, which evaluates every rule."""
    for name in random_names(400):
        alone, duplicate = checked(name, version=version), checked(name, name, version=version)
        violations = [
            violation
            for violation in duplicate.names[0].verdict.violations
            if violation.code != "TOOL_NAME_DUPLICATE"
        ]
        assert list(alone.names[0].verdict.violations) == violations, name
        assert sdk_warnings(name) == (alone.names[0].sdk_valid, alone.names[0].sdk_warnings), name
        assert sanitize_name(name) == alone.names[0].sanitized, name


def test_the_pointer_of_a_violation_is_empty() -> None:
    (name,) = checked("list issues", min_severity=Severity.WARNING).names
    assert [("", "TOOL_NAME_CHARACTERS", "list_issues")] == [
        (violation.instance_location, violation.code, violation.suggestion)
        for violation in name.verdict.violations
    ]


def test_min_severity() -> None:
    assert (Verdict(),) == tuple(
        name.verdict for name in checked("list issues", min_severity=Severity.ERROR).names
    )


def test_every_duplicate_is_reported() -> None:
    names = checked("read", "write", "read", min_severity=Severity.WARNING).names
    assert [["TOOL_NAME_DUPLICATE"], [], ["TOOL_NAME_DUPLICATE"]] == [
        [violation.code for violation in name.verdict.violations] for name in names
    ]


def test_names_with_equal_sanitized_forms_collide() -> None:
    collisions = checked("a.b", "c", "a b", "x" * 65, "a_b", "x" * 64, "c").collisions
    assert (Collision("a_b", (0, 2, 4)), Collision("x" * 64, (3, 5))) == collisions


def test_duplicate_name_is_not_a_collision() -> None:
    assert () == checked("a.b", "a.b").collisions


def test_no_names_at_all() -> None:
    assert ((), ()) == (checked().names, checked().collisions)


@pytest.mark.slow
def test_maximum_number_of_names_is_within_the_step_limit() -> None:
    names = [f"{index} {'é' * 400}, " for index in range(10_000)]
    budget = [10_000_000]
    result = check_names(names, Context(budget=budget), ReportLimits())
    assert len(names) == len(result.names)
    assert budget[0] > 0


def test_names_use_steps() -> None:
    with pytest.raises(Exhausted):
        check_names(["a"] * 1000, Context(budget=[1000]), ReportLimits())


def test_hidden_names_are_in_no_message() -> None:
    (name,) = check_names(["geheim!"], Context(hide_values=True), ReportLimits()).names
    texts = " ".join(
        violation.message + violation.suggestion for violation in name.verdict.violations
    )
    assert "!" not in texts
    assert "geheim" not in texts
    assert "TOOL_NAME_CHARACTERS" in {violation.code for violation in name.verdict.violations}
