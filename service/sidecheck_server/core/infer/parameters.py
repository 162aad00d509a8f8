"""Parameters: the input schema of one function."""

import ast
from typing import Any

from sidecheck_server.core.infer.annotations import Types
from sidecheck_server.core.infer.complaints import Code, Complaint, Complaints
from sidecheck_server.core.infer.decorators import Said
from sidecheck_server.core.infer.defaults import admits, put_default
from sidecheck_server.core.infer.docstrings import Described
from sidecheck_server.core.infer.functions import Found
from sidecheck_server.core.infer.injection import is_injected
from sidecheck_server.core.infer.words import InferenceOptions, OnUnsupported
from sidecheck_server.core.types import Severity

__all__ = ["Parameters"]


class Parameters:
    """The parameters of one function that are arguments."""

    def __init__(
        self,
        found: Found,
        said: Said,
        options: InferenceOptions,
        types: Types,
        complaints: Complaints,
    ) -> None:
        self._scope = found.scope
        self._options = options
        self._types = types
        self._complaints = complaints
        self._arguments = found.node.args
        asked = said.injected_types.union(options.injected_types)
        self._given = [
            (node, default)
            for node, default in _with_defaults(found)
            if node.arg not in said.injected
            and node.arg not in options.injected_parameters
            and not is_injected(
                node, default, found.scope, asked, types.meter, autowire=said.autowire
            )
        ]
        bound = types.meter.bounds.fields
        if len(self._given) > bound:
            raise Complaint(
                Code.TOO_LARGE, f"a function of more than {bound} parameters", found.node
            )

    @property
    def names(self) -> list[str]:
        """Their names, in order."""
        return [node.arg for node, _ in self._given]

    def schema(self, described: Described) -> dict[str, Any]:
        """Return the input schema; of what is wrong there are complaints."""
        properties: dict[str, Any] = {}
        required: list[str] = []
        definitions: dict[str, Any] = {}
        positional = {id(node) for node in self._arguments.posonlyargs}
        for node, default in self._given:
            self._complaints.parameter = node.arg
            if id(node) in positional:
                self._complaints.add(
                    Complaint(
                        Code.POSITIONAL_ONLY,
                        f"{node.arg} stands before /, but arguments are by name; remove the /",
                        node,
                    )
                )
                continue
            name, schema, needed = self._property(node, default, definitions)
            if node.arg in described.parameters:
                schema.setdefault("description", described.parameters[node.arg])
            properties[name] = schema
            if needed:
                required.append(name)
        rest = self._rest(definitions)
        self._complaints.parameter = ""
        whole: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            whole["required"] = required
        whole["additionalProperties"] = rest
        if definitions:
            whole["$defs"] = definitions
        return whole

    def _property(
        self, node: ast.arg, default: ast.expr | None, definitions: dict[str, Any]
    ) -> tuple[str, dict[str, Any], bool]:
        """Return the name of an argument, its schema, and whether it must be given."""
        if node.annotation is None:
            self._miss_annotation(node)
        annotation = node.annotation or ast.Constant(None)
        self._types.classes.referred = set()
        try:
            form, info = self._types.field(annotation, self._scope, default=default)
            needed = self._types.classes.needed(self._types.classes.referred)
        except Complaint as complaint:
            self._refuse(complaint)
            return node.arg, {}, default is None
        schema = form.finished() if node.annotation is not None else {}
        schema |= info.members
        if info.text:
            schema.setdefault("description", info.text)
        required = put_default(self._types, schema, info)
        if isinstance(default, ast.Constant) and default.value is ...:
            # To Python, that is a default as any other.
            required = False
            said = "the default is left out of the schema: ... is no JSON"
            self._leave_out(default, Code.DEFAULT_NOT_JSON, said)
        elif "default" in schema and not admits(
            schema, schema["default"], needed, self._types.meter
        ):
            self._refuse_default(node, default, schema.pop("default"))
        definitions |= needed
        return info.name(node.arg, written=False), schema, required

    def _refuse_default(self, node: ast.arg, default: ast.expr | None, value: Any) -> None:
        """Warn of a default that the type of its parameter does not admit."""
        code, right = Code.DEFAULT_NOT_JSON, "give one that it admits, or none"
        if value is None:
            code, right = Code.IMPLICIT_OPTIONAL, "write Optional[...]"
        said = f"the default of {node.arg} is one that its type does not admit"
        self._leave_out(default, code, f"{said}, and is left out; {right}")

    def _rest(self, definitions: dict[str, Any]) -> Any:
        """Return what stands for the arguments that have no parameter."""
        variadic, keywords = self._arguments.vararg, self._arguments.kwarg
        if variadic is not None:
            self._complaints.parameter = variadic.arg
            self._complaints.add(
                Complaint(
                    Code.VARIADIC_PARAMETER,
                    f"*{variadic.arg} takes arguments without names, but arguments are by name; "
                    "a parameter with the type list[...] can take them",
                    variadic,
                )
            )
        if keywords is None:
            return False
        self._complaints.parameter = keywords.arg
        if keywords.annotation is None:
            self._miss_annotation(keywords)
            return True
        self._types.classes.referred = set()
        try:
            schema = self._types.schema(keywords.annotation, self._scope)
            definitions |= self._types.classes.needed(self._types.classes.referred)
        except Complaint as complaint:
            self._refuse(complaint)
            return True
        return schema or True

    def _leave_out(self, default: ast.expr | None, code: Code, said: str) -> None:
        self._complaints.add(Complaint(code, said, default), Severity.WARNING)

    def _miss_annotation(self, node: ast.arg) -> None:
        self._complaints.add(
            Complaint(
                Code.MISSING_ANNOTATION,
                f"{node.arg} has no type, and admits anything; annotate it",
                node,
            ),
            Severity.WARNING,
        )

    def _refuse(self, complaint: Complaint) -> None:
        if self._options.on_unsupported is OnUnsupported.REFUSE:
            self._complaints.add(complaint)
        else:
            self._complaints.add(complaint, Severity.WARNING)


def _with_defaults(found: Found) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return the parameters and their defaults, without the object of a method."""
    arguments = found.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    without: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    pairs = list(zip(positional, [*without, *arguments.defaults], strict=True))
    if found.is_method:
        pairs = pairs[1:]
    return pairs + list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
