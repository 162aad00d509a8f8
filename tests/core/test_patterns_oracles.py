"""Patterns compared with the official suite, real schemas and a JavaScript engine."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import assume, given, seed, settings
from hypothesis import strategies as st
from sidecheck_server.core.patterns import PatternError, PatternFault, compile_pattern
from support.shared_material import shared, unavailable

DRAFTS = ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"]
SUITE_FILES = [
    "pattern.json",
    "patternProperties.json",
    "optional/ecmascript-regex.json",
    "optional/non-bmp-regex.json",
]


def judge(schema: dict[str, Any], data: Any) -> bool | None:
    """Return the verdict of a schema's patterns; None if another keyword matters."""
    if "pattern" in schema:
        return not isinstance(data, str) or compile_pattern(schema["pattern"]).search(data)
    if not isinstance(data, dict):
        return None
    verdicts: list[bool | None] = []
    for name, value in data.items():
        rules = [
            rule
            for source, rule in schema["patternProperties"].items()
            if compile_pattern(source).search(name)
        ]
        verdicts += [
            obey(rule, value) for rule in rules or [schema.get("additionalProperties", True)]
        ]
    return None if None in verdicts else all(verdicts)


def obey(rule: Any, value: Any) -> bool | None:
    """Return the verdict of subschemas that only tell which pattern matched."""
    if rule in (True, False, {}):
        return rule is not False
    return isinstance(value, int) if rule == {"type": "integer"} else None


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("name", SUITE_FILES)
def test_the_official_suite_agrees(draft: str, name: str) -> None:
    """Every case of the official suite that patterns alone decide has its verdict."""
    groups = json.loads((shared("json-schema-test-suite") / "tests" / draft / name).read_text())

    cases = [
        (group["description"], case["description"], case["data"], group["schema"], case["valid"])
        for group in groups
        for case in group["tests"]
        if isinstance(group["schema"], dict)
    ]
    verdicts = [judge(schema, data) for _, _, data, schema, _ in cases]

    wrong_verdicts = [
        case
        for case, verdict in zip(cases, verdicts, strict=True)
        if verdict is not None and verdict != case[-1]
    ]
    assert wrong_verdicts == []
    if name != "patternProperties.json":
        assert None not in verdicts


@pytest.mark.corpus
def test_every_pattern_of_real_tools_compiles() -> None:
    """No pattern that a published tool carries is rejected."""
    patterns = json.loads((shared("corpus") / "patterns.json").read_text())

    excinfo = {}
    for source in (entry["pattern"] for entry in patterns):
        try:
            compile_pattern(source)
        except PatternError as error:
            excinfo[source] = str(error)

    assert patterns
    assert excinfo == {}


#: Answers each line [pattern, texts] with the verdicts under the `u` flag and
#: without it, null where the pattern is not accepted.
ANSWER = r"""
const judge = (pattern, flags, texts) => {
  let compiled;
  try { compiled = new RegExp(pattern, flags); } catch { return null; }
  return texts.map((text) => compiled.test(text));
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [pattern, texts] = JSON.parse(line);
  console.log(JSON.stringify([judge(pattern, "u", texts), judge(pattern, "", texts)]));
});
"""

Verdicts = list[bool] | None
Oracle = Callable[[str, list[str]], tuple[Verdicts, Verdicts]]


@pytest.fixture(scope="module")
def javascript() -> Iterator[Oracle]:
    """Ask one node process for all patterns: ECMA-262's semantics by another hand."""
    node = shutil.which("node") or ""
    if not node:
        unavailable("node is not on PATH, so there is no JavaScript to compare with")
    with subprocess.Popen(
        [node, "-e", ANSWER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        requests, responses = process.stdin, process.stdout
        assert requests is not None
        assert responses is not None

        def ask(pattern: str, texts: list[str]) -> tuple[Verdicts, Verdicts]:
            requests.write(json.dumps([pattern, texts]) + "\n")
            requests.flush()
            strict, lenient = json.loads(responses.readline())
            return strict, lenient

        yield ask
        requests.close()


LETTERS = "ab1_-é🐲\n\r\u2028\ufeff\u3000 \x00\ud83d\udc32"
ESCAPES = [r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\n", r"\cJ", r"\x61", r"\u0062", r"\0"]
ESCAPES += [r"\u{1F432}", r"\ud83d\udc32", r"\ud83d", r"\p{L}", r"\P{Ll}", r"\p{C}", r"\p{gc=Zs}"]
ASSERTIONS = ["^", "$", r"\b", r"\B"]
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{0}", "{2}", "{1,2}", "{0,}?", "{2,3}"]

class_member = st.sampled_from([*"ab1_é🐲\n\u2028", *ESCAPES, r"\b", r"\-", "a-b", r"\0-1", "é-🐲"])
character_class = st.builds(
    lambda negation, class_members: f"[{negation}{''.join(class_members)}]",
    st.sampled_from(["", "^"]),
    st.lists(class_member, max_size=3),
)
atom = st.one_of(st.sampled_from([*LETTERS, ".", *ESCAPES]), character_class)


def widen(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return patterns made of *inner* ones: groups, repetitions, sequences, alternatives."""
    opening = st.sampled_from(["(", "(?:", "(?<n>"])
    group = st.builds(lambda head, body: f"{head}{body})", opening, inner)
    repeated = st.builds(
        lambda body, sign: body + sign, st.one_of(atom, group), st.sampled_from(QUANTIFIERS)
    )
    sequence = st.lists(
        st.one_of(group, repeated, atom, st.sampled_from(ASSERTIONS)), max_size=4
    ).map("".join)
    return st.one_of(sequence, st.lists(inner, min_size=2, max_size=3).map("|".join))


linear = st.recursive(st.one_of(atom, st.sampled_from(["", *ASSERTIONS])), widen, max_leaves=8)
whole = linear.map("(?:{})".format)
signs = st.sampled_from(["?=", "?!"])
nested = st.builds("({}{}){}".format, signs, linear, whole)
look_ahead = st.builds("({}{})".format, signs, st.one_of(linear, nested))
conditioned = st.builds(
    lambda conditions, rest: "^" + "".join(conditions) + rest,
    st.lists(look_ahead, min_size=1, max_size=3),
    whole,
)
texts = st.lists(st.text(LETTERS, max_size=6), min_size=1, max_size=6).map(lambda some: ["", *some])


@pytest.mark.slow
@seed(20)
@settings(max_examples=400, deadline=None, database=None)
@given(st.one_of(linear, conditioned), texts)
def test_patterns_match_as_in_javascript(
    javascript: Oracle, pattern: str, texts: list[str]
) -> None:
    """Patterns of every construct give the verdicts that JavaScript gives with the `u` flag."""
    expected, _ = javascript(pattern, texts)
    assume(expected is not None)

    search = compile_pattern(pattern).search

    assert expected == [search(text) for text in texts]


def decide(pattern: str, texts: list[str]) -> list[bool] | PatternError:
    """Return the verdict on each text, or the error of the pattern."""
    try:
        return [compile_pattern(pattern).search(text) for text in texts]
    except PatternError as error:
        return error


SCRAPS = [
    *"ab1_-^$.*+?()[]{}|/\\,=!:<>@ZipuxkcdB0é\n",
    "(?:",
    "(?<n>",
    "(?=",
    "(?!",
    "(?<!",
    "\\k<n>",
]
#: Escapes that mean something else without the `u` flag.
LEFT_TO_THE_LENIENT = re.compile(r"\\[pPuk]")


@pytest.mark.slow
@seed(20)
@settings(max_examples=1500, deadline=None, database=None)
@given(st.lists(st.sampled_from(SCRAPS), max_size=9).map("".join), texts)
def test_errors_equal_those_of_javascript(
    javascript: Oracle, pattern: str, texts: list[str]
) -> None:
    """Invalid patterns are those of the `u` flag, lenient patterns those without it."""
    texts = [text for text in texts if not re.search("[\ud800-\udfff🐲]", text)]
    assume(pattern.count("(?<n>") < 2)
    strict, lenient = javascript(pattern, texts)

    outcome = decide(pattern, texts)

    if isinstance(outcome, list):
        if strict is not None or not LEFT_TO_THE_LENIENT.search(pattern):
            assert (strict or lenient) == outcome
    elif outcome.fault is PatternFault.SYNTAX:
        assert strict is None
    else:
        assert strict or lenient
