"""Conversions of files of tool definitions, offline: each tool is converted or refused."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sidecheck_server.cli.listings import list_or_exit
from sidecheck_server.cli.progress import with_progress
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.converted import ConvertedTool, converted
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.names import Named, tool_names
from sidecheck_server.core.convert.requests import reasons_against_strict, request_problems
from sidecheck_server.core.convert.tools import form_of
from sidecheck_server.core.convert.words import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import (
    ToolDefinition,
    decoded_tool,
    name_of,
    read_tool,
)
from sidecheck_server.core.payload import MalformedError
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.words import Document, Verdict

__all__ = ["Conversion", "Conversions", "convert_files"]

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of one tool."""

    #: The file that it comes from, as it was named.
    file: str
    #: Its own name, or "" if that cannot be read.
    name: str
    outcome: ConvertedTool | Refusal


@dataclass(frozen=True, slots=True)
class Conversions:
    """What became of all of them."""

    api: Api
    #: In the order of the files.
    tools: tuple[Conversion, ...]
    #: What is wrong with those that were converted as one request.
    request: Verdict

    @property
    def ok(self) -> bool:
        """Whether all were converted, and one request takes them."""
        return self.request.valid and len(self.converted) == len(self.tools)

    @property
    def converted(self) -> list[ConvertedTool]:
        """Those that were converted."""
        outcomes = (one.outcome for one in self.tools)
        return [outcome for outcome in outcomes if isinstance(outcome, ConvertedTool)]


@dataclass(frozen=True, slots=True)
class _Read:
    """A definition of a file, or why it is none."""

    file: str
    tool: Named
    definition: ToolDefinition | Refusal


def convert_files(
    texts: Sequence[tuple[str, bytes]],
    key: ModelApi,
    options: ConversionOptions,
    server: str,
    documents: tuple[Document, ...],
) -> Conversions:
    """Convert the tools of *texts*, names and contents of files, that *server* offers.

    Raises:
        click.ClickException: a file lists no tools; the command exits with 2.
    """
    api = APIS[key]
    tools = _without_doubles([one for text in texts for one in _read(*text, server, documents)])
    forms = [_form(one, api, options) for one in with_progress(tools, len(tools), "Converting")]
    reasons = [""] * len(tools)
    if options.mode is Mode.STRICT_IF_LOSSLESS:
        reasons = _reasons(forms, api)
        compatible = replace(options, mode=Mode.COMPATIBLE)
        forms = [
            _form(one, api, compatible) if why_not else form
            for one, form, why_not in zip(tools, forms, reasons, strict=True)
        ]
    named = [one.tool for one in tools if isinstance(one.definition, ToolDefinition)]
    names = dict(zip(named, tool_names(named, api.names, options.server_prefix), strict=True))
    done = [
        Conversion(
            one.file,
            one.tool.name,
            form
            if isinstance(form, Refusal)
            else converted(form, one.tool, names[one.tool], api, why_not),
        )
        for one, form, why_not in zip(tools, forms, reasons, strict=True)
    ]
    return Conversions(api, tuple(done), request_problems(_made(forms), api))


def _read(file: str, text: bytes, server: str, documents: tuple[Document, ...]) -> Iterator[_Read]:
    for tool in list_or_exit(file, text, _LIMITS):
        try:
            definition = read_tool(tool.json, documents, _LIMITS)
        except Refusal as refusal:
            yield _Read(file, Named(server, _name(tool.json)), refusal)
        else:
            yield _Read(file, Named(server, definition.name), definition)


def _name(text: bytes) -> str:
    try:
        return name_of(decoded_tool(text, _LIMITS))
    except (MalformedError, Refusal):
        return ""


def _without_doubles(tools: Sequence[_Read]) -> list[_Read]:
    """Return *tools* with a refusal of each that has the name of a later one."""
    last = {
        one.tool: place
        for place, one in enumerate(tools)
        if isinstance(one.definition, ToolDefinition)
    }
    return [
        one if last.get(one.tool, place) <= place else replace(one, definition=_double(one.tool))
        for place, one in enumerate(tools)
    ]


def _double(tool: Named) -> Refusal:
    said = f"a tool after it has the name {tool.name[:128]!r} too; the last one counts"
    return Refusal(Reason.INVALID_REQUEST, said, {"tool": tool.name[:128]})


def _form(one: _Read, api: Api, options: ConversionOptions) -> Form | Refusal:
    if isinstance(one.definition, Refusal):
        return one.definition
    try:
        return form_of(one.definition, api, options, _LIMITS)
    except Refusal as refusal:
        return refusal


def _made(forms: Sequence[Form | Refusal]) -> list[Form]:
    return [form for form in forms if isinstance(form, Form)]


def _reasons(forms: Sequence[Form | Refusal], api: Api) -> list[str]:
    """Return why each must not be strict beside those before it, or ""."""
    found = iter(reasons_against_strict(_made(forms), api))
    return [next(found) if isinstance(form, Form) else "" for form in forms]
