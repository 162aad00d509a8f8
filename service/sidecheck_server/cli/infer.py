"""`sidecheck infer`: the tool definitions that Python source text describes, offline."""

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.options import FILE, examples, form_option

__all__ = ["infer"]


@click.command(
    epilog=examples(
        "sidecheck infer server.py > tools.json",
        "sidecheck infer server.py | sidecheck check - --protocol-version 2026-07-28",
        "sidecheck infer server.py --function search --function Index.look_up",
        "sidecheck infer server.py --inject-type Session --format json",
    )
)
@click.argument("file", type=FILE, metavar="FILE")
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="NAME",
    help="A function; a method is named Class.method. May be repeated.  "
    "[default: those with a decorator called tool, or else all public ones]",
)
@click.option(
    "--admit-anything",
    is_flag=True,
    help="Where a type has no schema, anything is admitted, and a warning says so.",
)
@click.option(
    "--inject-type",
    "injected_types",
    multiple=True,
    metavar="NAME",
    help="A type whose parameters the server gives, so that they are no arguments. "
    "May be repeated.",
)
@form_option
@click.pass_context
def infer(
    context: click.Context,
    file: str,
    functions: tuple[str, ...],
    admit_anything: bool,
    injected_types: tuple[str, ...],
    form: str,
) -> None:
    """Infer tool definitions from the Python source text in FILE.

    The text is parsed and never run; - reads standard input. What it alone does not
    tell, such as a type that is imported from another file, is an error, and the tool is
    left out. Output schemas are in their natural form, whose root may be anything, as
    protocol version 2026-07-28 admits it.

    Standard output gets the definitions, as a JSON array; standard error what is wrong,
    and where. In JSON both are one object on standard output.

    Exits with 0 if all were inferred, with 1 if something has an error, and with 2 if the
    command is wrong, or the file cannot be read or is too large.
    """
    text = read_input(file)
    # Imported here, so that the other commands start without the reader of docstrings.
    from sidecheck_server.cli.inferences import write_inferred  # noqa: PLC0415
    from sidecheck_server.core.errors import RequestError  # noqa: PLC0415
    from sidecheck_server.core.infer.inferring import infer_tools  # noqa: PLC0415
    from sidecheck_server.core.infer.words import (  # noqa: PLC0415
        InferenceOptions,
        OnUnsupported,
    )
    from sidecheck_server.core.limits import Limits  # noqa: PLC0415

    options = InferenceOptions(
        functions=functions,
        on_unsupported=OnUnsupported.ADMIT_ANYTHING if admit_anything else OnUnsupported.REFUSE,
        injected_types=injected_types,
    )
    try:
        inferred = infer_tools(text, options, Limits())
    except RequestError as refusal:
        raise click.UsageError(f"cannot read {file}: {refusal.message}") from None
    context.exit(0 if write_inferred(form, file, text, inferred) else 1)
