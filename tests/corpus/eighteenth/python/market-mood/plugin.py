import re
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step

# Words that say nothing about a stall.
DULL = {"a", "an", "and", "are", "at", "but", "for", "in", "is", "it", "of", "on", "or", "so", "the", "to", "was"}
GOOD = {"fresh", "friendly", "tasty", "cheap", "lovely", "great"}
BAD = {"stale", "rude", "pricey", "late", "dirty", "slow"}


@dataclass
class Comment:
    stall: str
    text: str


@dataclass
class Comments:
    comments: list[Comment]


@dataclass
class Mood:
    stall: str
    comments: int
    score: int
    word: Optional[str]


@dataclass
class Moods:
    stalls: list[Mood]


def words_of(text):
    return [word for word in re.findall(r"[a-z']+", text.lower()) if word not in DULL]


def common(words):
    """The word that visitors use most about a stall."""
    if not words:
        return None
    return max(set(words), key=words.count)


@step("Market.Mood")
def mood(given: Comments, context) -> Moods:
    """Sums up what visitors write about the stalls of a market."""
    if not given.comments:
        raise Failure("INVALID_INPUT", "there are no comments")
    texts = {}
    for comment in given.comments:
        stall = comment.stall.strip()
        if not stall:
            raise Failure("INVALID_INPUT", "a comment names no stall")
        texts.setdefault(stall, []).append(comment.text)
    found = []
    for stall in sorted(texts):
        words = [word for text in texts[stall] for word in words_of(text)]
        score = sum(word in GOOD for word in words) - sum(word in BAD for word in words)
        found.append(Mood(stall, len(texts[stall]), score, common(words)))
    return Moods(found)
