"""Entry point of `sidecheck` and `python -m sidecheck_server`."""

from sidecheck_server.cli import sidecheck

__all__ = ["main"]


def main() -> None:
    """Run the command-line interface."""
    sidecheck(prog_name="sidecheck")


if __name__ == "__main__":
    main()
