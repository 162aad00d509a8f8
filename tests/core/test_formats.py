"""Formats: the official suite, and cases that it lacks."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sidecheck_server.core.formats import FORMATS, format_checker, format_rule
from support.shared_material import REPOSITORY, shared

FOLDERS = {
    "draft-04": "draft4",
    "draft-06": "draft6",
    "draft-07": "draft7",
    "2019-09": "draft2019-09",
    "2020-12": "draft2020-12",
}

IN_04 = {"date-time", "email", "hostname", "ipv4", "ipv6", "uri"}
IN_06 = IN_04 | {"json-pointer", "uri-reference", "uri-template"}
IN_07 = IN_06 | {
    "date",
    "idn-email",
    "idn-hostname",
    "iri",
    "iri-reference",
    "regex",
    "relative-json-pointer",
    "time",
}
IN_2019 = IN_07 | {"duration", "uuid"}

RULES = {
    f"{name}-{dialect}": rule
    for dialect in FOLDERS
    for name in FORMATS
    if (rule := format_rule(name, dialect)) is not None
}

Case = tuple[str, str, str]


def read_cases(dialect: str) -> Iterator[tuple[Case, str, Any, bool]]:
    """Yield each case of optional/format as its name, format, value and verdict."""
    folder = shared("json-schema-test-suite") / "tests" / FOLDERS[dialect] / "optional" / "format"
    for path in sorted(folder.glob("*.json")):
        for group in json.loads(path.read_bytes()):
            for test in group["tests"]:
                name = (path.name, group["description"], test["description"])
                yield name, group["schema"]["format"], test["data"], test["valid"]


def read_ledger(dialect: str) -> set[Case]:
    """Return the cases of *dialect* that are known to be evaluated wrongly."""
    entries = json.loads((REPOSITORY / "tests" / "ledger" / "formats.json").read_bytes())
    assert all(entry["reason"] for entry in entries)
    return {
        (entry["file"], entry["group"], entry["test"])
        for entry in entries
        if entry["dialect"] == dialect
    }


def judge(name: str, dialect: str, value: Any) -> bool:
    """Return the verdict of ``{"format": name}`` on *value* where format is asserted."""
    check = format_checker(name, dialect)
    return check is None or not isinstance(value, str) or check(value)


@pytest.mark.parametrize("dialect", FOLDERS)
def test_the_official_cases_have_the_verdicts_of_the_suite(dialect: str) -> None:
    """Exactly the cases in the ledger differ."""
    cases = list(read_cases(dialect))
    assert cases
    known_gaps = read_ledger(dialect) & {case for case, *_ in cases}
    wrong_verdicts = {
        case for case, name, value, valid in cases if judge(name, dialect, value) is not valid
    }
    assert known_gaps == wrong_verdicts


@pytest.mark.parametrize(
    ("dialect", "names"),
    [
        pytest.param("draft-04", IN_04, id="draft-04"),
        pytest.param("draft-06", IN_06, id="draft-06"),
        pytest.param("draft-07", IN_07, id="draft-07"),
        pytest.param("2019-09", IN_2019, id="2019-09"),
        pytest.param("2020-12", IN_2019, id="2020-12"),
        pytest.param("draft-03", set(), id="unsupported-dialect"),
    ],
)
def test_a_dialect_has_the_formats_that_it_defines(dialect: str, names: set[str]) -> None:
    """A format of a later dialect is unknown, so it has no checker."""
    assert names == {name for name in FORMATS if format_checker(name, dialect) is not None}


def test_an_unknown_format_has_no_checker() -> None:
    """Any value is valid."""
    assert format_checker("color", "2020-12") is None


def test_the_table_holds_the_newest_rule_of_each_format() -> None:
    """The rule that is under a name is the one of dialect 2020-12."""
    assert {name: format_rule(name, "2020-12") for name in IN_2019} == dict(FORMATS)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_the_example_of_a_format_has_it(rule: Any) -> None:
    """An example in a message is one that would be accepted."""
    assert rule.check(rule.example) is True


def label_of(length: int) -> str:
    return "a" * length


VERDICTS = [
    ("date", "0000-02-29", True),
    ("date", "2024-02-29\n", False),
    ("time", "23:59:60.999Z", True),
    ("time", "00:00:60+00:01", True),
    ("time", "12:00:00.Z", False),
    ("time", "12:00:00-00:60", False),
    ("date-time", "1990-12-31T15:59:60-08:00", True),
    ("date-time", "2017-01-01T00:59:60+01:00", True),
    ("date-time", "2016-12-30T23:59:60Z", False),
    ("date-time", "2016-12-31T00:59:60+01:00", False),
    ("date-time", "2017-01-01T15:59:60-08:00", False),
    ("date-time", "0000-01-01T00:00:00Z", True),
    ("date-time", "2025-11-25 12:00:00Z", False),
    ("date-time", "2025-11-25", False),
    ("duration", "p1d", False),
    ("duration", "P1Y1M1DT1H1M1S", True),
    ("duration", "PT", False),
    ("email", f"{label_of(64)}@example.com", True),
    ("email", f"{label_of(65)}@example.com", False),
    ("email", f"a@{label_of(64)}.com", False),
    ("email", '"a\\"b"@example.com', True),
    ("email", '"a"b"@example.com', False),
    ("email", '"a\tb"@example.com', False),
    ("email", "a(comment)@example.com", False),
    ("email", "a@example.com.", False),
    ("email", "a@localhost", True),
    ("email", "a@[ipv6:::1]", True),
    ("email", "a@[::1]", False),
    ("email", "a@[IPv6:127.0.0.1]", False),
    ("email", "a@[tag:x]", False),
    ("email", "é@example.com", False),
    ("idn-email", "é" * 32 + "@example.com", True),
    ("idn-email", "é" * 33 + "@example.com", False),
    ("idn-email", "\ud800@example.com", False),
    ("idn-email", "info@Müller.example", True),
    ("idn-email", "info@\u302e실례.example", False),
    ("idn-email", "info@bücher_.example", False),
    ("idn-email", "info@xn--X", True),
    ("idn-email", "info@xn--de", True),
    ("idn-email", "info@\u1100.example", False),
    ("idn-email", "info@\u30a0.example", False),
    ("idn-email", "info@\u10a0.example", True),
    ("hostname", "r3---sn-5hne6nsr.example", True),
    ("hostname", "xn--", False),
    ("hostname", "example.com.", False),
    ("hostname", ".".join([label_of(63)] * 3 + [label_of(61)]), True),
    ("hostname", ".".join([label_of(63)] * 3 + [label_of(62)]), False),
    ("idn-hostname", "bücher.example。", False),
    ("idn-hostname", "Bücher.example", False),
    ("idn-hostname", "bücher.EXAMPLE", True),
    ("idn-hostname", "cafe\u0301.example", False),
    ("idn-hostname", "bücher.xn--4db", True),
    ("idn-hostname", "0.bücher.xn--4db", False),
    ("idn-hostname", "ü" * 250, False),
    ("ipv4", "192.168.0.01", False),
    ("ipv4", "192.168.0.1\x00", False),
    ("ipv6", "fe80::1%eth0", False),
    ("ipv6", "1:2:3:4:5:6:7::", True),
    ("ipv6", "1::2:3:4:5:6:7:8", False),
    ("uri", "urn:", True),
    ("uri", "http://example.com:/", True),
    ("uri", "http://[::1%25eth0]/", False),
    ("uri", "http://[v1.x:y]/", True),
    ("uri", "http://[::1/", False),
    ("uri", "http://[::1]x/", False),
    ("uri", "http://example.com/\n", False),
    ("uri", "http://example.com/#a#b", False),
    ("uri-reference", "a/b:c", True),
    ("uri-reference", "?a:b", True),
    ("iri", "http://é.example/\ue000", False),
    ("iri", "http://é.example/?\ue000", True),
    ("iri", "http://é.example/#\ue000", False),
    ("iri", "http://é.example/\ufffe", False),
    ("iri", "http://é.example/\U0002ffff", False),
    ("iri", "http://é.example/\U000e0fff", False),
    ("iri", "http://é.example/\U000efffd", True),
    ("iri", "http://é.example/\u202egnp.exe", False),
    ("iri", "http://é.example/\ud800", False),
    ("iri", "é:a", False),
    ("iri-reference", "é", True),
    ("iri-reference", "\u200eé", False),
    ("iri-reference", "?\u202a", False),
    ("iri-reference", "\u2066é", True),
    ("uri-template", "{=a}", True),
    ("uri-template", "{a:1*}", False),
    ("uri-template", "{é}", False),
    ("uri-template", "\ue000\u202e", True),
    ("uri-template", "\x80", False),
    ("uri-template", "\ufdd0", False),
    ("uri-template", "\ufff0", False),
    ("uri-template", "\uffef", True),
    ("uri-template", "\U0001fffd", True),
    ("uri-template", "\U0001fffe", False),
    ("uri-template", "\U0010ffff", False),
    ("uri-template", "\U000e0fff", False),
    ("uri-template", "\U000e1000", True),
    ("uri-template", "'", True),
    ("uri-template", "%zz", False),
    ("uri-template", "{a}}", False),
    ("uri-template", "{%4}", False),
    ("json-pointer", "/\ud800~1", False),
    ("json-pointer", "/\udfff", False),
    ("json-pointer", "/\x00\uffff~1", True),
    ("json-pointer", "/a~\n", False),
    ("relative-json-pointer", "0+1", True),
    ("relative-json-pointer", "0-1/foo", True),
    ("relative-json-pointer", "0-1#", True),
    ("relative-json-pointer", "0+", False),
    ("relative-json-pointer", "0+01", False),
    ("relative-json-pointer", "00", False),
    ("regex", "(?=a)(?<!b)(c)\\1", True),
    ("regex", "(?=a)(", False),
    ("regex", "a{2,1}", False),
    ("regex", "\\Z", False),
    ("regex", "\ud800", True),
    ("uuid", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}", False),
]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [pytest.param(*row, id=f"{row[0]}-{ascii(row[1])[1:41]}-{row[2]}") for row in VERDICTS],
)
def test_a_format_follows_its_clause(name: str, text: str, expected: bool) -> None:
    """The RFC that the dialect cites decides cases that the suite lacks."""
    assert expected is FORMATS[name].check(text)


@pytest.mark.parametrize(
    ("name", "text", "verdicts"),
    [
        pytest.param(
            "hostname",
            "xn--X",
            {"draft-04": True, "draft-06": True, "draft-07": False, "2019-09": False},
            id="a-labels",
        ),
        pytest.param(
            "relative-json-pointer",
            "0+1",
            {"draft-07": False, "2019-09": False, "2020-12": True},
            id="moving-along-an-array",
        ),
    ],
)
def test_a_format_changes_its_meaning_between_dialects(
    name: str, text: str, verdicts: dict[str, bool]
) -> None:
    """Each dialect is evaluated by the document that it cites."""
    assert verdicts == {dialect: judge(name, dialect, text) for dialect in verdicts}
