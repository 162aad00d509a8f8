"""Generation of the fast engine's code from schemas in canonical form.

The generated keywords raise a bare `Invalid` where fastjsonschema builds messages, and
call our own functions where its code is wrong or has unbounded cost. Unions whose
branches are tried, and conditions, are fastjsonschema's.
"""

import ast
import marshal
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from sidecheck_server.core.compiler.generated_frame import (
    BOUNDS,
    TYPE_TESTS,
    GeneratedFrame,
    enum_implies_types,
    write_membership_test,
    write_set,
)
from sidecheck_server.core.engines.allowed_code import check_generated_code
from sidecheck_server.core.engines.fast import FastCode
from sidecheck_server.core.engines.weights import needs_budget
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.canonical import CannotLowerError, Lowered
from sidecheck_server.core.types import JsonValue

__all__ = ["VerdictGenerator", "generate_code"]


class VerdictGenerator(GeneratedFrame):
    """Generator of functions ``dN(data)`` that raise `Invalid` unless *data* is valid."""

    def __init__(self, schema: Any, constants: Sequence[JsonValue], *, counted: bool) -> None:
        super().__init__(schema, constants, counted=counted)
        keywords = self._json_keywords_to_function
        for name in BOUNDS:
            keywords[name] = lambda name=name: self.generate_bound(name)
        # Only keywords of the canonical form; content* would decode, and change, the data.
        keywords["format"] = self.generate_format
        keywords["byType"] = self.generate_by_type
        keywords["byProperty"] = self.generate_by_property
        del keywords["const"], keywords["contentEncoding"], keywords["contentMediaType"]

    # Keywords for any value

    def generate_type(self) -> None:
        if self._type_checked is self._definition or enum_implies_types(self._definition):
            return
        tests = [TYPE_TESTS[name].format(self._variable) for name in self._definition["type"]]
        self.fail_if(f"not ({' or '.join(tests)})")

    def generate_enum(self) -> None:
        self.fail_if(f"not ({write_membership_test(self._variable, self._definition['enum'])})")

    # Unions whose branches exclude each other

    def generate_by_type(self) -> None:
        for index, (types, definition) in enumerate(self._definition["byType"]):
            test = " or ".join(TYPE_TESTS[name].format(self._variable) for name in types)
            with self.block(f"{'elif' if index else 'if'} {test}:"):
                type_checked = isinstance(definition, dict) and definition.get("type") == types
                self.child(definition, self._variable, type_checked=type_checked)
        with self.block("else:"):
            self.l("raise Invalid")

    def generate_by_property(self) -> None:
        name, cases = (
            self._definition["byProperty"]["name"],
            self._definition["byProperty"]["cases"],
        )
        variable = self._variable
        with self.guard("object"):
            if name not in self._definition.get("required", ()):
                self.fail_if(f"{name!r} not in {variable}")
            self.l("{variable}_t = {variable}[{}]", repr(name))
            values = [value for values, _ in cases for value in values]
            self.fail_if(f"not ({write_membership_test(f'{variable}_t', values)})")
            self.choose(cases)

    def choose(self, cases: Sequence[Any]) -> None:
        """Write the binary search for the one of *cases* that has the property's value."""
        if len(cases) == 1:
            ((_, definition),) = cases
            type_checked = isinstance(definition, dict) and definition.get("type") == ["object"]
            self.child(definition, self._variable, type_checked=type_checked)
            return
        half = len(cases) // 2
        values = [value for values, _ in cases[:half] for value in values]
        with self.block(
            f"if {write_membership_test(f'{self._variable}_t', values, hashable=True)}:"
        ):
            self.choose(cases[:half])
        with self.block("else:"):
            self.choose(cases[half:])

    # Keywords for numbers and strings

    def generate_bound(self, name: str) -> None:
        kind, comparison = BOUNDS[name]
        with self.guard(kind):
            self.fail_if(comparison.format(self._variable, repr(self._definition[name])))

    def generate_multiple_of(self) -> None:
        with self.guard("number"):
            divisor = self._definition["multipleOf"]
            self.fail_if(f"not is_multiple({self._variable}, {divisor!r}, budget)")

    def generate_pattern(self) -> None:
        with self.guard("string"):
            self.fail_if(f"not P{self._definition['pattern']}({self._variable}, budget)")

    def generate_format(self) -> None:
        with self.guard("string"):
            self.fail_if(f"not F{self._definition['format']}({self._variable}, budget)")

    # Keywords for arrays

    def generate_unique_items(self) -> None:
        with self.guard("array"):
            self.fail_if(f"not all_unique({self._variable}, budget)")

    def generate_items(self) -> None:
        items = self._definition["items"]
        listed = items if isinstance(items, list) else []
        rest = self._definition.get("additionalItems", True) if listed or items == [] else items
        variable = self._variable
        with self.guard("array"):
            self.l("pass")
            for index, definition in enumerate(listed):
                if definition is not True and definition != {}:
                    with self.block(f"if len({variable}) > {index}:"):
                        self.l("{variable}_{0} = {variable}[{0}]", index)
                        self.child(definition, f"{variable}_{index}")
            if rest is False:
                self.fail_if(f"len({variable}) > {len(listed)}")
            elif rest is not True and rest != {}:
                self.charge(f"len({variable})", rest)
                tail = f"{variable}[{len(listed)}:]" if listed else variable
                with self.block(f"for {variable}_i in {tail}:"):
                    self.child(rest, f"{variable}_i")

    def generate_contains(self) -> None:
        variable, definition = self._variable, self._definition
        with self.guard("array"):
            self.l("{variable}_c = 0")
            self.charge(f"len({variable})", {"not": definition["contains"]})
            with self.block(f"for {variable}_i in {variable}:"):
                with self.block("try:"):
                    self.child(definition["contains"], f"{variable}_i")
                    self.l("{variable}_c += 1")
                self.l("except Invalid: pass")
            tests = [f"{variable}_c < {definition['minContains']!r}"]
            if "maxContains" in definition:
                tests.append(f"{variable}_c > {definition['maxContains']!r}")
            self.fail_if(" or ".join(tests))

    # Keywords for objects

    def generate_required(self) -> None:
        names = self._definition["required"]
        if names:
            with self.guard("object"):
                self.fail_if(" or ".join(f"{name!r} not in {self._variable}" for name in names))

    def generate_properties(self) -> None:
        variable = self._variable
        required = frozenset(self._definition.get("required", ()))
        with self.guard("object"):
            self.l("pass")
            for index, (name, definition) in enumerate(self._definition["properties"].items()):
                if definition is not True and definition != {}:
                    # Required properties are known to be present.
                    if_present = (
                        nullcontext()
                        if name in required
                        else self.block(f"if {name!r} in {variable}:")
                    )
                    with if_present:
                        self.l("{variable}_{} = {variable}[{}]", index, repr(name))
                        self.child(definition, f"{variable}_{index}")

    def generate_pattern_properties(self) -> None:
        variable = self._variable
        definitions = {
            pattern: definition
            for pattern, definition in self._definition["patternProperties"].items()
            if definition is not True and definition != {}
        }
        if definitions:
            with self.guard("object"):
                self.charge(f"len({variable})", *definitions.values())
                with self.block(f"for {variable}_k, {variable}_v in {variable}.items():"):
                    for pattern, definition in definitions.items():
                        with self.block(f"if P{pattern}({variable}_k, budget):"):
                            self.child(definition, f"{variable}_v")

    def generate_additional_properties(self) -> None:
        rest = self._definition["additionalProperties"]
        if rest is True or rest == {}:
            return
        variable = self._variable
        known = list(self._definition.get("properties", ()))
        tests = [f"{variable}_k not in {write_set(known)}"] if known else []
        patterns = self._definition.get("patternProperties", ())
        if rest is False and not patterns:
            self.close(known)
            return
        tests += [f"not P{pattern}({variable}_k, budget)" for pattern in patterns]
        with self.guard("object"):
            self.charge(f"len({variable})", rest)
            with (
                self.block(f"for {variable}_k, {variable}_v in {variable}.items():"),
                self.block(f"if {' and '.join(tests) or 'True'}:"),
            ):
                self.child(rest, f"{variable}_v")

    def close(self, known: Sequence[str]) -> None:
        """Write that there are no properties but the *known* ones."""
        variable = self._variable
        with self.guard("object"):
            if not known or frozenset(known) == frozenset(self._definition.get("required", ())):
                # The required ones are known to be present, so a count is enough.
                self.fail_if(f"len({variable}) > {len(known)}")
            else:
                self.fail_if(f"not {variable}.keys() <= {self.known_names(known)}")

    def generate_property_names(self) -> None:
        names = self._definition["propertyNames"]
        if names is True or names == {}:
            return
        with self.guard("object"):
            self.charge(f"len({self._variable})", names)
            with self.block(f"for {self._variable}_k in {self._variable}:"):
                self.child(names, f"{self._variable}_k")

    def generate_dependencies(self) -> None:
        variable = self._variable
        with self.guard("object"):
            self.l("pass")
            for name, dependent in self._definition["dependencies"].items():
                with self.block(f"if {name!r} in {variable}:"):
                    if not isinstance(dependent, list):
                        self.child(dependent, variable)
                    elif dependent:
                        self.fail_if(
                            " or ".join(f"{other!r} not in {variable}" for other in dependent)
                        )


def generate_code(lowered: Lowered, limits: Limits) -> FastCode:
    """Return the code that validates against *lowered*; its entry point is ``d0``.

    Raises:
        CannotLowerError: the code is longer than the limit.
    """
    # fastjsonschema searches the schema for `$ref`, so it gets only the definitions, and
    # a reference to the first.
    schema = {"definitions": lowered.definitions, "$ref": "#/definitions/d0"}
    counted = needs_budget([*lowered.definitions.values()], lowered.constants)
    generator = VerdictGenerator(schema, lowered.constants, counted=counted)
    source = generator.func_code
    if len(source) > limits.code_length:
        raise CannotLowerError("code longer than the limit")
    tree = ast.parse(source)
    check_generated_code(tree)
    return FastCode(
        marshal.dumps(compile(tree, "<schema>", "exec")),
        tuple(lowered.patterns),
        tuple(lowered.formats),
        tuple(lowered.constants),
        counted,
    )
