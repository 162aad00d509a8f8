"""Generated parts of the schema of the Helm chart's values: settings and tokens of the service."""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from sidecheck_server.access.tokens import TokenEntry
from sidecheck_server.config.settings import Settings, limit_range

__all__ = ["CHART_SETTINGS", "values_schema"]

_FILE = Path(__file__).parents[2] / "deploy" / "helm" / "sidecheck" / "values.schema.json"

CHART_SETTINGS = frozenset(
    {
        "admin_listen",
        "listen",
        "registry",
        "tls_certificate",
        "tls_client_ca",
        "tls_key",
        "tokens_file",
        "tools",
        "unix_socket",
        "unix_socket_mode",
    }
)
"""Addresses and files, for which the chart has values with other names."""

_FILES_OF_PINS = frozenset({"pins", "pins_folder"})
"""Policies that write files, which a pod cannot store and replicas do not share."""

_REQUIRED_SETTINGS = ["drain_seconds", "grace_seconds"]
"""Settings from which the chart computes the time that a pod has to stop."""

_OMITTED = {"$defs", "$ref", "default", "title"}
"""References, and annotations. A default here would look like one of the chart."""


def values_schema() -> str:
    """Return the current file, with the settings and the tokens that the service reads."""
    schema = json.loads(_FILE.read_text(encoding="utf-8"))
    schema["properties"]["settings"] = _settings()
    tokens = schema["properties"]["tokens"]["properties"]
    tokens["entries"]["items"] = _inline_references(TypeAdapter(TokenEntry).json_schema())
    return json.dumps(schema, indent=2) + "\n"


def _settings() -> dict[str, Any]:
    schema = _inline_references(Settings.model_json_schema())
    properties = schema["properties"]
    policies = properties["gateway_policies"]["properties"]
    for name in _FILES_OF_PINS:
        del policies[name]
    for name, limit in properties["limits"]["properties"].items():
        if limit["type"] == "integer":
            limit["minimum"], limit["maximum"] = limit_range(name)
    for quota in properties["registry_quotas"]["properties"].values():
        quota["minimum"] = 1
    return {
        "description": "Settings of the service.",
        "type": "object",
        "additionalProperties": False,
        "required": _REQUIRED_SETTINGS,
        "properties": {
            name: setting for name, setting in properties.items() if name not in CHART_SETTINGS
        },
    }


def _inline_references(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with the targets in place of the references."""
    definitions = schema.get("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, list):
            return [resolve(item) for item in node]
        if not isinstance(node, dict):
            return node
        target = definitions[node["$ref"].rpartition("/")[2]] if "$ref" in node else {}
        whole = {**target, **node}
        return {key: resolve(value) for key, value in whole.items() if key not in _OMITTED}

    return dict(resolve(schema))
