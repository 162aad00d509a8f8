"""The proof of `sidecheck diff` on definitions that were made portable: none is narrower."""

import json

from conversions.subjects import sample
from sidecheck_server.core.compat.changes import Level, Part, Reading
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.functions import compare_tools, make_portable

SAMPLE = 300


def test_a_portable_definition_accepts_what_the_original_accepts() -> None:
    """By a proof; and the same where no loss widens it.

    Definitions whose arguments take another form are left out: their mappings convert calls.
    """
    levels: dict[tuple[str, str], Level] = {}
    for subject in sample(SAMPLE):
        text = json.dumps({**subject.tool, "outputSchema": {"type": "object"}}).encode()
        (converted,) = make_portable([text], keep_names=True)
        if isinstance(converted, RequestError) or b'"decoder"' in converted.mapping:
            continue
        # Texts for models differ.
        levels[subject.name, "wider"] = input_level(text, converted.json)
        if all(loss.effect.value == "equivalent" for loss in converted.losses):
            levels[subject.name, "same"] = input_level(converted.json, text)

    assert len(levels) > SAMPLE
    assert {} == {key: level for key, level in levels.items() if level is Level.BREAKING}


def input_level(old: bytes, new: bytes) -> Level:
    """Return the impact of the change of the input schema from *old* to *new*, as written."""
    (tool,) = compare_tools([old], [new]).tools
    levels = [
        comparison.verdicts.of(Reading.AS_WRITTEN).level
        for comparison in tool.schemas
        if comparison.part is Part.INPUT
    ]
    return levels[0] if levels else Level.COSMETIC
