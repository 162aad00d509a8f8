"""How long the checks of the protocol take, against the Python SDK's functions for the same work.

Names of tools, lists of tools, histories of sampling and messages, in one process and in
turns; and messages all the way through a server, as information.

    python benchmarks/protocol.py [--quick] [--report FOLDER] [--callers]
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import protocol_peers as peers
from plots import plot_bars
from protocol_peers import SDK, SHAPE, SIDECHECK
from protocol_serving import add_options, serving_table
from protocol_subjects import Given, histories, listings, messages, names
from report import Claim, Effort, Section, Table, digits, format_summary, run
from turns import Rounds, Summary, make_turn, summarize, take_turns

__all__ = ["measure"]

Actions: TypeAlias = dict[str, tuple[Callable[[Any], object], Any]]

_TIMES_FASTER = 5

_TEXT = (
    "Contenders take turns; a ratio is the SDK's time over Sidecheck's in the same round, so 2 "
    "means that the SDK takes twice as long. Each cell is a median with its quartiles. Times "
    "are of the processor. Of a message, Sidecheck makes a verdict from its bytes: strict "
    "decoding that finds duplicate keys, envelope, method, shape in the version and every rule. "
    "The SDK makes of the same bytes what its sessions give to a handler: "
    "`jsonrpc_message_adapter.validate_json`, which is all that an error response gets, then "
    "`mcp_types.methods.parse_*`, which holds params or result against the model of the "
    "version and makes the model of no version. (Its server calls `validate_client_request` "
    "and the model of the params, which is the same work.) *Shape alone* leaves the second "
    "model out, where the SDK has a function for that; it is information. The SDK has two sets "
    "of models for five versions, and few rules beyond shape. Neither compiles the schemas of "
    "a list of tools here: what Sidecheck asks its compiler about is not in its time. Of a "
    "history the SDK gets decoded params from `pydantic_core.from_json`, then "
    "`parse_server_request` and `validate_tool_use_result_messages`, which looks at the last "
    "two messages only; Sidecheck looks at all of them, without the validation of tool inputs "
    "against their schemas. Of names, `sdk_warnings` has what `validate_tool_name` has, word for "
    "word, and `check_names` that and every rule, advice of providers, duplicates and "
    "collisions. What takes longer than a moment (*at length*) a server leaves to a worker."
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The rounds of one subject."""

    title: str
    #: Its size, as told.
    size: str
    rounds: Rounds

    @property
    def ratio(self) -> Summary:
        """How many times as long as Sidecheck the SDK takes."""
        return self.rounds.ratio(SDK, SIDECHECK)


def measure(effort: Effort) -> Section:
    """Answer the question of this script."""
    alone, together = _names(effort)
    lists = [_listing(effort, listing) for listing in listings(effort.choose(None, 1))]
    lengths = effort.choose((2, 20, 200), (2, 20))
    sampled = [_history(effort, *history) for history in histories(lengths)]
    valid = [_message(effort, message) for message in messages("valid")]
    invalid = messages("invalid")
    said = [_message(effort, one) for one in invalid]
    if effort.folder is not None:
        plot_bars(
            effort.folder / "protocol.svg",
            "How many times as long as Sidecheck the Python SDK takes",
            "ratio of times: median and quartiles of the rounds",
            {one.title: {"from bytes": one.ratio} for one in valid},
            line=(1.0, "Sidecheck"),
        )
    n = valid[0].rounds.of(SIDECHECK).n
    return Section(
        "protocol",
        "Checks of the protocol, against the Python SDK",
        _TEXT,
        [
            _table(f"Messages, valid ({n} rounds)", "message", valid, per_second=True),
            _finds_table(invalid, said),
            _table("Answers to tools/list", "list", lists),
            _table("Histories of sampling", "messages", sampled),
            _table("Names, what the SDK says of one: `sdk_warnings`", "names", alone, of="name"),
            _table("Names, all that is said: `check_names`", "names", together, of="name"),
            serving_table(effort),
        ],
        [
            _five_times(valid),
            *_never_slower(
                {
                    "messages": valid,
                    "answers to tools/list": lists,
                    "histories of sampling": sampled,
                    "names, one by one (sdk_warnings)": alone,
                    "names, together (check_names)": together,
                }
            ),
        ],
        [("protocol.svg", "How many times as long as Sidecheck the SDK takes for a message")],
    )


def _compare(
    effort: Effort,
    title: str,
    size: str,
    actions: Actions,
    of: int = 1,
) -> Measured:
    rounds, seconds = effort.choose((41, 0.004), (3, 0.0002))
    turns = {name: make_turn(action, given, seconds) for name, (action, given) in actions.items()}
    found = take_turns(turns, rounds)
    return Measured(
        title, size, Rounds({name: [time / of for time in times] for name, times in found.items()})
    )


def _names(effort: Effort) -> tuple[list[Measured], list[Measured]]:
    alone: list[Measured] = []
    together: list[Measured] = []
    for title, some in names(effort.choose(10_000, 200)):
        if not peers.tells_same_of_names(some):
            raise AssertionError(f"the SDK says otherwise of names: {title}")
        for found, ours in ((alone, peers.names_by_us_alone), (together, peers.names_by_us)):
            actions: Actions = {SIDECHECK: (ours, some), SDK: (peers.names_by_sdk, some)}
            found.append(_compare(effort, title, f"{len(some):,} names", actions, len(some)))
    return alone, together


def _listing(effort: Effort, given: Given) -> Measured:
    at_once = peers.is_at_once(peers.request_of_message(given))
    title = given.title if at_once else f"{given.title} (at length)"
    return _message(effort, given, title)


def _history(effort: Effort, length: int, params: bytes) -> Measured:
    asked = peers.request_of_sampling(params)
    at_once = peers.is_at_once(asked)
    check = peers.of_us(at_once=at_once)
    if not check(asked).valid:
        raise AssertionError(f"a history of {length} messages is not valid")
    actions: Actions = {SIDECHECK: (check, asked), SDK: (peers.sdk_history, params)}
    title = f"{length}" if at_once else f"{length} (at length)"
    return _compare(effort, title, f"{len(params):,} B", actions)


def _message(effort: Effort, given: Given, title: str = "") -> Measured:
    asked = peers.request_of_message(given)
    check = peers.of_us(at_once=peers.is_at_once(asked))
    read, shape = peers.sdk_reader(given), peers.sdk_shape(given)
    if check(asked).valid:
        read(given.json)
    else:
        read, shape = _quiet(read), None
    actions: Actions = {
        SIDECHECK: (check, asked),
        SDK: (read, given.json),
    }
    if shape is not None:
        actions[SHAPE] = (shape, given.json)
    return _compare(effort, title or given.title, f"{len(given.json):,} B", actions)


def _quiet(read: peers.Reader) -> peers.Reader:
    def quiet(text: bytes) -> None:
        # Whatever it raises is how it says no; what that is, is told beside its time.
        try:  # noqa: SIM105  (suppress takes longer)
            read(text)
        except Exception:  # noqa: BLE001, S110
            pass

    return quiet


# What is told


def _table(
    caption: str,
    subject: str,
    found: Sequence[Measured],
    *,
    of: str = "",
    per_second: bool = False,
) -> Table:
    unit = f"µs/{of}" if of else "µs"
    shapes = any(SHAPE in measured.rounds.figures for measured in found)
    head = [subject, "size", f"{SIDECHECK}, {unit}", f"{SDK}, {unit}", f"{SDK}, x"]
    head += [f"{SHAPE}, x"] * shapes
    head += [f"{SIDECHECK}, in a second", f"{SDK}, in a second"] * per_second
    rows = []
    for measured in found:
        ours, theirs = measured.rounds.of(SIDECHECK), measured.rounds.of(SDK)
        row = [
            measured.title,
            measured.size,
            format_summary(ours, 1e6),
            format_summary(theirs, 1e6),
            format_summary(measured.ratio),
        ]
        if shapes:
            known = SHAPE in measured.rounds.figures
            row.append(format_summary(measured.rounds.ratio(SHAPE, SIDECHECK)) if known else "")
        if per_second:
            row += [digits(1 / ours.median), digits(1 / theirs.median)]
        rows.append(row)
    over = summarize(measured.ratio.median for measured in found)
    rest = [""] * (len(head) - 5)
    rows.append(["**median**", "", "", "", format_summary(over), *rest])
    rows.append(["least", "", "", "", f"{over.least:.2f}", *rest])
    return Table(caption, head, rows)


def _finds_table(invalid: Iterable[Given], found: Iterable[Measured]) -> Table:
    rows = []
    for given, measured in zip(invalid, found, strict=True):
        asked = peers.request_of_message(given)
        verdict = peers.of_us(at_once=True)(asked)
        codes = ", ".join(violation.code for violation in verdict.violations)
        rows.append(
            [
                given.title,
                f"{len(verdict.violations)} ({codes})",
                peers.sdk_finds(given),
                format_summary(measured.rounds.of(SIDECHECK), 1e6),
                format_summary(measured.rounds.of(SDK), 1e6),
            ]
        )
    head = ["message", "violations", "errors of the SDK", f"{SIDECHECK}, µs", f"{SDK}, µs"]
    return Table("Messages with one fault each, and what is told of it", head, rows)


def _five_times(valid: Sequence[Measured]) -> Claim:
    over = summarize(one.ratio.median for one in valid)
    return Claim(
        "checking messages is faster than the Python SDK",
        f"{_TIMES_FASTER} times at least, median over kinds",
        f"{over.median:.2f} (least {over.least:.2f}, most {over.greatest:.2f})",
        over.median >= _TIMES_FASTER,
    )


def _never_slower(groups: dict[str, Sequence[Measured]]) -> Iterable[Claim]:
    for what, found in groups.items():
        least = min(found, key=lambda one: one.ratio.median)
        slower = sum(measured.ratio.median < 1 for measured in found)
        yield Claim(
            f"checking is never slower than the Python SDK: {what}",
            "1 times at least, least of all",
            f"{least.ratio.median:.2f} ({least.title}; {slower} of {len(found)} slower)",
            slower == 0,
        )


if __name__ == "__main__":
    run(measure, __doc__, add_options)
