"""Lookups by digest, in a file and in memory."""

from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import (
    Action,
    Binding,
    BindingResult,
    Definition,
    RegistrationResult,
)


def define(
    name: str,
    content: str = "1",
    text: str = "{}",
    inputs: str = "in",
    outputs: str | None = None,
) -> Definition:
    return Definition(f"{name}:{content}", name, text.encode(), (), inputs, outputs, "2025-11-25")


def test_every_server_keeps_its_own_text(registry: Registry) -> None:
    """Texts of one digest that two servers registered are both stored verbatim."""
    first, second = define("a", text='{"x":1,"y":2}'), define("a", text='{"y":2,"x":1}')
    registry.register("mine", [first], keep=None)

    assert RegistrationResult((BindingResult(Action.CREATED, None),), (), 2) == registry.register(
        "theirs", [second], keep=None
    )
    assert Binding("mine", first, 1) == registry.find("mine", "a")
    assert Binding("theirs", second, 2) == registry.find("theirs", "a")


def test_a_digest_resolves_to_its_oldest_text(registry: Registry) -> None:
    """After the removal of the oldest binding, the next oldest is returned."""
    first, second, third = (define("a", text=text) for text in ("[1]", "[2]", "[3]"))
    registry.register("z", [first], keep=None)
    registry.register("b", [second], keep=None)
    registry.register("a", [third], keep=None)
    bindings = [registry.bound_to("a:1")]
    for server in ("z", "b", "a"):
        registry.delete(server, None)
        bindings.append(registry.bound_to("a:1"))

    assert [
        Binding("z", first, 1),
        Binding("b", second, 2),
        Binding("a", third, 3),
        None,
    ] == bindings
    assert registry.bound_to("a:2") is None


def test_an_unbound_definition_is_dropped(registry: Registry) -> None:
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


def test_a_schema_resolves_to_its_oldest_definition(registry: Registry) -> None:
    """The result names the side of the schema; the input takes precedence."""
    produces = define("p", inputs="none", outputs="shape")
    accepts = define("a", inputs="shape")
    both = define("b", inputs="shape", outputs="shape")
    registry.register("z", [produces], keep=None)
    registry.register("s", [both, accepts], keep=None)
    results = [registry.schema("shape")]
    for server, name in (("z", "p"), ("s", "a"), ("s", "b")):
        registry.delete(server, [name])
        results.append(registry.schema("shape"))

    assert [(produces, "output"), (accepts, "input"), (both, "input"), None] == results


def test_equal_definitions_are_stored_once(registry: Registry) -> None:
    """Servers with equal tools share one definition in memory."""
    for server in ("a", "b", "c"):
        registry.register(server, [define("tool", text="[1, 2]")], keep=None)
    bindings, _ = registry.page(None, None, 10, 1000)

    assert len({id(binding.definition) for binding in bindings}) == 1
