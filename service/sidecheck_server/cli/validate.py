"""`sidecheck validate`."""

import click

__all__ = ["validate"]


@click.command()
def validate() -> None:
    """Judge payloads offline."""
