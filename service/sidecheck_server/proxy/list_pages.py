"""Lists of tools that come in pages, put together again."""

from collections import OrderedDict
from collections.abc import Mapping

from sidecheck_server.proxy.definition_checks import ListedTool
from sidecheck_server.proxy.messages import string_value
from sidecheck_server.proxy.pending import Request

__all__ = ["ListPages"]

_MOST_LISTS = 100


class ListPages:
    """The lists that clients fetch, each by the cursor of the page that comes next.

    Several clients may fetch at the same time, and get the same cursors. Beyond a hundred
    lists, the oldest is forgotten.
    """

    def __init__(self) -> None:
        self._lists: OrderedDict[bytes, list[ListedTool]] = OrderedDict()

    def add(
        self, request: Request, page: Mapping[str, bytes], tools: list[ListedTool]
    ) -> list[ListedTool] | None:
        """Return the whole list if *page*, which *request* asks for, is the last of a list.

        None if pages follow, or if those before are unknown.
        """
        before = self._lists.get(request.cursor) if request.cursor else []
        if before is None:
            return None
        listed = [*before, *tools]
        following = page.get("nextCursor", b"")
        if not string_value(following):
            return listed
        self._lists[following] = listed
        self._lists.move_to_end(following)
        if len(self._lists) > _MOST_LISTS:
            self._lists.popitem(last=False)
        return None
