"""Lookups by digest, in a file and in memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import (
    Action,
    Binding,
    Bound,
    Definition,
    Registered,
)
from sidecheck_server.registry.sqlite import open_registry


def define(
    name: str,
    content: str = "1",
    text: str = "{}",
    inputs: str = "in",
    outputs: str | None = None,
) -> Definition:
    return Definition(f"{name}:{content}", name, text.encode(), (), inputs, outputs)


@pytest.fixture(params=["file", "memory"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Registry]:
    opened = open_registry(tmp_path / "registry.db" if request.param == "file" else None)
    yield opened
    opened.close()


def test_every_server_gets_its_own_bytes_back(registry: Registry) -> None:
    """Texts of one digest that two servers registered are both kept as they were sent."""
    mine, theirs = define("a", text='{"x":1,"y":2}'), define("a", text='{"y":2,"x":1}')
    registry.register("mine", [mine], keep=None)

    assert Registered((Bound(Action.CREATED, None),), (), 2) == registry.register(
        "theirs", [theirs], keep=None
    )
    assert Binding("mine", mine, 1) == registry.find("mine", "a")
    assert Binding("theirs", theirs, 2) == registry.find("theirs", "a")


def test_a_digest_stands_for_its_oldest_text(registry: Registry) -> None:
    """Of several texts the first bound answers, and the next one once that is gone."""
    first, second, third = (define("a", text=text) for text in ("[1]", "[2]", "[3]"))
    registry.register("z", [first], keep=None)
    registry.register("b", [second], keep=None)
    registry.register("a", [third], keep=None)
    answers = [registry.bound_to("a:1")]
    for server in ("z", "b", "a"):
        registry.delete(server, None)
        answers.append(registry.bound_to("a:1"))

    assert [
        Binding("z", first, 1),
        Binding("b", second, 2),
        Binding("a", third, 3),
        None,
    ] == answers
    assert registry.bound_to("a:2") is None


def test_a_definition_lasts_as_long_as_a_name_is_bound_to_it(registry: Registry) -> None:
    """Rebinding or removing the last name of a definition drops it and its schemas."""
    registry.register("s", [define("a", inputs="in", outputs="out")], keep=None)
    registry.register("t", [define("a", inputs="in", outputs="out")], keep=None)
    registry.delete("s", ["a"])
    assert Binding("t", define("a", inputs="in", outputs="out"), 2) == registry.bound_to("a:1")

    registry.register("t", [define("a", "2", inputs="other")], keep=None)
    assert registry.bound_to("a:1") is None
    assert registry.schema("in") is None
    assert registry.schema("out") is None
    assert Binding("t", define("a", "2", inputs="other"), 4) == registry.bound_to("a:2")


def test_a_schema_leads_to_the_oldest_definition_that_has_it(registry: Registry) -> None:
    """Which of the two schemas it is goes by the definition; the input comes first."""
    produces = define("p", inputs="none", outputs="shape")
    accepts = define("a", inputs="shape")
    both = define("b", inputs="shape", outputs="shape")
    registry.register("z", [produces], keep=None)
    registry.register("s", [both, accepts], keep=None)
    answers = [registry.schema("shape")]
    for server, name in (("z", "p"), ("s", "a"), ("s", "b")):
        registry.delete(server, [name])
        answers.append(registry.schema("shape"))

    assert [(produces, "output"), (accepts, "input"), (both, "input"), None] == answers


def test_equal_definitions_are_kept_once(registry: Registry) -> None:
    """Servers that offer the very same tool share one definition in memory."""
    for server in ("a", "b", "c"):
        registry.register(server, [define("tool", text="[1, 2]")], keep=None)
    bindings, _ = registry.page(None, None, 10, 1000)

    assert len({id(binding.definition) for binding in bindings}) == 1
