"""Conversions of files of tool definitions, offline: each tool is converted or refused."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sidecheck_server.cli.listings import list_or_exit
from sidecheck_server.cli.progress import with_progress
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.converted import ConvertedTool
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.names import Named
from sidecheck_server.core.convert.together import Found, Together
from sidecheck_server.core.convert.tools import form_of
from sidecheck_server.core.convert.words import ConversionOptions, ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import ToolDefinition, read_tool, told_name
from sidecheck_server.core.types import Document, Verdict

__all__ = ["Conversion", "Conversions", "convert_files"]

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of one tool."""

    #: The file that it comes from, as it was named.
    file: str
    #: Its own name, or "" if that cannot be read.
    name: str
    outcome: ConvertedTool | RequestError


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
    read = [(file, one) for file, text in texts for one in _read(file, text, server, documents)]
    together = Together([one for _, one in read], api, options)
    tools = together.tools
    forms = [_form(one, api, options) for one in with_progress(tools, len(tools), "Converting")]
    reasons = together.against_strict(forms)
    forms = [
        _form(one, api, together.fallback) if why_not else form
        for one, form, why_not in zip(tools, forms, reasons, strict=True)
    ]
    outcomes = list(together.outcomes(forms, together.names(), reasons))
    done = (
        Conversion(file, one.tool.name, outcome)
        for (file, one), outcome in zip(read, outcomes, strict=True)
    )
    return Conversions(api, tuple(done), together.violations(forms, outcomes))


def _read(
    file: str, text: bytes, server: str, documents: tuple[Document, ...]
) -> Iterator[Found[ToolDefinition]]:
    for tool in list_or_exit(file, text, _LIMITS):
        try:
            definition = read_tool(tool.json, documents, _LIMITS)
        except RequestError as refusal:
            yield Found(Named(server, told_name(tool.json, _LIMITS)), refusal)
        else:
            yield Found(Named(server, definition.name), definition)


def _form(one: Found[ToolDefinition], api: Api, options: ConversionOptions) -> Form | RequestError:
    if isinstance(one.definition, RequestError):
        return one.definition
    try:
        return form_of(one.definition, api, options, _LIMITS)
    except RequestError as refusal:
        return refusal
