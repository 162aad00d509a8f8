"""Formats on hostile input: long strings and unusual characters."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.core.formats import FORMATS

KIB_64 = 1 << 16


@pytest.mark.parametrize(
    ("name", "start", "filler", "longest"),
    [
        pytest.param("time", "12:00:00.", "0", 256, id="time"),
        pytest.param("date-time", "2025-11-25T12:00:00.", "0", 256, id="date-time"),
        pytest.param("duration", "P", "1", 1024, id="duration"),
        pytest.param("uri", "a:", "a", KIB_64, id="uri"),
        pytest.param("uri-reference", "", "a", KIB_64, id="uri-reference"),
        pytest.param("iri", "a:", "é", KIB_64, id="iri"),
        pytest.param("iri-reference", "", "é", KIB_64, id="iri-reference"),
        pytest.param("uri-template", "", "a", KIB_64, id="uri-template"),
        pytest.param("json-pointer", "/", "a", KIB_64, id="json-pointer"),
        pytest.param("relative-json-pointer", "1/", "a", KIB_64, id="relative-json-pointer"),
        pytest.param("regex", "", "a", 512, id="regex"),
    ],
)
def test_a_string_over_the_bound_is_not_of_the_format(
    name: str, start: str, filler: str, longest: int
) -> None:
    """The longest string is accepted, and one character more is not."""
    end = {"time": "Z", "date-time": "Z", "duration": "D"}.get(name, "")
    text = start + filler * (longest - len(start) - len(end)) + end
    check = FORMATS[name].check
    assert (True, False) == (check(text), check(start + filler + text.removeprefix(start)))


PREFIXES = ["", "http://", "http://[", "a@", '"', "{", "/", "0/", "P", "(", "[", "xn--", "\x00"]
UNITS = [
    *'aA0-.:/@%~{}[]()"\\\n\x00é\u05d0\u0301\u0660\u200d\u3002\ud800\U0001f600',
    *["%41", "a.", "a@", "~1", "{a}", "a,", "1D", "(?:", "\\p{L}", "[^a]", "xn--a.", "::", "ff:"],
]


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_a_checker_returns_on_every_hostile_string(name: str) -> None:
    """No repeated character makes a checker raise or search without end."""
    check = FORMATS[name].check
    for size in (63, 253, 512, 1024, KIB_64, 1 << 20):
        for prefix in PREFIXES if size <= KIB_64 else PREFIXES[:1]:
            for unit in UNITS:
                text = (prefix + unit * (size // len(unit) + 1))[:size]
                assert isinstance(check(text), bool)


@pytest.mark.parametrize("name", FORMATS)
@given(text=st.text(st.characters(exclude_categories=()), max_size=80))
@settings(max_examples=100, deadline=None)
def test_a_checker_does_not_raise(name: str, text: str) -> None:
    """Any text has a verdict, with lone surrogates too, alone and after a valid start."""
    rule = FORMATS[name]
    verdicts = [rule.check(text), rule.check(rule.example + text)]
    assert [bool, bool] == [type(verdict) for verdict in verdicts]


WATCH = """
import sys

from sidecheck_server.core.formats import FORMATS

watched = {"open", "import", "exec", "os.listdir", "os.scandir", "socket.__new__"}
seen = []
armed = False


def watch(event, arguments):
    if armed and event in watched:
        seen.append((event, str(arguments)))


sys.addaudithook(watch)
texts = [rule.example for rule in FORMATS.values()]
texts += ["xn--9n2bp8q", "\\ud800@\\xe9.\\u05d0", "\\xe9@\\xe9.x"]
texts += ["[\\\\p{L}]", "(?=a)", "\\ud800", ""]
for rule in FORMATS.values():
    rule.check("")
armed = True
for rule in FORMATS.values():
    for text in texts:
        rule.check(text)
armed = False
print(len(texts) > len(FORMATS), seen)
"""


def test_a_checker_opens_no_file() -> None:
    """After the first check of a format, none reads a file, loads a module or opens a socket."""
    done = subprocess.run(
        [sys.executable, "-c", WATCH], capture_output=True, text=True, check=False
    )
    assert (0, "True []\n", "") == (done.returncode, done.stdout, done.stderr)


SHORT_OF_MEMORY = """
import resource

from sidecheck_server.core.formats import FORMATS

pages = int(open("/proc/self/statm").read().split()[0])
limits = resource.getrlimit(resource.RLIMIT_AS)
# Less than the library takes, and enough for its exceptions.
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (8 << 20), limits[1]))
try:
    FORMATS["uri"].check("a:b")
except MemoryError:
    resource.setrlimit(resource.RLIMIT_AS, limits)
    print(FORMATS["uri"].check("a:b"), FORMATS["uri"].check("b"))
"""


def test_a_worker_without_memory_for_the_library_raises_memory_error() -> None:
    """The first check raises MemoryError; a later one succeeds with enough memory."""
    done = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY], capture_output=True, text=True, check=False
    )
    assert (0, "True False\n", "") == (done.returncode, done.stdout, done.stderr)
