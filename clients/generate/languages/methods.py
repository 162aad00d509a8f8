"""Tables of the methods, for the languages whose stubs do not have one."""

from generate.api import Method, Service
from generate.languages.java import FOLDER, JavaView
from generate.languages.rust import RustView
from generate.plan import Plan
from generate.view import View

__all__ = ["JavaMethodsView", "RustMethodsView"]


class JavaMethodsView(JavaView):
    """The services, and the methods with a stream."""

    template = "methods.java.j2"
    path = FOLDER + "{camel}.java"

    @classmethod
    def all_views(cls, plan: Plan) -> list[View]:
        """Return the view of the table."""
        return [cls(plan, plan.tables["methods"])]

    @property
    def services(self) -> tuple[Service, ...]:
        """Services of the API."""
        return self.plan.api.services

    @property
    def streams(self) -> list[tuple[Service, Method]]:
        """Methods with a stream of responses, with their services."""
        return [
            (service, method)
            for service in self.services
            for method in service.methods
            if method.is_stream
        ]


class RustMethodsView(RustView):
    """The methods with one response, by their requests, and the paths of the others."""

    template = "methods.rs.j2"

    @classmethod
    def all_views(cls, plan: Plan) -> list[View]:
        """Return the view of the table."""
        return [cls(plan, plan.tables["methods"])]

    @property
    def services(self) -> tuple[Service, ...]:
        """Services of the API."""
        return self.plan.api.services

    def constant(self, name: str) -> str:
        """Return the *name* of a method as that of a constant."""
        return "".join(f"_{c}" if c.isupper() else c.upper() for c in name).removeprefix("_")
