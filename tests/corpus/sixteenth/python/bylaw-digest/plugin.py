"""Makes a digest of the bylaws of an association: the articles, their lengths, and the fees in them."""

import hashlib
import re
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step, tools

ARTICLE = re.compile(r"^Article (\d{1,3})[.:] *(\S.*)$")
FEE = re.compile(r"\b(\d{1,6}) ?(?:euro|EUR)\b")


@dataclass
class Bylaws:
    path: str
    # SHA-256 of the version that the members adopted, in hexadecimal digits.
    sha256: Optional[str] = None


@dataclass
class Article:
    number: int
    heading: str
    words: int
    fees: list[int]


@dataclass
class Digest:
    articles: list[Article]
    words: int
    highest_fee: Optional[int]


@step("Bylaw.Digest", outcome=("Bylaw.Summary", "draft"))
def digest(bylaws: Bylaws, context) -> Digest:
    """Reads bylaws and lists their articles and fees."""
    file = tools.call("File.Read", {"path": bylaws.path})
    text = file.get("text") if isinstance(file, dict) else None
    if not isinstance(text, str):
        raise Failure("SCHEMA_VALIDATION_FAILED", f"{bylaws.path} was read without its text")
    if bylaws.sha256 is not None and hashlib.sha256(text.encode()).hexdigest() != bylaws.sha256.lower():
        raise Failure("INVALID_INPUT", f"{bylaws.path} is not the version that the members adopted")
    articles = parsed(text)
    if not articles:
        raise Failure("INVALID_INPUT", f"{bylaws.path} has no articles")
    fees = [fee for article in articles for fee in article.fees]
    print(f"{len(articles)} articles, {len(fees)} fees")
    return Digest(articles, sum(article.words for article in articles), max(fees, default=None))


def parsed(text):
    """Returns the articles of a text. Text before the first article is left out."""
    articles = []
    for line in text.splitlines():
        head = ARTICLE.match(line.strip())
        if head:
            articles.append(Article(int(head[1]), head[2].strip(), 0, []))
        elif articles:
            articles[-1].words += len(line.split())
            articles[-1].fees.extend(int(fee) for fee in FEE.findall(line))
    return articles
