import re
import unicodedata
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Page:
    title: str


@dataclass
class Named:
    slug: str


def _plain(title):
    text = unicodedata.normalize("NFKD", title.lower())
    letters = "".join(sign for sign in text if not unicodedata.combining(sign))
    return re.sub(r"[^a-z0-9]+", "-", letters).strip("-")


def _unique(slug, used={}):
    """Returns the slug, with a number if another page has it already."""
    used[slug] = used.get(slug, 0) + 1
    return slug if used[slug] == 1 else f"{slug}-{used[slug]}"


@step("Page.Slug")
def name(page: Page, context) -> Named:
    """Gives a page a slug that no other page has."""
    slug = _plain(page.title)
    if not slug:
        raise Failure("INVALID_INPUT", "the title has no letters")
    return Named(_unique(slug))
