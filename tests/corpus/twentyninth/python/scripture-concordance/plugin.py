"""Concordance of an edition. The plan names the edition by the SHA-256 of its text, so that the concordance follows from
the plan alone, wherever the text is kept."""

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass

from latchwork import Failure, step, tools

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


@dataclass
class Request:
    address: str
    sha256: str
    stop_words: list[str]
    most: int


@dataclass
class Entry:
    word: str
    verses: list[int]
    count: int


@dataclass
class Concordance:
    edition: str
    verses: int
    entries: list[Entry]


def unavailable(request):
    # One failure with one text for every reason: what the store says must not be seen in the result.
    return Failure("MISSING_REQUIRED_CONTEXT", f"the edition {request.sha256} is not available")


def fetch(request):
    """Returns the text of the edition. Every other text is no answer."""
    try:
        answer = tools.call("Texts.Read", {"address": request.address})
    except Failure:
        raise unavailable(request) from None
    text = answer.get("text") if isinstance(answer, dict) else None
    if not isinstance(text, str) or hashlib.sha256(text.encode()).hexdigest() != request.sha256:
        raise unavailable(request)
    return text


@step("Concordance.Make")
def make(request: Request, context) -> Concordance:
    """Makes the concordance of an edition with one verse on each line."""
    if not re.fullmatch(r"[0-9a-f]{64}", request.sha256):
        raise Failure("INVALID_INPUT", "sha256 has 64 hexadecimal digits")
    if not 1 <= request.most <= 500:
        raise Failure("INVALID_INPUT", "a concordance has 1 to 500 entries")
    stop = {word.casefold() for word in request.stop_words}

    places = defaultdict(list)
    text = fetch(request)
    if len(text) > 300_000:
        raise Failure("INVALID_INPUT", f"the edition has {len(text)} characters, more than 300000")
    verses = text.splitlines()
    for number, verse in enumerate(verses, 1):
        for word in WORD.findall(verse):
            places[word.casefold()].append(number)

    words = sorted(places.keys() - stop, key=lambda word: (-len(places[word]), word))
    # At most twenty verses for each word.
    entries = [Entry(word, sorted(set(places[word]))[:20], len(places[word])) for word in words[: request.most]]
    return Concordance(request.sha256[:12], len(verses), entries)
