#!/usr/bin/env python3
"""Adds the npm packages that the page vendors to bills of materials in CycloneDX.

usage: .ci/add_vendored.py BILL...
"""

import json
import sys
from pathlib import Path
from typing import Any

_LOCK = Path(__file__).parents[1] / "service/sidecheck_server/admin/page/vendor/lock.json"


def main() -> None:
    """Add the packages of the lock to each bill."""
    packages = json.loads(_LOCK.read_text())["packages"]
    for name in sys.argv[1:]:
        path = Path(name)
        bill = json.loads(path.read_text())
        components = [*bill["components"], *map(_component, packages)]
        bill["components"] = sorted(components, key=lambda component: component["bom-ref"])
        path.write_text(json.dumps(bill, indent=2, ensure_ascii=False))


def _component(package: dict[str, Any]) -> dict[str, Any]:
    purl = f"pkg:npm/{package['name']}@{package['version']}"
    return {
        "bom-ref": purl,
        "licenses": [{"license": {"id": package["license"]}}],
        "name": package["name"],
        "purl": purl,
        "type": "library",
        "version": package["version"],
    }


if __name__ == "__main__":
    main()
