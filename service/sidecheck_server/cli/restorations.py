"""Restoring of a model's call, offline."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click
import msgspec

from sidecheck_server.cli.findings import Source
from sidecheck_server.cli.listings import list_or_exit
from sidecheck_server.cli.reports import in_json
from sidecheck_server.cli.rows import printable
from sidecheck_server.core.compiler.compilation import compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.calls import (
    Meaning,
    Meant,
    ModelCall,
    chosen_plan,
    common_api,
    read_call,
    refuse_mismatch,
    with_known_names,
)
from sidecheck_server.core.convert.plan import Plan, plan_from_json
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import ToolDefinition, read_tool
from sidecheck_server.core.tool_error_text import tool_error_text
from sidecheck_server.core.types import Change, Document, Verdict

__all__ = ["Restored", "restore_call"]

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Restored:
    """A model's call as MCP has it."""

    #: "" if there is none, or it is not known.
    server: str
    #: The original name, or "" if it is not known.
    tool: str
    call_id: str
    #: The params of the ``tools/call`` as JSON text; "" if there are none.
    params: str
    verdict: Verdict
    #: What the pointers of the verdict lead into, and where in that the whole stands.
    source: Source
    at: str
    changes: tuple[Change, ...]
    tool_error_text: str


class _Unusable(click.ClickException):
    """A plan, or a tool, does not do; the command exits with 2."""

    exit_code = 2


def restore_call(
    call: tuple[str, bytes],
    plan: tuple[str, bytes],
    tools: Sequence[tuple[str, bytes]],
    documents: tuple[Document, ...],
) -> Restored:
    """Return *call* as MCP has it; all of them are names and contents of files.

    Raises:
        click.ClickException: the plan is none or not that of the call, none of *tools* is
            the original, or something is beyond a limit; the command exits with 2.
    """
    try:
        return _restored(Source(*call), _plans(*plan), tools, documents)
    except RequestError as refusal:
        raise _Unusable(printable(f"{refusal.reason.value}: {refusal.message}")) from None


def _plans(name: str, text: bytes) -> list[Plan]:
    """Return the plans of *text*: one, or an array of them."""
    texts: list[Any] = [text]
    if text.lstrip()[:1] == b"[":
        try:
            texts = msgspec.json.decode(text, type=list[msgspec.Raw])
        except (msgspec.DecodeError, RecursionError) as error:
            said = f"{name} is no array of plans: {error}"
            raise RequestError(ErrorReason.INVALID_MAPPING, said) from None
    return [plan_from_json(bytes(one), _LIMITS) for one in texts]


def _restored(
    source: Source,
    plans: Sequence[Plan],
    tools: Sequence[tuple[str, bytes]],
    documents: tuple[Document, ...],
) -> Restored:
    call = read_call(source.text, APIS[common_api(plans)], _LIMITS)
    plan = chosen_plan(plans, call)
    if plan is None:
        said = tool_error_text(call.verdict_on_arguments)
        return Restored("", "", call.id, "", call.verdict, source, "", (), said)
    definition = _original(plan, tools, documents)
    known = (plan.server, plan.tool, call.id)
    if call.arguments is None or not call.verdict.valid:
        said = tool_error_text(call.verdict_on_arguments, tool=plan.name)
        return Restored(*known, "", call.verdict, source, "", (), said)
    meant = _meant(call, plan, definition)
    # The model is told of the tool and of its members by the names that it knows.
    said = tool_error_text(with_known_names(meant.verdict, plan.guide), tool=plan.name)
    arguments = json.loads(meant.payload)
    if not isinstance(arguments, dict):
        printed = Source("arguments", in_json(arguments).encode())
        return Restored(*known, "", meant.verdict, printed, "", meant.changes, said)
    params = in_json({"name": plan.tool, "arguments": arguments})
    printed = Source("params", params.encode())
    return Restored(*known, params, meant.verdict, printed, "/arguments", meant.changes, said)


def _original(
    plan: Plan, tools: Sequence[tuple[str, bytes]], documents: tuple[Document, ...]
) -> ToolDefinition:
    """Return the definition that *plan* was made of."""
    named = None
    for name, text in tools:
        for listed in list_or_exit(name, text, _LIMITS):
            try:
                found = read_tool(listed.json, documents, _LIMITS)
            except RequestError:
                continue  # It could not have been converted.
            if found.name == plan.tool:
                if found.digest == plan.definition_digest:
                    return found
                named = found
    if named is not None:
        refuse_mismatch(plan, named.digest)
    said = f"no tool {plan.tool[:128]!r} is in the files, and the plan is of that"
    raise RequestError(ErrorReason.MAPPING_MISMATCH, said, {"tool": plan.tool[:128]})


def _meant(call: ModelCall, plan: Plan, definition: ToolDefinition) -> Meant:
    """Return what the arguments of *call* mean."""
    schema = definition.input
    compiled = CompiledSchema(schema, compile_source(schema, _LIMITS), _LIMITS)
    meaning = Meaning(call, plan, EvaluationOptions(), _LIMITS)
    step = meaning.after(None)
    while not isinstance(step, Meant):
        step = meaning.after(judge(compiled, step.payload, step.how))
    return step
