"""Inference: from source text to the definitions of its tools."""

from sidecheck_server.core.infer.bounds import BOUNDS, Bounds, Meter
from sidecheck_server.core.infer.complaints import Code, Complaint, Complaints
from sidecheck_server.core.infer.functions import chosen, functions_of
from sidecheck_server.core.infer.literals import Literals
from sidecheck_server.core.infer.parsing import lines_of, parse_text
from sidecheck_server.core.infer.tools import Tools
from sidecheck_server.core.infer.words import InferenceOptions, Inferred, Place
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.types import Severity

__all__ = ["infer_tools"]


def infer_tools(
    source: bytes,
    options: InferenceOptions,
    limits: Limits,
    bounds: Bounds = BOUNDS,
) -> Inferred:
    """Return the definitions of the tools of *source*, which is Python in UTF-8.

    The text is parsed and never run: nothing in it is imported, evaluated or compiled.
    What cannot be known from it alone is a diagnostic.

    Raises:
        Refusal: the text is larger than ``source_bytes`` of *limits*.
    """
    if len(source) > limits.source_bytes:
        raise exceeded("source_bytes", limits.source_bytes, "the source text", len(source))
    complaints = Complaints(lines_of(source))
    try:
        tree = parse_text(source)
    except Complaint as complaint:
        complaints.add(complaint)
        return Inferred((), complaints.ordered())
    functions = functions_of(tree)
    _ask_for_known(options, {each.name for each in functions}, complaints)
    wanted = chosen(functions, options.functions)
    if len(wanted) > bounds.tools:
        complaints.add(
            Complaint(
                Code.TOO_LARGE,
                f"{len(wanted):,} tools in one text; the first {bounds.tools:,} are read",
                wanted[bounds.tools].node,
            )
        )
    tools = Tools(options, Literals(Meter(bounds)), complaints)
    found = [tools.infer(each) for each in wanted[: bounds.tools]]
    return Inferred(tuple(each for each in found if each is not None), complaints.ordered())


def _ask_for_known(options: InferenceOptions, names: set[str], complaints: Complaints) -> None:
    inner = {each.rpartition(".")[2]: each for each in sorted(names, reverse=True) if "." in each}
    for name in dict.fromkeys(options.functions):
        if name not in names:
            complaints.function = name
            complaints.place(
                Code.UNKNOWN_FUNCTION,
                f'no function of the text is called "{name}"; one inside of a class or a function '
                f"is named with it, as in {inner.get(name, 'Class.method')}",
                Place(),
                Severity.ERROR,
            )
