"""Changes that a registry sends, and changes with expected bindings."""

import pytest
from sidecheck_server.registry import BindingsChanged, Expected, Registry
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Binding, Change, Definition


def define(name: str, content: str = "1") -> Definition:
    return Definition(f"{name}:{content}", name, b"{}", (), f"in:{content}", None, "2025-11-25")


A, B, CHANGED = define("a"), define("b"), define("a", "2")


def test_observers_receive_every_change_in_order(registry: Registry) -> None:
    """Reads see a change before; transactions without changes are not sent."""
    received: list[tuple[int, Change]] = []
    registry.subscribe(lambda change: received.append((registry.revision, change)))
    registry.register("s", [B, A], keep=None)
    registry.register("s", [A], keep=None)
    registry.register("s", [CHANGED], keep=frozenset())
    registry.register("other", [A, CHANGED], keep=None)
    registry.delete("s", ["a", "unknown"])
    registry.delete("s", None)

    assert received == [
        (1, Change(1, "s", (), (Binding("s", A, 1), Binding("s", B, 1)))),
        (2, Change(2, "s", ("b",), (Binding("s", CHANGED, 2),))),
        (3, Change(3, "other", (), (Binding("other", CHANGED, 3),))),
        (4, Change(4, "s", ("a",), ())),
    ]


def test_changes_lead_to_the_same_catalogue(registry: Registry) -> None:
    """A copy that applies them equals the registry."""
    follower = [Catalogue()]
    registry.subscribe(lambda change: follower.append(follower[-1].with_change(change)))
    registry.register("s", [A, B], keep=None)
    registry.register("t", [A], keep=None)
    registry.register("s", [CHANGED], keep=frozenset())
    registry.delete("t", None)
    latest = follower[-1]

    assert (4, 1, 1) == (latest.revision, latest.count, latest.server_count)
    assert registry.page(None, None, 9, 999) == latest.page(None, None, 9, 999)
    assert (None, None) == (latest.bound_to(A.digest), latest.schema("in:1"))


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param({"a": CHANGED.digest}, id="another definition"),
        pytest.param({"a": None}, id="none, and there is one"),
        pytest.param({"b": B.digest}, id="one, and there is none"),
        pytest.param({"a": A.digest, "b": B.digest}, id="one of two"),
    ],
)
def test_a_registration_that_expects_other_bindings(registry: Registry, expected: Expected) -> None:
    """It changes nothing."""
    registry.register("s", [A], keep=None)
    with pytest.raises(BindingsChanged):
        registry.register("s", [CHANGED, B], keep=None, expected=expected)

    assert (1, A) == (registry.revision, getattr(registry.find("s", "a"), "definition", None))


def test_a_registration_with_an_expected_binding(registry: Registry) -> None:
    """It takes effect."""
    registry.register("s", [A], keep=None)
    registry.register("s", [CHANGED, B], keep=None, expected={"a": A.digest, "b": None})

    assert [CHANGED, B] == [tool.definition for tool in registry.page("s", None, 9, 999)[0]]
