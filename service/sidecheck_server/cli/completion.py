"""`sidecheck completion`: print the completion script of a shell."""

import click
from click.shell_completion import get_completion_class

from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.options import format_examples

__all__ = ["completion"]

_INSTALLATION = """\b
To install it:
  bash  add to ~/.bashrc:  eval "$(sidecheck completion bash)"
  zsh   add to ~/.zshrc:   eval "$(sidecheck completion zsh)"
  fish  sidecheck completion fish > ~/.config/fish/completions/sidecheck.fish

"""


@click.command(
    epilog=_INSTALLATION
    + format_examples(
        "sidecheck completion bash > /etc/bash_completion.d/sidecheck",
        "source <(sidecheck completion zsh)",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL."""
    completer = get_completion_class(shell)
    assert completer is not None, "click supports each of these shells"
    root = context.find_root().command
    write_output(completer(root, {}, "sidecheck", "_SIDECHECK_COMPLETE").source())
