"""The generator: from the canonical form to the source of functions that say yes or no.

The frame (functions, blocks, indentation, unions, conditions) is fastjsonschema's
generator, which is why its release is pinned exactly; the keywords here raise a bare
`Invalid` where fastjsonschema builds messages, and call functions of ours where its
own code is wrong or can be flooded. Strings of the schema enter the code only as
``repr()`` of constants.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from fastjsonschema.draft07 import CodeGeneratorDraft07
from fastjsonschema.ref_resolver import RefResolver

from sidecheck_server.core.engines.conditions import (
    BOUNDS,
    KIND_OF_TYPE,
    TYPE_TESTS,
    display,
    is_one_of,
)
from sidecheck_server.core.engines.weights import schema_weight
from sidecheck_server.core.schemas.canonical import CannotLowerError, Constant
from sidecheck_server.core.words import JsonValue

__all__ = ["VerdictGenerator"]


class VerdictGenerator(CodeGeneratorDraft07):
    """Generates functions ``dN(data)`` that return if *data* is valid and raise if not."""

    # What is being generated just now; the frame sets and restores them.
    _definition: Any
    _variable: Any

    def __init__(self, schema: Any, constants: Sequence[JsonValue], *, counted: bool) -> None:
        resolver = RefResolver("", schema, store={}, handlers=_NoHandlers())
        super().__init__(
            schema,
            resolver=resolver,
            formats={},
            use_default=False,
            use_formats=False,
            detailed_exceptions=False,
            fast_fail=True,
        )
        self.constants = constants
        self.counted = counted
        self._needed_validation_functions = {"#/definitions/d0": "d0"}
        keywords = self._json_keywords_to_function
        for name in BOUNDS:
            keywords[name] = lambda name=name: self.generate_bound(name)
        # Only what the canonical form has; content* would decode, and change, the data.
        keywords["format"] = self.generate_format
        del keywords["const"], keywords["contentEncoding"], keywords["contentMediaType"]

    # Frame

    def generate_func_code(self) -> None:
        while self._needed_validation_functions:
            uri, name = self._needed_validation_functions.popitem()
            self.generate_validation_function(uri, name)

    def generate_validation_function(self, uri: str, name: str) -> None:
        self._validation_functions_done.add(uri)
        definition = self._root_definition["definitions"][name]
        with self.l("def {}(data{}):", name, ", budget" if self.counted else "", optimize=False):
            self.l("pass")
            self.pay("", definition)
            self.generate_func_code_block(definition, "data", "data", clear_variables=True)

    def generate_ref(self) -> None:
        uri = self._definition["$ref"]
        name = uri.rpartition("/")[2]
        if uri not in self._validation_functions_done:
            self._needed_validation_functions[uri] = name
        self.l("{}({variable}{})", name, ", budget" if self.counted else "")

    def exc(self, *_message: Any, **_details: Any) -> None:
        self.l("raise Invalid")

    def fail_if(self, condition: str) -> None:
        with self.l("if {}:", condition, optimize=False):
            self.l("raise Invalid")

    def pay(self, times: str, *bodies: Any) -> None:
        """Take what judging by *bodies* costs, *times* as often, from the budget."""
        if self.counted:
            steps = sum(schema_weight(body, self.constants) for body in bodies)
            self.l("budget[0] -= {}{}", f"{times} * " if times else "", steps)
            with self.l("if budget[0] < 0:", optimize=False):
                self.l("raise Exhausted")

    def guard(self, kind: str) -> Any:
        """Open a block for values of *kind*, unless ``type`` lets nothing else pass."""
        types = self._definition.get("type", ())
        if types and all(KIND_OF_TYPE.get(name) == kind for name in types):
            return nullcontext()
        return self.l("if {}:", TYPE_TESTS[kind].format(self._variable))

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Open the block *head*, which may stay empty."""
        with self.l("{}", head, optimize=False):
            self.l("pass")
            yield

    def child(self, definition: Any, variable: str) -> None:
        self.generate_func_code_block(definition, variable, "data", clear_variables=True)

    # Keywords for any value

    def generate_type(self) -> None:
        tests = [TYPE_TESTS[name].format(self._variable) for name in self._definition["type"]]
        self.fail_if(f"not ({' or '.join(tests)})")

    def generate_enum(self) -> None:
        values = self._definition["enum"]
        strings = [value for value in values if isinstance(value, str)]
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        variable = self._variable
        tests = [f"{variable} is {c}" for c in (None, True, False) if any(v is c for v in values)]
        if strings:
            tests.append(f"isinstance({variable}, str) and {variable} in {display(strings)}")
        if numbers:
            test = TYPE_TESTS["number"].format(variable)
            tests.append(f"{test} and {is_one_of(variable, numbers)}")
        tests += [
            f"json_equal({variable}, C{value.number})"
            for value in values
            if isinstance(value, Constant)
        ]
        self.fail_if(f"not ({' or '.join(tests)})" if tests else "True")

    # Keywords for numbers and strings

    def generate_bound(self, name: str) -> None:
        kind, comparison = BOUNDS[name]
        with self.guard(kind):
            self.fail_if(comparison.format(self._variable, repr(self._definition[name])))

    def generate_multiple_of(self) -> None:
        with self.guard("number"):
            self.fail_if(f"not is_multiple({self._variable}, {self._definition['multipleOf']!r})")

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
        with self.guard("object"):
            self.l("pass")
            for index, (name, definition) in enumerate(self._definition["properties"].items()):
                if definition is not True and definition != {}:
                    with self.block(f"if {name!r} in {variable}:"):
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
        tests += [f"not P{pattern}({variable}_k, budget)" for pattern in patterns]
        with self.guard("object"):
            self.pay(f"len({variable})", rest)
            with (
                self.block(f"for {variable}_k, {variable}_v in {variable}.items():"),
                self.block(f"if {' and '.join(tests) or 'True'}:"),
            ):
                self.child(rest, f"{variable}_v")

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


class _NoHandlers(dict[str, Any]):
    """Handlers of every URI scheme, all of which refuse: nothing is ever fetched."""

    def __contains__(self, _scheme: object) -> bool:
        return True

    def __getitem__(self, scheme: str) -> Any:
        raise CannotLowerError(f"a reference to {scheme}:")
