"""The Dockerfile, read: its stages and what the image that it makes is told to run."""

import io
import json
import shlex
from dataclasses import dataclass

from dockerfile_parse import DockerfileParser
from support.shared_material import REPOSITORY

__all__ = ["Image", "Step", "read_image", "read_steps"]


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction: its name in capitals, and what follows it on one line."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Image:
    """What the last stage of the Dockerfile says of the image."""

    base: str
    user: str
    folder: str
    environment: dict[str, str]
    labels: dict[str, str]
    volumes: list[str]
    port: str
    stop_signal: str
    healthcheck: list[str]
    command: list[str]
    """The entry point and its arguments."""


def read_steps() -> list[Step]:
    """Return all instructions in their order, without comments."""
    text = (REPOSITORY / "Dockerfile").read_text()
    parsed = DockerfileParser(fileobj=io.StringIO(text)).structure
    return [
        Step(one["instruction"], one["value"]) for one in parsed if one["instruction"] != "COMMENT"
    ]


def read_image() -> Image:
    """Return what the last stage says.

    Raises:
        ValueError: a command is not in its JSON form, which needs no shell.
    """
    steps = read_steps()
    start = max(place for place, step in enumerate(steps) if step.name == "FROM")
    said = {step.name: step.value for step in steps[start:]}
    return Image(
        base=said["FROM"],
        user=said["USER"],
        folder=said["WORKDIR"],
        environment=pairs(said["ENV"]),
        labels=pairs(said["LABEL"]),
        volumes=json.loads(said["VOLUME"]),
        port=said["EXPOSE"],
        stop_signal=said["STOPSIGNAL"],
        healthcheck=json.loads(said["HEALTHCHECK"].partition("CMD")[2]),
        command=[*json.loads(said["ENTRYPOINT"]), *json.loads(said["CMD"])],
    )


def pairs(text: str) -> dict[str, str]:
    """Return the names and values of an ENV or LABEL."""
    return dict(pair.split("=", 1) for pair in shlex.split(text))
