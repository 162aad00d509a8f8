"""`sidecheck convert`: tools in the form that the API of a provider of models takes, offline."""

import click

from sidecheck_server.cli.files import read_input, write_file
from sidecheck_server.cli.options import (
    FILE,
    document_option,
    examples,
    form_option,
    read_documents,
)
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi, ServerPrefix

__all__ = ["convert"]

_MODES = {mode.value.replace("_", "-"): mode for mode in Mode}


@click.command(
    epilog=examples(
        "sidecheck convert --to openai-chat tools.json > request-tools.json",
        "sidecheck convert --to anthropic --plan-out plans.json git.json time.json",
        "sidecheck convert --to openai-responses --mode strict-if-lossless tools.json",
        "my-server --list-tools | sidecheck convert --to gemini --format json -",
    )
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "--to",
    "api",
    required=True,
    type=click.Choice([api.value for api in ModelApi]),
    metavar="API",
    help=f"The API that takes them: {', '.join(ModelApi)}.",
)
@click.option(
    "--mode",
    type=click.Choice(list(_MODES)),
    default="compatible",
    show_default=True,
    help="Whether the API is asked to hold the model to the schema.",
)
@click.option("--server", default="", metavar="NAME", help="The server that offers the tools.")
@click.option(
    "--server-prefix",
    type=click.Choice([ServerPrefix.ALWAYS.value, ServerPrefix.NEVER.value]),
    default=ServerPrefix.NEVER.value,
    show_default=True,
    help="Whether names begin with the server's.",
)
@click.option(
    "--assume-closed",
    is_flag=True,
    help="An object that declares members takes no others, unless it says so; many tools "
    "are strict only then.",
)
@click.option(
    "--description-length",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="The longest description of a tool, in characters.  [default: what the API takes]",
)
@click.option(
    "--include-output-schema", is_flag=True, help="The output schema too, where the API takes one."
)
@document_option
@form_option
@click.option(
    "--plan-out",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write there what `sidecheck restore` needs, as a JSON array; not -, since standard "
    "output has the tools.",
)
@click.pass_context
def convert(
    context: click.Context,
    files: tuple[str, ...],
    api: str,
    mode: str,
    server: str,
    server_prefix: str,
    assume_closed: bool,
    description_length: int,
    include_output_schema: bool,
    documents: tuple[tuple[str, str], ...],
    form: str,
    plan_out: str | None,
) -> None:
    """Convert the tool definitions of each FILE for one request to the API of a provider.

    A file has one definition, a list of them, or an answer to tools/list, with or
    without its JSON-RPC response; - reads standard input. Standard output gets the
    tools, as the request takes them; standard error what is not as in the originals,
    and which tools are refused. In JSON both are one object on standard output.

    Exits with 0 if all were converted, with 1 if some were refused or the request is
    beyond a limit of the API, and with 2 if the command is wrong or a file cannot be
    read or is none of these.
    """
    if [*files, *(file for _, file in documents)].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    if plan_out == "-":
        raise click.UsageError(
            "--plan-out is a file: standard output has the tools, and in JSON the plans too"
        )
    if server_prefix == ServerPrefix.ALWAYS and not server:
        raise click.UsageError("--server-prefix always needs --server")
    brought = read_documents(documents)
    texts = [(name, read_input(name)) for name in dict.fromkeys(files)]
    # Imported here, so that the other commands start without the engines.
    from sidecheck_server.cli.conversion_reports import (  # noqa: PLC0415
        plans_text,
        write_conversions,
    )
    from sidecheck_server.cli.conversions import convert_files  # noqa: PLC0415

    options = ConversionOptions(
        mode=_MODES[mode],
        server_prefix=ServerPrefix(server_prefix),
        assume_closed=assume_closed,
        description_length=description_length,
        include_output_schema=include_output_schema,
    )
    done = convert_files(texts, ModelApi(api), options, server, brought)
    if plan_out is not None:
        write_file(plan_out, plans_text(done))
    write_conversions(form, done)
    context.exit(0 if done.ok else 1)
