"""`sidecheck rules`: the rules of the protocol, offline."""

import json
from typing import Any

from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE, RULES
from sidecheck_server.core.mcp.types.errata import ERRATA
from support.shared_material import REPOSITORY


def run(*arguments: str) -> Result:
    """Run the command in this process; its exceptions propagate."""
    return CliRunner().invoke(sidecheck, ["rules", *arguments], catch_exceptions=False)


def listed_rules(*arguments: str) -> Any:
    """Return the JSON output of the command."""
    return json.loads(run(*arguments, "--format", "json").stdout)


def test_json_has_every_rule_by_its_code() -> None:
    """A rule has all of its properties."""
    rules = listed_rules()

    assert sorted(CATALOGUE) == [entry["code"] for entry in rules]
    assert {
        "code": "REQUEST_ID_IN_USE",
        "severity": "error",
        "protocol_versions": ["2026-07-28"],
        "spec_url": "https://modelcontextprotocol.io/specification/2026-07-28/basic#requests",
        "requirement": CATALOGUE["REQUEST_ID_IN_USE"].requirement,
        "subjects": ["JSONRPCMessage"],
    } == next(entry for entry in rules if entry["code"] == "REQUEST_ID_IN_USE")


def test_rules_can_be_limited_to_a_version() -> None:
    """The rules of that version are listed."""
    for version in ("2024-11-05", "2026-07-28"):
        expected = sorted(rule.code for rule in RULES if rule.holds_in(version))
        assert expected == [entry["code"] for entry in listed_rules("--protocol-version", version)]


def test_text_has_a_row_for_each_rule_and_their_number() -> None:
    """A row ends with the whole requirement."""
    lines = run().stdout.splitlines()

    assert len(RULES) + 1 == len(lines)
    row = next(line for line in lines if line.startswith("REQUEST_ID_IN_USE "))
    assert ["error", "2026-07-28"] == row.split()[1:3]
    assert row.endswith(CATALOGUE["REQUEST_ID_IN_USE"].requirement)
    assert lines[-1].startswith(f"{len(RULES)} rules: ")


def test_an_unknown_version_exits_with_2() -> None:
    """The message has the known versions."""
    result = run("--protocol-version", "2020-01-01")

    assert 2 == result.exit_code
    assert "'2020-01-01' is not one of '2024-11-05'" in result.stderr


def test_the_documentation_has_every_rule_and_erratum() -> None:
    """`make docs` updates it."""
    text = (REPOSITORY / "docs" / "reference" / "rules.md").read_text()

    assert text == run("--format", "markdown").stdout
    assert [] == [code for code in CATALOGUE if f"| `{code}` |" not in text]
    assert len(ERRATA) == text.partition("## Errata")[2].count("\n| `")
