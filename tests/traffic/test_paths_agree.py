"""`lint-messages` and CheckSession find the same in every session, at the same severity."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck_server.cli import sidecheck
from sidecheck_server.core.mcp.context import VERSIONS
from support.running import RunningServer
from support.shared_material import shared

Entry = dict[str, Any]
#: Codes and locations in each message, and the counts of violations that are reported once.
Findings = tuple[list[list[tuple[str, str]]], set[tuple[str, int, int]]]

_SENDERS = {"client": v1.SENDER_CLIENT, "server": v1.SENDER_SERVER}


def recording_paths() -> list[Path]:
    return sorted(shared("traffic").glob("*/*.jsonl"))


def entries_of(path: Path) -> list[Entry]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def linted(entries: Sequence[Entry], version: str, *, partial: bool) -> Findings:
    """Return what `sidecheck lint-messages` finds in *entries*."""
    words = ["lint-messages", "-", "--format", "json", "--min-severity", "info"]
    words += ["--protocol-version", version] * bool(version) + ["--partial"] * partial
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    outcomes = json.loads(CliRunner().invoke(sidecheck, words, input=text).stdout)
    return [
        sorted(
            (violation["code"], violation["instance_location"].removeprefix("/message"))
            for violation in outcome["violations"]
        )
        for outcome in outcomes
    ], {
        (violation["code"], outcome["line"], violation["messages"])
        for outcome in outcomes
        for violation in outcome["violations"]
        if "messages" in violation
    }


def checked(stub: Any, entries: Sequence[Entry], version: str, *, partial: bool) -> Findings:
    """Return what CheckSession finds in *entries*."""
    *responses, last = stub.CheckSession(_requests(entries, version, partial=partial))
    return [
        sorted(
            (violation.code, violation.instance_location)
            for violation in response.outcome.result.verdict.violations
        )
        for response in responses
    ], {
        (repetition.code, repetition.first_item + 1, repetition.count)
        for repetition in last.summary.repeated_violations
    }


def _requests(
    entries: Sequence[Entry], version: str, *, partial: bool
) -> Iterator[v1.CheckSessionRequest]:
    yield v1.CheckSessionRequest(
        defaults=v1.SessionDefaults(
            context=v1.ProtocolContext(protocol_version=version),
            options=v1.CheckOptions(max_violations=100),
            from_beginning=not partial,
        )
    )
    for number, entry in enumerate(entries):
        message = v1.ProtocolMessage(
            json=json.dumps(entry["message"]).encode(),
            sender=_SENDERS.get(entry.get("direction", ""), v1.SENDER_UNSPECIFIED),
        )
        status = entry.get("http", {}).get("status", 0)
        item = v1.SessionItem(id=str(number), message=message, http_status=status)
        yield v1.CheckSessionRequest(item=item)


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ProtocolServiceStub(channel)


def test_recordings_have_the_same_findings(stub: Any) -> None:
    """One of six, as they are."""
    for path in recording_paths()[::6]:
        entries = entries_of(path)
        expected = linted(entries, "", partial=False)
        assert expected == checked(stub, entries, "", partial=False), path.name


@settings(max_examples=100)
@given(
    seed=st.integers(0, 1 << 32),
    version=st.sampled_from(("", *VERSIONS)),
    partial=st.booleans(),
    has_senders=st.booleans(),
)
def test_changed_recordings_have_the_same_findings(
    stub: Any, seed: int, version: str, *, partial: bool, has_senders: bool
) -> None:
    """Some messages are missing, repeated, elsewhere or rejected."""
    chosen = random.Random(seed)
    entries = entries_of(chosen.choice(recording_paths()))
    for _ in range(chosen.randrange(6)):
        index = chosen.randrange(len(entries))
        match chosen.randrange(4):
            case 0 if len(entries) > 1:
                del entries[index]
            case 1:
                entries.insert(chosen.randrange(len(entries)), entries[index])
            case 2:
                entries[index] = {**entries[index], "http": {"status": 401}}
            case _:
                chosen.shuffle(entries)
    if not has_senders:
        entries = [{**entry, "direction": None} for entry in entries]
        entries = [{key: entry[key] for key in entry if key != "direction"} for entry in entries]
    assert linted(entries, version, partial=partial) == checked(
        stub, entries, version, partial=partial
    )
