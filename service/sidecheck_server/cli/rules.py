"""`sidecheck rules`: the rules of the protocol."""

from typing import TYPE_CHECKING, Any

import click

from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.options import examples, version_option

if TYPE_CHECKING:
    from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["rules"]


@click.command(
    epilog=examples(
        "sidecheck rules",
        "sidecheck rules --protocol-version 2025-06-18 --format json",
    )
)
@version_option("[default: every one]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
)
def rules(protocol_version: str | None, form: str) -> None:
    """List the rules that definitions and messages are checked by.

    Each has the code of its violations, how grave they are, the protocol versions
    that have it, the clause that it comes from, and what must be so. The markdown
    also has the errata of the published schemas.
    """
    # Imported here, so that the other commands start without the rules.
    from sidecheck_server.cli.reports import in_json  # noqa: PLC0415
    from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE  # noqa: PLC0415

    if form == "markdown":
        from sidecheck_server.cli.rule_tables import rules_in_markdown  # noqa: PLC0415

        write_output(rules_in_markdown(protocol_version))
        return
    listed = [
        rule
        for _, rule in sorted(CATALOGUE.items())
        if protocol_version is None or rule.holds_in(protocol_version)
    ]
    if form == "json":
        write_output(in_json([_object(rule) for rule in listed]))
        return
    from sidecheck_server.cli.rows import write_rows  # noqa: PLC0415
    from sidecheck_server.cli.rule_tables import rows_of_rules  # noqa: PLC0415

    write_rows(rows_of_rules(listed))


def _object(rule: "Rule") -> dict[str, Any]:
    return {
        "code": rule.code,
        "severity": rule.severity.value,
        "protocol_versions": list(rule.versions),
        "spec_url": rule.spec_url(),
        "requirement": rule.requirement,
        "subjects": list(rule.subjects),
    }
