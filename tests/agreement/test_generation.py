"""Coverage of the random schemas and payloads."""

import json
from random import Random

import pytest
from agreement.editions import EDITIONS, Edition
from agreement.schemas import generate_schema
from agreement.values import NAMES, PATTERNS, names_in
from sidecheck_server.core.patterns import compile_pattern
from sidecheck_server.core.schemas.keywords import KEYWORDS

SCHEMAS = 600
# These keywords do not affect validity, and the generators do not write them.
SILENT = {"contentSchema"}

each_edition = pytest.mark.parametrize(
    "edition", EDITIONS, ids=[edition.name for edition in EDITIONS]
)


@pytest.mark.slow
@each_edition
def test_every_keyword_and_every_name_is_generated(edition: Edition) -> None:
    """A few hundred schemas have all keywords of the edition, and all hostile names."""
    random = Random("names")
    schemas = [generate_schema(random, edition).question.schema for _ in range(SCHEMAS)]
    used_names = set(names_in(schemas))

    assert set() == KEYWORDS[edition.draft].keys() - SILENT - used_names
    assert set() == set(NAMES) - used_names


@each_edition
def test_a_seed_gives_the_same_schema_again(edition: Edition) -> None:
    """Equal seeds generate equal schemas."""
    schemas = [generate_schema(Random("again"), edition).question.schema for _ in range(2)]

    assert json.dumps(schemas[0]) == json.dumps(schemas[1])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_samples_match_their_pattern(pattern: str) -> None:
    """The texts that `PATTERNS` lists match their pattern."""
    search = compile_pattern(pattern).search

    assert [] == [text for text in PATTERNS[pattern] if not search(text)]
