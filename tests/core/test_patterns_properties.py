"""The data of Unicode properties is what others say of them.

Run as a script, this file prints the module that holds the data, as the
JavaScript engine on this machine knows it:
`python tests/core/test_patterns_character_classes.py > .../patterns/property_data.py`
"""

import base64
import json
import shutil
import subprocess
import sys
import textwrap
import unicodedata
import zlib
from dataclasses import replace

import pytest
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns import character_classes, compile_pattern
from sidecheck_server.core.patterns.character_classes import (
    BINARY_PROPERTIES,
    GENERAL_CATEGORIES,
    SCRIPTS,
    find_property,
)
from sidecheck_server.core.patterns.codepoints import LAST, Ranges, unite
from sidecheck_server.core.patterns.property_data import UNICODE_VERSION
from support.counted_calls import count_calls
from support.shared_material import unavailable

#: Prints the version of Unicode, and for each line, a property, its ranges. The
#: surrogates have the same properties, and would join if they stood in one text.
LIST = r"""
const spell = (first, last) => {
  let text = "";
  for (let point = first; point <= last; point++) text += String.fromCodePoint(point);
  return text;
};
const parts = [spell(0, 0xd7ff), spell(0xe000, 0x10ffff)];
console.log(process.versions.unicode);
require("readline").createInterface({ input: process.stdin }).on("line", (property) => {
  const ranges = new RegExp(`\\p{${property}}`, "u").test("\ud800") ? [[0xd800, 0xdfff]] : [];
  const runs = new RegExp(`\\p{${property}}+`, "gu");
  for (const part of parts)
    for (const [run] of part.matchAll(runs)) {
      const trail = /[\ud800-\udbff][\udc00-\udfff]$/.test(run);
      ranges.push([run.codePointAt(0), run.codePointAt(run.length - (trail ? 2 : 1))]);
    }
  console.log(JSON.stringify(ranges));
});
"""


def list_properties() -> list[str]:
    """Return every property with data of its own, by its first name."""
    categories = [f"gc={name}" for name in dict.fromkeys(GENERAL_CATEGORIES.values())]
    scripts = list(dict.fromkeys(SCRIPTS.values()))
    binary = list(dict.fromkeys(BINARY_PROPERTIES.values()))
    return [*categories, *binary, *(f"{key}={name}" for key in ("sc", "scx") for name in scripts)]


def ask_javascript() -> tuple[str, dict[str, Ranges]]:
    """Return the version of Unicode that node has, and the code points of every property."""
    node = shutil.which("node") or ""
    if not node:
        unavailable("node is not on PATH, so there is no JavaScript to compare with")
    names = list_properties()
    completed = subprocess.run(
        [node, "-e", LIST], input="\n".join(names), capture_output=True, text=True, check=True
    )
    version, *lines = completed.stdout.splitlines()
    tables = (unite((first, last) for first, last in json.loads(line)) for line in lines)
    return version, dict(zip(names, tables, strict=True))


def pack(tables: dict[str, Ranges]) -> str:
    """Return *tables* as the properties unpack them."""
    index, numbers = [], ""
    for name, ranges in tables.items():
        if name.startswith("scx=") and ranges == tables[f"sc={name[4:]}"]:
            continue
        free = 0
        for first, last in ranges:
            numbers += chr(first - free) + chr(last - first)
            free = last
        index.append(f"{name}:{2 * len(ranges)}")
    packed = (" ".join(index) + "\n" + numbers).encode("utf-8", "surrogatepass")
    return base64.b64encode(zlib.compress(packed, 9)).decode()


MODULE = '''\
"""Generated data: the code points of every Unicode property that ECMA-262 names.

`tests/core/test_patterns_properties.py` writes this module from the Unicode Character
Database, and compares it with other sources.
"""

__all__ = ["PACKED", "UNICODE_VERSION"]

UNICODE_VERSION = "{version}"

#: Base64 of zlib of UTF-8. The first line lists the properties, each with its number of
#: characters; those characters follow. A range is two characters, whose code points are its
#: distance from the end of the previous range, and its length.
PACKED = """
{packed}
"""
'''


def write_module() -> None:
    version, tables = ask_javascript()
    packed = "\n".join(textwrap.wrap(pack(tables), 100))
    sys.stdout.write(MODULE.format(version=version, packed=packed))


@pytest.mark.slow
def test_properties_equal_those_of_javascript() -> None:
    """Every property has the code points that a JavaScript engine of the same Unicode gives it."""
    version, expected = ask_javascript()
    if version != UNICODE_VERSION:
        pytest.skip(f"node has Unicode {version}, not {UNICODE_VERSION}")

    properties = {
        name: find_property(*name.split("=")) if "=" in name else find_property(name, None)
        for name in expected
    }

    assert expected == properties


#: Code points that changed their category after Python 3.11's Unicode, version 14.
RECLASSIFIED = 8


def test_categories_equal_those_of_python() -> None:
    """A few categories have changed since Python's version of Unicode."""
    categories = ["Cn"] * (LAST + 1)
    leaves = [name for name in set(GENERAL_CATEGORIES.values()) - {"LC"} if len(name) == 2]
    for name in leaves:
        for first, last in find_property("gc", name) or ():
            categories[first : last + 1] = [name] * (last + 1 - first)

    different = [
        f"{point:04X}"
        for point in range(LAST + 1)
        if unicodedata.category(chr(point)) not in ("Cn", categories[point])
    ]

    assert len(different) <= RECLASSIFIED, different


def test_categories_add_up() -> None:
    """Every code point has one category, and a group of categories is its character_classes."""
    leaves = {name for name in GENERAL_CATEGORIES.values() if len(name) == 2} - {"LC"}
    tables = {name: find_property("gc", name) or () for name in GENERAL_CATEGORIES.values()}

    size = sum(last + 1 - first for name in leaves for first, last in tables[name])

    assert size == LAST + 1
    assert tables["LC"] == unite(tables["Lu"] + tables["Ll"] + tables["Lt"])
    for group in "LMNPSZC":
        ranges_of_group = [range_ for name in leaves if name[0] == group for range_ in tables[name]]
        assert tables[group] == unite(ranges_of_group)


def test_the_first_use_of_a_property_is_quick() -> None:
    """Unpacking the data and compiling a pattern with a large property takes few calls."""
    character_classes.read_data.cache_clear()
    character_classes.list_members.cache_clear()
    limits = replace(Limits(), pattern_instructions=99_999)

    assert count_calls(lambda: compile_pattern(r"^\p{L}+!$", limits)) < 10_000


if __name__ == "__main__":
    write_module()
