"""Registration, deletion and lookup of tools, in every kind of registry."""

from collections.abc import Sequence

import pytest
from sidecheck_server.core.types import Document
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import (
    Action,
    Binding,
    BindingResult,
    Definition,
    RegistrationResult,
    RemovalResult,
)

CREATED, CHANGED, UNCHANGED = Action.CREATED, Action.CHANGED, Action.UNCHANGED


def define(
    name: str,
    content: str = "1",
    text: str = "{}",
    documents: tuple[Document, ...] = (),
) -> Definition:
    # A digest has no null character, which PostgreSQL would not store.
    digest = f"{name}:{content}".replace("\0", "null")
    return Definition(digest, name, text.encode(), documents, "in", None, "2025-11-25")


def definitions_of(registry: Registry, server: str) -> list[Definition]:
    """Return the definitions that are bound in the namespace of *server*."""
    return [binding.definition for binding in registry.page(server, None, 1000, 1 << 30)[0]]


# The bindings of the server before each case, made by revision 1.
BEFORE = (define("a", text='{"x":1,"y":2}'), define("b"), define("c"))
REGISTRATIONS = [
    pytest.param(
        [define("d")],
        None,
        RegistrationResult((BindingResult(CREATED, None),), (), 2),
        [*BEFORE, define("d")],
        id="a name that was not bound is created",
    ),
    pytest.param(
        [define("a", "2")],
        None,
        RegistrationResult((BindingResult(CHANGED, "a:1"),), (), 2),
        [define("a", "2"), *BEFORE[1:]],
        id="another digest is a change",
    ),
    pytest.param(
        [define("b"), define("a", text='{"y":2,"x":1}')],
        None,
        RegistrationResult(
            (BindingResult(UNCHANGED, "b:1"), BindingResult(UNCHANGED, "a:1")), (), 1
        ),
        [*BEFORE],
        id="the first text of a digest is kept",
    ),
    pytest.param(
        [define("b", documents=(Document("urn:d", b"{}"),))],
        None,
        RegistrationResult((BindingResult(UNCHANGED, "b:1"),), (), 1),
        [*BEFORE],
        id="the documents of the first text are kept",
    ),
    pytest.param(
        [define("d"), define("d", "2"), define("d", "2", text="[]")],
        None,
        RegistrationResult(
            (
                BindingResult(CREATED, None),
                BindingResult(CHANGED, "d:1"),
                BindingResult(UNCHANGED, "d:2"),
            ),
            (),
            2,
        ),
        [*BEFORE, define("d", "2")],
        id="the last definition of a name is kept",
    ),
    pytest.param(
        [define("b", "2"), define("b", text="[]")],
        None,
        RegistrationResult((BindingResult(CHANGED, "b:1"), BindingResult(CHANGED, "b:2")), (), 2),
        [BEFORE[0], define("b", text="[]"), BEFORE[2]],
        id="a change that is reverted counts as a change",
    ),
    pytest.param(
        [],
        None,
        RegistrationResult((), (), 1),
        [*BEFORE],
        id="an empty registration changes nothing",
    ),
    pytest.param(
        [define("b"), define("d")],
        frozenset[str](),
        RegistrationResult(
            (BindingResult(UNCHANGED, "b:1"), BindingResult(CREATED, None)), ("a", "c"), 2
        ),
        [BEFORE[1], define("d")],
        id="replacing removes the other names",
    ),
    pytest.param(
        [define("b", "2")],
        frozenset({"b", "c", "unknown"}),
        RegistrationResult((BindingResult(CHANGED, "b:1"),), ("a",), 2),
        [define("b", "2"), BEFORE[2]],
        id="replacing retains the names in keep",
    ),
    pytest.param(
        [define("c"), define("a"), define("b")],
        frozenset[str](),
        RegistrationResult(
            (
                BindingResult(UNCHANGED, "c:1"),
                BindingResult(UNCHANGED, "a:1"),
                BindingResult(UNCHANGED, "b:1"),
            ),
            (),
            1,
        ),
        [*BEFORE],
        id="replacing by the same set changes nothing",
    ),
    pytest.param(
        [],
        frozenset[str](),
        RegistrationResult((), ("a", "b", "c"), 2),
        [],
        id="replacing by an empty set removes all",
    ),
]


@pytest.mark.parametrize(("definitions", "keep", "expected", "remaining"), REGISTRATIONS)
def test_a_registration_binds_names_to_definitions(
    registry: Registry,
    definitions: Sequence[Definition],
    keep: frozenset[str] | None,
    expected: RegistrationResult,
    remaining: list[Definition],
) -> None:
    """The result has the outcome of each definition; the namespace has the new bindings."""
    registry.register("s", BEFORE, keep=None)

    assert expected == registry.register("s", definitions, keep=keep)
    assert remaining == definitions_of(registry, "s")
    assert expected.revision == registry.revision
    assert len(remaining) == registry.count()


@pytest.mark.parametrize(("definitions", "keep", "expected", "remaining"), REGISTRATIONS)
def test_a_preview_has_the_outcomes_and_changes_nothing(
    registry: Registry,
    definitions: Sequence[Definition],
    keep: frozenset[str] | None,
    expected: RegistrationResult,
    remaining: list[Definition],
) -> None:
    """A preview returns the outcomes of the registration with the current revision."""
    registry.register("s", BEFORE, keep=None)

    expected = RegistrationResult(expected.bound, expected.removed, revision=1)
    assert expected == registry.preview("s", definitions, keep=keep)
    assert [*BEFORE] == definitions_of(registry, "s")
    assert registry.revision == 1


@pytest.mark.parametrize(
    ("names", "expected", "remaining"),
    [
        pytest.param(["b"], RemovalResult(("b",), (), 2), ["a", "c"], id="one name"),
        pytest.param(None, RemovalResult(("a", "b", "c"), (), 2), [], id="all"),
        pytest.param(
            ["z", "c", "x", "a", "c", "z"],
            RemovalResult(("a", "c"), ("x", "z"), 2),
            ["b"],
            id="some, with unknown and repeated names",
        ),
        pytest.param(["x"], RemovalResult((), ("x",), 1), ["a", "b", "c"], id="only unknown names"),
        pytest.param([], RemovalResult((), (), 1), ["a", "b", "c"], id="none"),
    ],
)
def test_a_removal_returns_removed_and_unknown_names(
    registry: Registry, names: list[str] | None, expected: RemovalResult, remaining: list[str]
) -> None:
    """Bound names are removed; a removal of no bound name keeps the revision."""
    registry.register("s", BEFORE, keep=None)

    assert expected == registry.delete("s", names)
    assert remaining == [definition.name for definition in definitions_of(registry, "s")]
    assert expected.revision == registry.revision


def test_an_unknown_server_has_nothing_to_remove(registry: Registry) -> None:
    """Removing all tools of a server without tools removes none."""
    assert RemovalResult((), (), 0) == registry.delete("s", None)
    assert RemovalResult((), ("a",), 0) == registry.delete("s", ["a"])


def test_servers_have_separate_namespaces(registry: Registry) -> None:
    """Replacing, removing and changing tools of one server leaves other servers unchanged."""
    registry.register("other", BEFORE, keep=None)
    registry.register("s", BEFORE, keep=None)
    registry.register("s", [define("a", "2")], keep=frozenset())
    registry.delete("s", None)

    assert [*BEFORE] == definitions_of(registry, "other")
    assert registry.find("s", "a") is None
    assert Binding("other", BEFORE[0], 1) == registry.find("other", "a")


def test_a_binding_has_the_revision_that_created_it(registry: Registry) -> None:
    """Registering the same digest again, or another name, keeps a binding's revision."""
    registry.register("s", [define("a")], keep=None)
    registry.register("s", [define("a", text="[]"), define("b")], keep=None)
    registry.register("s", [define("b", "2")], keep=None)

    assert Binding("s", define("a"), 1) == registry.find("s", "a")
    assert Binding("s", define("b", "2"), 3) == registry.find("s", "b")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param("a\0b", id="with a null"),
        pytest.param("A", id="of another case"),
        pytest.param("a\u0308", id="decomposed"),
        pytest.param("\U0001f9f0", id="outside the basic multilingual plane"),
        pytest.param("'; DROP TABLE tool; --", id="with SQL"),
        pytest.param("n" * 100_000, id="very long"),
    ],
)
def test_names_are_compared_by_code_point(registry: Registry, name: str) -> None:
    """Names and servers are returned as they were registered."""
    registry.register("s", [define("a"), define("ä")], keep=None)
    registry.register(name, [define(name)], keep=None)

    assert Binding(name, define(name), 2) == registry.find(name, name)
    assert registry.find("s", name) is None
    assert RemovalResult((name,), (), 3) == registry.delete(name, None)


def test_a_name_with_a_lone_surrogate_rolls_back(registry: Registry) -> None:
    """A lone surrogate has no UTF-8 encoding; the whole transaction is rolled back."""
    registry.register("s", [define("a")], keep=None)
    with pytest.raises(ValueError, match="surrogates not allowed"):
        registry.register("s", [define("b"), define("\ud800")], keep=frozenset())

    assert [define("a")] == definitions_of(registry, "s")
    assert registry.revision == 1
    assert RegistrationResult((BindingResult(CREATED, None),), (), 2) == registry.register(
        "s", [define("c")], keep=None
    )


def test_a_closed_registry_can_still_be_read(registry: Registry) -> None:
    """Lookups are served from memory after close; closing is idempotent."""
    registry.register("s", [define("a")], keep=None)
    registry.close()
    registry.close()

    assert Binding("s", define("a"), 1) == registry.find("s", "a")
