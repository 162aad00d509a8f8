"""Digests of all conversions of the corpus, to compare two revisions.

Run ``python -m conversions.digests`` in the folder ``tests`` at each revision. It prints a line
for each tool, API and combination of options, with a digest of all that comes out: the tool,
its mapping, losses and size, or the error. ``diff`` tells which conversions differ.
"""

import argparse
import hashlib
from collections.abc import Iterator

from conversions.converting_tools import LIMITS, OPTIONS, read_definition
from conversions.subjects import subjects
from sidecheck_server.core.convert.converted_tool import build_converted_tool
from sidecheck_server.core.convert.names import ToolName
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="conversions.digests", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--every", type=int, default=1, help="convert every n-th tool only")
    for subject in subjects()[:: parser.parse_args().every]:
        for line in _lines(read_definition(subject.tool)):
            print(subject.name, line, flush=True)


def _lines(definition: ToolDefinition) -> Iterator[str]:
    for provider in PROVIDERS.values():
        for name, options in OPTIONS.items():
            text = _conversion(definition, provider, options)
            yield f"{provider.key}, {name}: {hashlib.sha256(text.encode()).hexdigest()}"


def _conversion(definition: ToolDefinition, provider: Provider, options: ConversionOptions) -> str:
    """Return all that comes out of a conversion, as text."""
    try:
        form = convert_definition(definition, provider, options, LIMITS)
        tool = build_converted_tool(form, ToolName("", form.tool), "name", provider)
    except RequestError as error:
        return repr((error.reason, error.message, sorted(error.metadata.items())))
    return repr((tool, form))


if __name__ == "__main__":
    main()
