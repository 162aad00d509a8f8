"""Tables of the error reasons, in each language."""

from collections.abc import Mapping

from generate.languages.go import GoView
from generate.languages.java import FOLDER, JavaView
from generate.languages.python import PythonView
from generate.languages.rust import RustView
from generate.languages.typescript import TypeScriptView
from generate.plan import Plan
from generate.view import View

__all__ = [
    "GoReasonsView",
    "JavaReasonsView",
    "PythonReasonsView",
    "RustReasonsView",
    "TypeScriptReasonsView",
]


class _ReasonsView(View):
    @classmethod
    def all_views(cls, plan: Plan) -> list[View]:
        """Return the view of the table."""
        return [cls(plan, plan.tables["error_reasons"])]

    @property
    def reasons(self) -> Mapping[str, str]:
        """Comments of the reasons of the service and of clients, by reason."""
        return self.plan.reasons

    @property
    def unavailable(self) -> tuple[str, ...]:
        """Reasons of servers that cannot take the request."""
        return self.plan.unavailable_reasons

    def code(self, name: str, _is_field: bool) -> str:  # noqa: FBT001
        """Return a key of the metadata, which is never the field of a value."""
        return super().code(name, False)  # noqa: FBT003


class GoReasonsView(_ReasonsView, GoView):
    """Constants of the package sidecheck."""

    template = "reasons.go.j2"

    def constant(self, reason: str) -> str:
        """Return the constant of a *reason*."""
        return "Reason" + self.field_name(reason.lower())


class JavaReasonsView(_ReasonsView, JavaView):
    """A class of constants."""

    template = "reasons.java.j2"
    path = FOLDER + "ErrorReason.java"


class PythonReasonsView(_ReasonsView, PythonView):
    """An enumeration of strings."""

    template = "reasons.py.j2"


class RustReasonsView(_ReasonsView, RustView):
    """A module of constants."""

    template = "reasons.rs.j2"


class TypeScriptReasonsView(_ReasonsView, TypeScriptView):
    """An object of constants."""

    template = "reasons.ts.j2"
