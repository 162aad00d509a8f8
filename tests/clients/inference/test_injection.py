"""Injected parameters, which no argument of a call reaches."""

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
    """A resource of the server."""

    def __init__(self, name: str = "provided") -> None:
        self.name = name


class Replica(Database):
    """A derived resource."""


class Session(Generic[T]):
    """Injected only where it is marked or listed."""


injectable(Database, Database)


@dataclass
class StaticResources:
    """Resources by type."""

    by_type: dict[type, Any]

    def resolve(self, resource_type: type[Any], /) -> Any:
        return self.by_type[resource_type]


def with_context(x: int, ctx: "Context[int]") -> None: ...
def by_type(x: int, db: Database) -> None: ...
def by_derived_type(x: int, db: Replica | None = None) -> None: ...
def by_marker(x: int, s: Annotated[Session[int], Injected]) -> None: ...
def by_default(x: int, s: Session[int] = Injected()) -> None: ...  # noqa: B008  (subject of the test)
def by_option(x: int, s: Session[int]) -> None: ...
def with_root(x: int, project_root: Path) -> None: ...
def with_setting(x: int, git_path: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (with_context, {}),
        (by_type, {}),
        (by_derived_type, {}),
        (by_marker, {}),
        (by_default, {}),
        (by_option, {"injected": ["s"]}),
        (by_option, {"injected": [Session]}),
        (with_root, {"inject_root": True}),
        (with_setting, {"inject_settings": ["git.path"]}),
    ],
)
def test_an_injected_parameter_is_no_argument(
    function: Callable[..., Any], options: dict[str, Any]
) -> None:
    tool_function = infer_tool(function, **options)
    schema = tool_definition(tool_function)["inputSchema"]
    assert (["x"], ["x"]) == (list(schema["properties"]), schema["required"])
    (name,) = tool_config(tool_function).injected
    with pytest.raises(InvalidArguments) as caught:
        validate_arguments(tool_function, {"x": 1, name: 2})
    assert [f"/{name}"] == [violation.instance_location for violation in caught.value.violations]


def test_injection_depends_on_the_options() -> None:
    assert ["x", "project_root"] == list(
        tool_definition(infer_tool(with_root))["inputSchema"]["properties"]
    )
    with pytest.raises(TypeError, match="UNSUPPORTED_TYPE"):
        infer_tool(by_type, autowire=False)


@pytest.mark.parametrize(("expected", "module"), [(["x", "c"], "shop"), (["x"], "mcp.server")])
def test_a_model_called_context_is_an_argument_unless_a_framework_defines_it(
    expected: list[str], module: str
) -> None:
    model = type("Context", (BaseModel,), {"__module__": module, "__annotations__": {"n": int}})

    def take(x: int, c: Any) -> None: ...

    take.__annotations__["c"] = model
    assert expected == list(tool_definition(infer_tool(take))["inputSchema"]["properties"])


class AContext(BaseModel, Generic[T]):
    """Becomes a class of a framework below."""


class ARequest(BaseModel):
    """As `AContext`."""


for _class in (AContext, ARequest):
    _class.__module__, _class.__name__ = "mcp.server", _class.__name__.removeprefix("A")


class OwnContext(AContext[int]):
    """A derived context."""


class OwnRequest(ARequest):
    """A derived request, which is data in protocols."""


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
def test_a_context_of_a_framework_is_no_argument(expected: list[str], annotation: Any) -> None:
    """This includes generic and derived contexts."""

    def take(x: int, c: Any) -> None: ...

    take.__annotations__["c"] = annotation
    assert expected == list(tool_definition(infer_tool(take))["inputSchema"]["properties"])


@tool(inject_root=True, inject_settings=["git.path"], validate=True)
def status(
    short: bool, db: Database, project_root: Path, git_path: str = "git", **more: str
) -> list[Any]:
    """Return the arguments of the call."""
    return [short, db.name, project_root, git_path, more]


@pytest.mark.parametrize(
    ("expected", "resources"),
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
    expected: Any, resources: dict[type, Any]
) -> None:
    assert expected == call_tool(status, {"short": True}, resources=StaticResources(resources))


def test_a_parameter_without_a_provider_is_an_error() -> None:
    with pytest.raises(NotProvided, match="nothing provides parameter 'project_root' of type Path"):
        call_tool(status, {"short": True})


@pytest.mark.parametrize("validate", [True, False])
def test_no_argument_reaches_an_injected_parameter(validate: bool) -> None:
    """This includes ``**kwargs`` and parameters with a default."""

    def read(path: str = "safe", **more: str) -> list[Any]:
        return [path, more]

    tool_function = infer_tool(read, injected=["path"], validate=validate)
    arguments = {"path": "/etc", "other": "o"}
    if validate:
        with pytest.raises(InvalidArguments, match="/path: unknown argument"):
            call_tool(tool_function, arguments)
    else:
        assert ["safe", {"other": "o"}] == call_tool(tool_function, arguments)
        assert ["own", {"other": "o"}] == call_tool(
            tool_function, arguments, resources=StaticResources({str: "own"})
        )
