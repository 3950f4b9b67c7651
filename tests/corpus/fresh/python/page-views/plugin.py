import json
from dataclasses import dataclass

from latchwork import Failure, kv, tool


@dataclass
class Wanted:
    page: str


@dataclass
class Page:
    title: str
    text: str
    views: int


@tool("Page.Read")
def read(wanted: Wanted, context) -> Page:
    """Reads a page of the handbook."""
    stored = kv.get(f"page:{wanted.page}")
    if stored is None:
        raise Failure("INVALID_INPUT", f"there is no page {wanted.page}")
    page = json.loads(stored)
    # The most read pages are listed on the first page of the handbook.
    counter = f"views:{wanted.page}"
    views = int(kv.get(counter) or b"0") + 1
    kv.set(counter, str(views))
    return Page(page["title"], page["text"], views)
