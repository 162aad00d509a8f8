"""Parameters that the server fills in, and that no argument reaches."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import pytest
from pydantic import BaseModel
from sidecheck.inference import (
    Injected,
    InvalidArguments,
    NotProvided,
    SettingSource,
    call_tool,
    infer_tool,
    injectable,
    tool,
    tool_config,
    tool_definition,
    validate_arguments,
)

if TYPE_CHECKING:
    from nowhere import Context  # type: ignore[import-not-found]

T = TypeVar("T")


class Database:
    """What a server has."""

    def __init__(self, name: str = "provided") -> None:
        self.name = name


class Replica(Database):
    """Another of its kind."""


class Session(Generic[T]):
    """Known only where it is named."""


injectable(Database, Database)


@dataclass
class Shelf:
    """Resources by type."""

    holds: dict[type, Any]

    def resolve(self, wanted: type[Any], /) -> Any:
        return self.holds[wanted]


def in_context(x: int, ctx: "Context[int]") -> None: ...
def by_type(x: int, db: Database) -> None: ...
def by_kind(x: int, db: Replica | None = None) -> None: ...
def by_mark(x: int, s: Annotated[Session[int], Injected]) -> None: ...
def by_default(x: int, s: Session[int] = Injected()) -> None: ...  # noqa: B008  (what is tested)
def named(x: int, s: Session[int]) -> None: ...
def rooted(x: int, project_root: Path) -> None: ...
def settled(x: int, git_path: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (in_context, {}),
        (by_type, {}),
        (by_kind, {}),
        (by_mark, {}),
        (by_default, {}),
        (named, {"injected": ["s"]}),
        (named, {"injected": [Session]}),
        (rooted, {"inject_root": True}),
        (settled, {"inject_settings": ["git.path"]}),
    ],
)
def test_what_the_server_fills_in_is_no_argument(
    function: Callable[..., Any], options: dict[str, Any]
) -> None:
    made = infer_tool(function, **options)
    schema = tool_definition(made)["inputSchema"]
    assert (["x"], ["x"]) == (list(schema["properties"]), schema["required"])
    (name,) = tool_config(made).injected
    with pytest.raises(InvalidArguments) as caught:
        validate_arguments(made, {"x": 1, name: 2})
    assert [f"/{name}"] == [one.pointer for one in caught.value.violations]


def test_without_being_asked_nothing_is_filled_in() -> None:
    assert ["x", "project_root"] == list(
        tool_definition(infer_tool(rooted))["inputSchema"]["properties"]
    )
    with pytest.raises(TypeError, match="UNSUPPORTED_TYPE"):
        infer_tool(by_type, autowire=False)


@pytest.mark.parametrize(("expected", "module"), [(["x", "c"], "shop"), (["x"], "mcp.server")])
def test_a_model_called_context_is_an_argument_unless_a_framework_has_it(
    expected: list[str], module: str
) -> None:
    model = type("Context", (BaseModel,), {"__module__": module, "__annotations__": {"n": int}})

    def take(x: int, c: Any) -> None: ...

    take.__annotations__["c"] = model
    assert expected == list(tool_definition(infer_tool(take))["inputSchema"]["properties"])


class AContext(BaseModel, Generic[T]):
    """What a framework has, once it says so."""


class ARequest(BaseModel):
    """As `AContext`."""


for _each in (AContext, ARequest):
    _each.__module__, _each.__name__ = "mcp.server", _each.__name__.removeprefix("A")


class OwnContext(AContext[int]):
    """One under it."""


class OwnRequest(ARequest):
    """Protocols call data so."""


@pytest.mark.parametrize(
    ("expected", "annotation"),
    [
        (["x"], AContext[int]),
        (["x"], AContext[int] | None),
        (["x"], OwnContext),
        (["x"], ARequest),
        (["x", "c"], OwnRequest),
    ],
)
def test_a_framework_s_context_is_no_argument(expected: list[str], annotation: Any) -> None:
    """With parameters too, and classes under it."""

    def take(x: int, c: Any) -> None: ...

    take.__annotations__["c"] = annotation
    assert expected == list(tool_definition(infer_tool(take))["inputSchema"]["properties"])


@tool(inject_root=True, inject_settings=["git.path"], validate=True)
def status(
    short: bool, db: Database, project_root: Path, git_path: str = "git", **more: str
) -> list[Any]:
    """Tell what it was called with."""
    return [short, db.name, project_root, git_path, more]


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ([True, "provided", Path("r"), "git", {}], {Path: Path("r")}),
        ([True, "own", Path("r"), "git", {}], {Path: Path("r"), Database: Database("own")}),
        (
            [True, "provided", Path("r"), "/bin/git", {}],
            {Path: Path("r"), SettingSource: {"git.path": "/bin/git"}},
        ),
    ],
)
def test_resources_come_first_then_providers_then_defaults(
    expected: Any, holds: dict[type, Any]
) -> None:
    assert expected == call_tool(status, {"short": True}, resources=Shelf(holds))


def test_what_nothing_provides_is_told() -> None:
    with pytest.raises(NotProvided, match="nothing provides 'project_root', of type Path"):
        call_tool(status, {"short": True})


@pytest.mark.parametrize("validate", [True, False])
def test_no_argument_reaches_what_the_server_fills_in(validate: bool) -> None:
    """Not even through ``**kwargs``, and where the function has a default."""

    def read(path: str = "safe", **more: str) -> list[Any]:
        return [path, more]

    made = infer_tool(read, injected=["path"], validate=validate)
    sent = {"path": "/etc", "other": "o"}
    if validate:
        with pytest.raises(InvalidArguments, match="/path: no argument is called so"):
            call_tool(made, sent)
    else:
        assert ["safe", {"other": "o"}] == call_tool(made, sent)
        assert ["own", {"other": "o"}] == call_tool(made, sent, resources=Shelf({str: "own"}))
