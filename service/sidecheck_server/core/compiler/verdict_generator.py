"""The generator: from the canonical form to the source of functions that say yes or no.

The keywords raise a bare `Invalid` where fastjsonschema builds messages, and call
functions of ours where its own code is wrong or can be flooded. Unions and conditions
that are tried are fastjsonschema's.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from sidecheck_server.core.compiler.conditions import BOUNDS, TYPE_TESTS, display, fits_types, is_in
from sidecheck_server.core.compiler.generated_frame import GeneratedFrame
from sidecheck_server.core.types import JsonValue

__all__ = ["VerdictGenerator"]


class VerdictGenerator(GeneratedFrame):
    """Generates functions ``dN(data)`` that return if *data* is valid and raise if not."""

    def __init__(self, schema: Any, constants: Sequence[JsonValue], *, counted: bool) -> None:
        super().__init__(schema, constants, counted=counted)
        keywords = self._json_keywords_to_function
        for name in BOUNDS:
            keywords[name] = lambda name=name: self.generate_bound(name)
        # Only what the canonical form has; content* would decode, and change, the data.
        keywords["format"] = self.generate_format
        keywords["byType"] = self.generate_by_type
        keywords["byMember"] = self.generate_by_member
        del keywords["const"], keywords["contentEncoding"], keywords["contentMediaType"]

    # Keywords for any value

    def generate_type(self) -> None:
        if self._given is self._definition or fits_types(self._definition):
            return
        tests = [TYPE_TESTS[name].format(self._variable) for name in self._definition["type"]]
        self.fail_if(f"not ({' or '.join(tests)})")

    def generate_enum(self) -> None:
        self.fail_if(f"not ({is_in(self._variable, self._definition['enum'])})")

    # Unions whose branches exclude each other

    def generate_by_type(self) -> None:
        for index, (types, definition) in enumerate(self._definition["byType"]):
            test = " or ".join(TYPE_TESTS[name].format(self._variable) for name in types)
            with self.block(f"{'elif' if index else 'if'} {test}:"):
                given = isinstance(definition, dict) and definition.get("type") == types
                self.child(definition, self._variable, given=given)
        with self.block("else:"):
            self.l("raise Invalid")

    def generate_by_member(self) -> None:
        name, cases = self._definition["byMember"]["name"], self._definition["byMember"]["cases"]
        variable = self._variable
        with self.guard("object"):
            if name not in self._definition.get("required", ()):
                self.fail_if(f"{name!r} not in {variable}")
            self.l("{variable}_t = {variable}[{}]", repr(name))
            values = [value for values, _ in cases for value in values]
            self.fail_if(f"not ({is_in(f'{variable}_t', values)})")
            self.choose(cases)

    def choose(self, cases: Sequence[Any]) -> None:
        """Write what takes the one of *cases* that the value of the member is in."""
        if len(cases) == 1:
            ((_, definition),) = cases
            given = isinstance(definition, dict) and definition.get("type") == ["object"]
            self.child(definition, self._variable, given=given)
            return
        half = len(cases) // 2
        values = [value for values, _ in cases[:half] for value in values]
        with self.block(f"if {is_in(f'{self._variable}_t', values, hashable=True)}:"):
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
                self.pay(f"len({variable})", rest)
                tail = f"{variable}[{len(listed)}:]" if listed else variable
                with self.block(f"for {variable}_i in {tail}:"):
                    self.child(rest, f"{variable}_i")

    def generate_contains(self) -> None:
        variable, definition = self._variable, self._definition
        with self.guard("array"):
            self.l("{variable}_c = 0")
            self.pay(f"len({variable})", {"not": definition["contains"]})
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
                    # That what is required is there was tested before.
                    there = (
                        nullcontext()
                        if name in required
                        else self.block(f"if {name!r} in {variable}:")
                    )
                    with there:
                        self.l("{variable}_{} = {variable}[{}]", index, repr(name))
                        self.child(definition, f"{variable}_{index}")

    def generate_pattern_properties(self) -> None:
        variable = self._variable
        members = self._definition["patternProperties"]
        judged = {p: d for p, d in members.items() if d is not True and d != {}}
        if judged:
            with self.guard("object"):
                self.pay(f"len({variable})", *judged.values())
                with self.block(f"for {variable}_k, {variable}_v in {variable}.items():"):
                    for pattern, definition in judged.items():
                        with self.block(f"if P{pattern}({variable}_k, budget):"):
                            self.child(definition, f"{variable}_v")

    def generate_additional_properties(self) -> None:
        rest = self._definition["additionalProperties"]
        if rest is True or rest == {}:
            return
        variable = self._variable
        known = list(self._definition.get("properties", ()))
        tests = [f"{variable}_k not in {display(known)}"] if known else []
        patterns = self._definition.get("patternProperties", ())
        if rest is False and not patterns:
            self.close(known)
            return
        tests += [f"not P{pattern}({variable}_k, budget)" for pattern in patterns]
        with self.guard("object"):
            self.pay(f"len({variable})", rest)
            with (
                self.block(f"for {variable}_k, {variable}_v in {variable}.items():"),
                self.block(f"if {' and '.join(tests) or 'True'}:"),
            ):
                self.child(rest, f"{variable}_v")

    def close(self, known: Sequence[str]) -> None:
        """Write that there are no members but the *known* ones."""
        variable = self._variable
        with self.guard("object"):
            if not known or frozenset(known) == frozenset(self._definition.get("required", ())):
                # None or all of them are there.
                self.fail_if(f"len({variable}) > {len(known)}")
            else:
                self.fail_if(f"not {variable}.keys() <= {self.known_names(known)}")

    def generate_property_names(self) -> None:
        names = self._definition["propertyNames"]
        if names is True or names == {}:
            return
        with self.guard("object"):
            self.pay(f"len({self._variable})", names)
            with self.block(f"for {self._variable}_k in {self._variable}:"):
                self.child(names, f"{self._variable}_k")

    def generate_dependencies(self) -> None:
        variable = self._variable
        with self.guard("object"):
            self.l("pass")
            for name, needed in self._definition["dependencies"].items():
                with self.block(f"if {name!r} in {variable}:"):
                    if not isinstance(needed, list):
                        self.child(needed, variable)
                    elif needed:
                        self.fail_if(
                            " or ".join(f"{other!r} not in {variable}" for other in needed)
                        )
