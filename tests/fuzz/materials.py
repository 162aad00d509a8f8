"""Samples for requests: schemas with payloads.

The sources are the shared cases, the cases of explanations of the core, the random schemas
of `agreement`, and the corpus of real tools, if it is present.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from agreement.editions import EDITIONS
from agreement.payloads import PayloadMaker
from agreement.schemas import generate_schema
from fuzz.sample_messages import SampleTexts
from support.shared_material import REPOSITORY, read_records

__all__ = ["Material", "Sample"]

_TESTS = REPOSITORY / "tests"
_MOST_REAL = 400
"""Maximum number of samples from the corpus."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A schema and a payload, as texts."""

    schema: bytes
    payload: bytes
    documents: tuple[tuple[str, bytes], ...] = ()
    default_dialect: str = ""


class Material:
    """A stock of samples."""

    def __init__(self) -> None:
        self._kept = (*_shared_cases(), *_explained())
        self._real = tuple(_real())
        #: Messages and other texts of the protocol.
        self.sample_texts = SampleTexts()

    def sample(self, random: Random) -> Sample:
        """Return a sample of the stock, or a random schema of `agreement` with a payload."""
        source = random.random()
        if source < 0.25:
            return _generated(random)
        if source < 0.6 and self._real:
            return random.choice(self._real)
        return random.choice(self._kept)


def _shared_cases() -> Iterator[Sample]:
    for path in sorted((_TESTS / "cases" / "validate").glob("*.json")):
        for case in json.loads(path.read_text())["cases"]:
            if "schema" not in case:
                continue
            yield Sample(
                case["schema"].encode(),
                case["payload"].encode(),
                tuple(
                    (document["uri"], document["json"].encode())
                    for document in case.get("documents", ())
                ),
                case.get("default_dialect", ""),
            )


def _explained() -> Iterator[Sample]:
    for case in json.loads((_TESTS / "core" / "explanations.json").read_text()):
        yield Sample(json.dumps(case["schema"]).encode(), json.dumps(case["payload"]).encode())


def _real() -> Iterator[Sample]:
    root = Path(os.environ.get("SIDECHECK_SHARED") or REPOSITORY.parent / "shared")
    calls = root / "corpus" / "calls.jsonl.gz"
    if not calls.exists():
        return
    for record in islice(read_records(calls), 0, None, 7000 // _MOST_REAL):
        schema = record["tool"]["inputSchema"]
        yield Sample(json.dumps(schema).encode(), json.dumps(record["arguments"]).encode())


def _generated(random: Random) -> Sample:
    edition = random.choice(EDITIONS)
    generated = generate_schema(random, edition)
    hides = edition.reference_hides_siblings
    maker = PayloadMaker(random, generated.follow, names=generated.names, hides_siblings=hides)
    question = generated.question
    return Sample(
        json.dumps(question.schema).encode(),
        json.dumps(maker.make(question.schema)).encode(),
        tuple((uri, json.dumps(value).encode()) for uri, value in question.documents.items()),
        edition.uri,
    )
