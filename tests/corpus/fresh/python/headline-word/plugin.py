import re
from dataclasses import dataclass

from latchwork import Failure, step

_STOP = {"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "the", "to", "with"}


@dataclass
class Headline:
    text: str


@dataclass
class Keyword:
    word: str
    words: int


@step("Headline.Keyword", determinism="pure")
def keyword(headline: Headline, context) -> Keyword:
    """Picks the longest word of a headline for its address."""
    words = set(re.findall(r"[a-z]+", headline.text.lower())) - _STOP
    if not words:
        raise Failure("INVALID_INPUT", "the headline has no word of its own")
    return Keyword(max(words, key=len), len(words))
