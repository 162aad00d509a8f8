"""Lists the clauses of the specification: ``python -m docs.generate.clauses CHECKOUT``.

CHECKOUT is a checkout of the repository modelcontextprotocol/modelcontextprotocol. Without
it, the command prints which clauses have no assessment.
"""

import json
import sys
from pathlib import Path

from docs.generate.clauses.extract import sentences
from docs.generate.clauses.table import assessments, clauses

_LIST = Path(__file__).with_name("list.json")


def write_list(checkout: Path) -> None:
    """Write the list of the clauses in *checkout*."""
    entries: dict[str, dict[str, object]] = {}
    places: dict[str, list[list[str]]] = {}
    for sentence in sentences(checkout):
        place = [sentence.version, sentence.page, sentence.anchor]
        known = places.setdefault(sentence.digest, [])
        if place not in known:
            known.append(place)
        entries[sentence.digest] = {"level": sentence.level, "places": known}
    ordered = sorted(entries, key=lambda digest: (places[digest][-1][1], places[digest][-1][0]))
    lines = (f"  {json.dumps(digest)}: {json.dumps(entries[digest])}" for digest in ordered)
    _LIST.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def main(arguments: list[str]) -> None:
    """Write the list, or print what is not assessed."""
    if arguments:
        write_list(Path(arguments[0]))
        return
    for digest, clause in clauses().items():
        if digest not in assessments():
            version, page, anchor = clause.places[-1]
            print(f"{digest} {clause.level} {version}/{page}#{anchor}")
    for digest in assessments().keys() - clauses().keys():
        print(f"{digest} is assessed and not in the list")


if __name__ == "__main__":
    main(sys.argv[1:])
