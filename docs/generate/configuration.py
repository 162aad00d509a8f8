"""The page of settings and limits, from the settings themselves."""

from typing import Any

import click
from pydantic.fields import FieldInfo
from sidecheck_server.cli.serve import describe_fields, serve, setting_groups
from sidecheck_server.config.settings import Settings

from docs.generate.markdown import NOTICE, code, table

__all__ = ["configuration_page"]

_PAGE = """\
# Configuration and limits

{notice}
A flag of `sidecheck serve` takes precedence over an environment variable, that over the
settings file, and that over the default. The file is TOML and named by `--config` or by
`SIDECHECK_CONFIG`; unknown names in it are errors. On an invalid setting, the server prints a
message that names it, and exits.

```toml
listen = "127.0.0.1:50151"
registry = "/var/lib/sidecheck/tools.db"
report_only = ["payments"]

[limits]
payload_bytes = 65536
```

In an environment variable, a list is written with commas (`SIDECHECK_REPORT_ONLY=payments,mail`) or
as JSON (`SIDECHECK_REPORT_ONLY='["payments", "mail"]'`), and the name of a limit follows two
underscores (`SIDECHECK_LIMITS__PAYLOAD_BYTES=65536`). `sidecheck serve --help` lists the same
settings.

## Settings

{settings}
## Transport

Limits on concurrent connections, calls, streams and bytes, as a table `[transport]` of the file or
as `SIDECHECK_TRANSPORT__CALLS=64`. Calls beyond them are shed with `OVERLOADED` and a `RetryInfo`,
or wait in their clients; see [Overload](../operations/capacity.md#overload).

{transport}
## Gateway policies

The handling of invalid messages in the traffic of a [gateway](../guides/gateways.md), as a
table `[gateway_policies]` of the file or as `SIDECHECK_GATEWAY_POLICIES__ARGUMENTS=enforce`. The
first four are `enforce`, `audit` or `off`; `repair` is `off`, `json-strings`, `safe-scalars` or
`defaults`; `pins` is `off`, `first-use` or `locked`; `allow` is a list of
[exemptions](../guides/proxy-findings.md#exemptions). They have the same meaning as for the
[proxy](../guides/proxy.md#policies).

{gateway_policies}
## Limits

A request beyond a limit fails with `LIMIT_EXCEEDED`; the metadata contain the name of the limit
(`bound`), its value (`limit`) and, if known, the value of the request. `InfoService.GetServerInfo`
returns the limits that a caller can act on. A step is about one comparison, some 25 nanoseconds.
Limits that are not listed here are fixed:
`recursion_depth`, `number_digits` (4,300, before and after the point), and for patterns
`pattern_depth`, `pattern_look_aheads`, `pattern_repetition_depth` and `pattern_expression_length`.

{limits}
## Registry quotas

A registration beyond a quota fails with `QUOTA_EXCEEDED` and registers nothing; the metadata name
the quota, its limit and the usage that the registration would reach. In an environment
variable, the name of a quota follows two underscores
(`SIDECHECK_REGISTRY_QUOTAS__SERVER_TOOLS=1000`). A registry beyond a quota is still served; it
may shrink and change, but not grow. See the [registry](../guides/registry.md#quotas).

{registry_quotas}"""


def configuration_page() -> str:
    """Return the page."""
    flags = {
        option.name: option.opts[0] if not option.secondary_opts else "/".join(_names(option))
        for option in serve.params
        if isinstance(option, click.Option)
    }
    settings = table(
        ("Setting", "Flag", "Default", "Description"),
        (
            (code(name), code(flags.get(name, "")), _default(field), field.description or "")
            for name, field in Settings.model_fields.items()
            if name not in dict(setting_groups())
        ),
    )
    groups = {
        name: table(
            ("Name", "Default", "Description"),
            (
                (code(field), _value(getattr(defaults, field)), description)
                for field, description in describe_fields(type(defaults)).items()
            ),
        )
        for name, defaults in setting_groups()
    }
    return _PAGE.format(notice=NOTICE, settings=settings, **groups)


def _names(option: click.Option) -> tuple[str, str]:
    return option.opts[0], option.secondary_opts[0]


def _default(field: FieldInfo) -> str:
    return _value(field.get_default(call_default_factory=True))


def _value(value: Any) -> str:
    match value:
        case bool():
            return code(str(value).lower())
        case None | () | "":
            return "none"
        case int():
            return f"{value:,}"
        case _:
            return code(str(value))
