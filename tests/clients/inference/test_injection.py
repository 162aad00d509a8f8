"""Injected parameters, which no argument of a call reaches."""

import os
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
from sidecheck.inference.injection import _providers, find_project_root

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
def test_an_injected_parameter_is_not_an_argument(
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
    """Injected type of another name than `AContext`."""


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
def test_a_context_of_a_framework_is_not_an_argument(expected: list[str], annotation: Any) -> None:
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
        ([True, "provided", find_project_root(), "git", {}], {}),
        ([True, "provided", Path("r"), "git", {}], {Path: Path("r"), SettingSource: {}}),
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


REMEDY = (
    "; register how to make it once with injectable({0}, provider), pass resources that resolve"
    " {0} to call_tool, or pass the parameter in a call of the function"
)


class Settings:
    """Settings, injected by the name of the class."""


class ConfigPaths:
    """Paths, injected by the name of the class."""


def with_settings(x: int, settings: Settings) -> Any:
    return settings


def with_paths(x: int, paths: ConfigPaths) -> Any:
    return paths


@pytest.mark.parametrize(
    ("expected", "function", "options"),
    [
        (
            "nothing provides parameter 'settings' of type Settings" + REMEDY.format("Settings"),
            with_settings,
            {},
        ),
        (
            "nothing provides parameter 'paths' of type ConfigPaths" + REMEDY.format("ConfigPaths"),
            with_paths,
            {},
        ),
        (
            (
                "nothing provides parameter 'git_path', the setting 'git.path'"
                + REMEDY.format("SettingSource")
                + ", where the source of settings has a method get(name)"
            ),
            with_setting,
            {"inject_settings": ["git.path"]},
        ),
    ],
)
def test_a_parameter_without_a_provider_is_an_error(
    expected: str, function: Callable[..., Any], options: dict[str, Any]
) -> None:
    """The message says how to provide it, in a call of the function too."""
    tool_function = infer_tool(function, **options)
    with pytest.raises(NotProvided) as by_name:
        call_tool(tool_function, {"x": 1})
    with pytest.raises(NotProvided) as in_python:
        tool_function(1)
    assert [expected, expected] == [str(by_name.value), str(in_python.value)]


def test_a_call_in_python_is_injected_too() -> None:
    """Arguments of the call take precedence; the other arguments are validated."""
    injectable(Settings, Settings)
    injectable(SettingSource, lambda: {"git.path": "/bin/git"})
    root = find_project_root()
    try:
        assert [True, "provided", root, "/bin/git", {"a": "b"}] == status(True, a="b")  # type: ignore[call-arg]
        assert [True, "own", Path("r"), "g", {}] == status(
            True, Database("own"), Path("r"), git_path="g"
        )
        assert isinstance(infer_tool(with_settings)(1), Settings)
        with pytest.raises(InvalidArguments, match="/short: Input should be a valid boolean"):
            status("yes")  # type: ignore[arg-type, call-arg]
        with pytest.raises(TypeError, match="missing a required argument: 'short'"):
            status()  # type: ignore[call-arg]
    finally:
        _providers.clear()
        injectable(Database, Database)


async def test_a_coroutine_function_is_injected_too() -> None:
    @tool
    async def name(x: int, db: Database) -> str:
        return db.name

    assert "provided" == await name(1)  # type: ignore[call-arg]


def test_the_root_is_the_nearest_folder_with_a_project_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search goes upward from the working directory; the annotation may require text."""

    @tool(inject_root=True)
    def root(project_root: Path) -> Path:
        return project_root

    @tool(inject_root=True)
    def text(project_root: str) -> str:
        return project_root

    @tool(inject_root=True)
    def optional(project_root: Path | None = None) -> Path | None:
        return project_root

    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    monkeypatch.setattr(Path, "exists", lambda path: path.is_relative_to(tmp_path) and _is(path))
    with pytest.raises(NotProvided, match=r"no folder from .*inner upward has one of pyproject"):
        root()  # type: ignore[call-arg]
    assert None is optional()
    (tmp_path / "pyproject.toml").touch()
    assert tmp_path == root() == call_tool(root, {}) == optional()  # type: ignore[call-arg]
    (tmp_path / "outer" / "package.json").touch()
    assert str(tmp_path / "outer") == text() == call_tool(text, {})  # type: ignore[call-arg]


def _is(path: Path) -> bool:
    return os.path.lexists(path)


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
