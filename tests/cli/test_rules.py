"""`sidecheck rules`: the rules of the protocol, offline."""

import json
from typing import Any

from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE, RULES
from sidecheck_server.core.mcp.types.errata import ERRATA
from support.shared_material import REPOSITORY


def run(*words: str) -> Result:
    """Run the command; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, ["rules", *words], catch_exceptions=False)


def listed(*words: str) -> Any:
    """Return what the command says in JSON."""
    return json.loads(run(*words, "--format", "json").stdout)


def test_json_has_every_rule_by_its_code() -> None:
    """With all that is known of each."""
    got = listed()

    assert sorted(CATALOGUE) == [one["code"] for one in got]
    assert {
        "code": "REQUEST_ID_IN_USE",
        "severity": "error",
        "protocol_versions": ["2026-07-28"],
        "spec_url": "https://modelcontextprotocol.io/specification/2026-07-28/basic#requests",
        "requirement": CATALOGUE["REQUEST_ID_IN_USE"].requirement,
        "subjects": ["JSONRPCMessage"],
    } == next(one for one in got if one["code"] == "REQUEST_ID_IN_USE")


def test_only_the_rules_of_a_version_may_be_asked_for() -> None:
    """Those that hold in it."""
    for version in ("2024-11-05", "2026-07-28"):
        expected = sorted(rule.code for rule in RULES if rule.holds_in(version))
        assert expected == [one["code"] for one in listed("--protocol-version", version)]


def test_text_has_a_row_for_each_and_their_number() -> None:
    """Whole sentences, one line each."""
    lines = run().stdout.splitlines()

    assert len(RULES) + 1 == len(lines)
    row = next(line for line in lines if line.startswith("REQUEST_ID_IN_USE "))
    assert ["error", "2026-07-28"] == row.split()[1:3]
    assert row.endswith(CATALOGUE["REQUEST_ID_IN_USE"].requirement)
    assert lines[-1].startswith(f"{len(RULES)} rules: ")


def test_an_unknown_version_is_a_wrong_command() -> None:
    """It says which there are."""
    result = run("--protocol-version", "2020-01-01")

    assert 2 == result.exit_code
    assert "'2020-01-01' is not one of '2024-11-05'" in result.stderr


def test_the_documentation_has_every_rule_and_erratum() -> None:
    """`make docs` writes it anew."""
    text = (REPOSITORY / "docs" / "reference" / "rules.md").read_text()

    assert text == run("--format", "markdown").stdout
    assert [] == [code for code in CATALOGUE if f"| `{code}` |" not in text]
    assert len(ERRATA) == text.partition("## Errata")[2].count("\n| `")
