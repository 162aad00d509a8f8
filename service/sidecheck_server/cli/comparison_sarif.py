"""Comparisons in SARIF 2.1.0."""

from typing import Any

from sidecheck_server.cli.compared_files import ComparedFiles
from sidecheck_server.cli.comparison_summary import shown_payload, witness_sentence
from sidecheck_server.cli.sarif import sarif_location, sarif_run
from sidecheck_server.core.compat.changes import Level, Reading, SetComparison
from sidecheck_server.core.compat.rules import CHANGE_RULES

__all__ = ["comparison_sarif"]

_REPORTED = (Level.BREAKING, Level.UNDECIDED, Level.RISKY)


def comparison_sarif(
    compared: SetComparison, files: ComparedFiles, reading: Reading
) -> dict[str, Any]:
    """Return the log of the changes of *compared* that are not harmless in *reading*."""
    changes = [
        (tool, change)
        for tool in compared.tools
        for change in tool.changes
        if change.effects.of(reading).level in _REPORTED
    ]
    # Scanners show results in the files that they have, which are the new ones.
    findings = files.find_in_new(changes, reading)
    before = files.find_in_old(changes, reading)
    log = sarif_run(files.names, findings, (), _rule)
    results = log["runs"][0]["results"]
    for result, (_, change), old in zip(results, changes, before, strict=True):
        effect = change.effects.of(reading)
        properties = {
            "level": effect.level.value,
            "old_location": change.old_location,
            "new_location": change.new_location,
        }
        if effect.witness is not None:
            payload, sentence = (
                shown_payload(effect.witness),
                witness_sentence(change.part, effect.witness),
            )
            result["message"]["text"] += f". {payload} {sentence}"
            properties["witness"] = effect.witness.payload.decode()
        result["properties"] = properties
        if old is not None:
            related = {"id": 1, **sarif_location(old, files.names)}
            result["relatedLocations"] = [{**related, "message": {"text": "before the change"}}]
    return log


def _rule(code: str) -> dict[str, Any]:
    rule = CHANGE_RULES[code]
    described: dict[str, Any] = {"id": code, "shortDescription": {"text": rule.sentence}}
    return {**described, "helpUri": rule.source} if rule.source else described
