"""Parser of the Dockerfile: its stages, and the settings of the image."""

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
    """Settings of the image in the last stage of the Dockerfile."""

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
        Step(instruction["instruction"], instruction["value"])
        for instruction in parsed
        if instruction["instruction"] != "COMMENT"
    ]


def read_image() -> Image:
    """Return what the last stage says.

    Raises:
        ValueError: a command is not in its JSON form, which needs no shell.
    """
    steps = read_steps()
    start = max(place for place, step in enumerate(steps) if step.name == "FROM")
    last_steps = {step.name: step.value for step in steps[start:]}
    return Image(
        base=last_steps["FROM"],
        user=last_steps["USER"],
        folder=last_steps["WORKDIR"],
        environment=pairs(last_steps["ENV"]),
        labels=pairs(last_steps["LABEL"]),
        volumes=json.loads(last_steps["VOLUME"]),
        port=last_steps["EXPOSE"],
        stop_signal=last_steps["STOPSIGNAL"],
        healthcheck=json.loads(last_steps["HEALTHCHECK"].partition("CMD")[2]),
        command=[*json.loads(last_steps["ENTRYPOINT"]), *json.loads(last_steps["CMD"])],
    )


def pairs(text: str) -> dict[str, str]:
    """Return the names and values of an ENV or LABEL."""
    return dict(pair.split("=", 1) for pair in shlex.split(text))
