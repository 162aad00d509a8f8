"""Registries that follow each other's changes through one database."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sidecheck_server.registry import BindingsChanged
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Change
from sidecheck_server.registry.postgres import registry, statements
from sidecheck_server.registry.postgres.connection import Connection
from sidecheck_server.registry.postgres.steps import Head, RegistryReloaded
from support.definitions import define_tool
from support.registry_replicas import Replicas, wait_until

A, B, C = map(define_tool, "abc")


def follow(changes: list[Change]) -> Catalogue:
    """Return what somebody has who applies *changes*."""
    catalogue = Catalogue()
    for change in changes:
        catalogue = catalogue.with_change(change)
    return catalogue


def test_concurrent_writers_of_three_replicas(replicas: Replicas) -> None:
    """Each replica shows every change once, in the order of revisions, without gaps."""
    three = [replicas.open() for _ in range(3)]
    barrier = Barrier(6)

    def write(writer: int) -> list[int]:
        barrier.wait()
        server = f"s{writer % 2}"
        return [
            three[writer % 3]
            .register(server, [define_tool(f"t{writer}-{number}")], keep=None)
            .revision
            for number in range(20)
        ]

    with ThreadPoolExecutor(6) as threads:
        acknowledged = [
            revision for revisions in threads.map(write, range(6)) for revision in revisions
        ]
    replicas.await_equality(*three)

    assert sorted(acknowledged) == list(range(1, 121))
    assert [120] * 3 == [replica.count() for replica in three]
    for replica in three:
        changes = replicas.changes[replica]
        assert [change.revision for change in changes] == list(range(1, 121))
        assert follow(changes).page(None, None, 999, 1 << 30) == replica.page(
            None, None, 999, 1 << 30
        )
    assert replicas.events == []


def test_what_is_expected_holds_across_replicas(replicas: Replicas) -> None:
    """Of concurrent increments, each starts from the result of another."""
    pair = [replicas.open(), replicas.open()]
    pair[0].register("s", [define_tool("n", {"description": "0"})], keep=None)
    wait_until(lambda: pair[1].revision)

    def count(replica: int) -> None:
        for _ in range(15):
            while True:
                binding = pair[replica].find("s", "n")
                assert binding is not None
                expected = binding.definition
                number = int(expected.json.decode().split('"description": "')[1].split('"')[0])
                following = define_tool("n", {"description": str(number + 1)})
                try:
                    pair[replica].register(
                        "s", [following], keep=None, expected={"n": expected.digest}
                    )
                except BindingsChanged:
                    continue
                break

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, (0, 1, 0, 1)))
    replicas.await_equality(*pair)
    binding = pair[0].find("s", "n")

    assert binding is not None
    assert b'"description": "60"' in binding.definition.json
    assert pair[0].revision == 61


def test_a_writer_sees_earlier_commits(replicas: Replicas) -> None:
    """Its plan is checked against commits that it has not followed yet."""
    writer, reader = replicas.open(tools=2), replicas.open(tools=2)
    writer.register("s", [A, B], keep=None)
    assert reader.delete("s", ["a", "x"]).deleted == ("a",)
    assert writer.register("s", [A], keep=None).revision == 3
    assert reader.register("s", [C], keep=frozenset()).removed == ("a", "b")

    assert reader.page(None, None, 9, 999)[0][0].definition == C


def test_notifications_are_only_a_hint(replicas: Replicas, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicas also poll, so a missed notification loses no change."""
    follower = replicas.open()
    monkeypatch.setattr(statements, "CHANNEL", "elsewhere")
    writer = replicas.open()
    writer.register("s", [A], keep=None)
    wait_until(lambda: follower.revision == 1)

    assert follower.find("s", "a") == writer.find("s", "a")


def test_the_changes_before_the_opening_are_known(replicas: Replicas) -> None:
    """They include unbound definitions; later changes lead to the present contents."""
    first = replicas.open()
    first.register("s", [A, B], keep=None)
    first.register("s", [define_tool("a", {"description": "2"})], keep=frozenset({"b"}))
    first.register("t", [C], keep=None)
    first.delete("s", ["b"])
    second = replicas.open()

    second.register("t", [A], keep=None)
    history = list(second.take_history())

    # It may follow the fifth already.
    assert replicas.changes[first][:4] == history[:4]
    assert replicas.changes[second] == history[4:]
    assert follow(history).page(None, None, 9, 999) == second.page(None, None, 9, 999)
    assert second.take_history() == ()


def test_a_registry_is_read_as_of_one_moment(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A concurrent write is not in it, and is followed afterwards."""
    writer = replicas.open()
    writer.register("s", [A], keep=None)
    read_head = statements.read_head
    is_written: list[bool] = []

    def read_head_then_write(
        connection: Connection, term: str, *, lock: bool = False
    ) -> Head | None:
        head = read_head(connection, term, lock=lock)
        if not is_written:
            is_written.append(True)
            writer.register("s", [B], keep=None)
        return head

    monkeypatch.setattr(statements, "read_head", read_head_then_write)
    opened = replicas.open()

    assert [1] == [change.revision for change in opened.take_history()]
    replicas.await_equality(writer, opened)
    assert (2, 2) == (opened.revision, opened.count())


@pytest.mark.parametrize(
    ("steps", "seconds", "bytes_", "retained"),
    [
        pytest.param(5, 3600, 1 << 20, 5, id="changes"),
        pytest.param(100, 1e-6, 1 << 20, 1, id="age"),
        pytest.param(100, 3600, 3 * 49, 3, id="bytes"),
        pytest.param(100, 3600, 1 << 20, 16, id="all"),
    ],
)
def test_the_history_is_bounded(
    replicas: Replicas,
    monkeypatch: pytest.MonkeyPatch,
    steps: int,
    seconds: float,
    bytes_: int,
    retained: int,
) -> None:
    """Number, age and bytes are limited; the last change always stays."""
    monkeypatch.setattr(registry, "_MOST_STEPS", steps)
    writer = replicas.open(seconds, bytes=bytes_)
    for number in range(16):
        writer.register("s", [define_tool("a", spaces=1)], keep=frozenset())
        if number % 2:
            writer.register("s", [define_tool("b")], keep=frozenset())
        if writer.revision == 16:
            break
    late = replicas.open()
    changes = late.take_history()

    assert list(range(17 - retained, 17)) == [change.revision for change in changes]
    assert all(change.bound for change in changes)
    rows = replicas.execute("SELECT count(*) FROM sidecheck.tool")
    assert rows in ([(retained,)], [(retained + 1,)])


def test_a_replica_that_was_away_for_longer_than_the_history(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads everything; those who follow it get the difference, and are equal then."""
    late = replicas.open()
    writer = replicas.open()
    writer.register("gone", [A], keep=None)
    writer.register("kept", [A], keep=None)
    wait_until(lambda: late.revision == 2)
    with late._exclusively():
        monkeypatch.setattr(registry, "_MOST_STEPS", 1)
        late._follower.stop(60)
        writer.delete("gone", None)
        for number in range(14):
            writer.register("s", [define_tool("b", {"description": str(number)})], keep=None)
    assert (writer.revision, late.revision) == (17, 2)
    late.register("mine", [C], keep=None)

    replicas.await_equality(writer, late)
    assert [event for event in replicas.events if isinstance(event, RegistryReloaded)] == [
        RegistryReloaded(2, 17)
    ]
    assert late.reloads == 1
    changes = replicas.changes[late]
    assert [(change.revision, change.server, change.is_reload) for change in changes[2:]] == [
        (17, "gone", True),
        (17, "s", True),
        (18, "mine", False),
    ]
    assert follow(changes).page(None, None, 9, 999) == late.page(None, None, 9, 999)
