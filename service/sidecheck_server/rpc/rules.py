"""The list of rules, page by page."""

from sidecheck.v1.protocol_service_pb2 import ListRulesRequest, ListRulesResponse

from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.versions import check_version_known
from sidecheck_server.rpc.mapping import rule_to_wire
from sidecheck_server.rpc.pages import page_size, place_of, token_of

__all__ = ["rules_on_page"]


def rules_on_page(request: ListRulesRequest) -> ListRulesResponse:
    """Return the page of rules that *request* asks for.

    Raises:
        Refusal: UNKNOWN_PROTOCOL_VERSION; INVALID_REQUEST for a negative size, or a token
            of another list.
    """
    version = request.protocol_version
    check_version_known(version)
    size = page_size(request.page_size)
    # So that a token of another list does not pass for one of this.
    listed = f"rules {version}"
    place = place_of(request.page_token, listed)
    after = "" if place is None else place[1]
    rules = [
        rule
        for code, rule in sorted(CATALOGUE.items())
        if code > after and (not version or rule.holds_in(version))
    ]
    page = rules[:size]
    return ListRulesResponse(
        rules=map(rule_to_wire, page),
        next_page_token=token_of(listed, "", page[-1].code) if len(rules) > size else "",
    )
