"""The complete engine passes the official test suite in all five dialects."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from complete_engines import Library, violations
from shared_material import shared
from sidecheck_server.core.schemas.dialects import DIALECTS

SUITE = shared("json-schema-test-suite")
FOLDERS = {
    "draft4": "http://json-schema.org/draft-04/schema",
    "draft6": "http://json-schema.org/draft-06/schema",
    "draft7": "http://json-schema.org/draft-07/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

# Content keywords are annotations here, as they are for everybody since 2019-09
# (draft-07 validation, section 8.2: "MAY support").
BINARY = "validation of binary-encoded media type documents"
CONTENT_IS_NOT_ASSERTED = {
    "validation of string-encoded content based on media type: an invalid JSON document",
    "validation of binary string-encoding: an invalid base64 string (% is not a valid character)",
    f"{BINARY}: a validly-encoded invalid JSON document",
    f"{BINARY}: an invalid base64 string that is valid JSON",
}
LEDGER = {"draft7/optional/content.json": CONTENT_IS_NOT_ASSERTED}
"""The cases that are judged otherwise, by file. One that starts to agree fails the test."""


def suite_files() -> list[str]:
    tests = SUITE / "tests"
    files = (file for folder in FOLDERS for file in sorted((tests / folder).rglob("*.json")))
    return [file.relative_to(tests).as_posix() for file in files]


@lru_cache
def library(folder: str) -> Library:
    remotes = SUITE / "remotes"
    documents = {
        f"http://localhost:1234/{file.relative_to(remotes).as_posix()}": read(file)
        for file in remotes.rglob("*.json")
    }
    return Library(documents, DIALECTS[FOLDERS[folder]])


def read(file: Path) -> Any:
    return json.loads(file.read_bytes())


@pytest.mark.parametrize("name", suite_files())
def test_the_official_suite_is_passed(name: str) -> None:
    """Every case of a file is judged as the suite says, and every "no" is explained."""
    engines = library(name.partition("/")[0])
    wrong = set()
    for group in read(SUITE / "tests" / name):
        engine = engines.engine_for(group["schema"], assert_formats="/format/" in name)
        for case in group["tests"]:
            valid = engine.is_valid(case["data"])
            explained = next(violations(engine, case["data"]), None) is not None
            if valid is not case["valid"] or explained is valid:
                wrong.add(f"{group['description']}: {case['description']}")

    assert LEDGER.get(name, set()) == wrong
