"""Picks the song of the hour from the requests of listeners."""

from collections import Counter
from dataclasses import dataclass

from latchwork import Failure, step

RUNNERS_UP = 3


@dataclass
class Request:
    listener: str
    title: str


@dataclass
class Hour:
    hour: int
    requests: list[Request]
    played: list[str]


@dataclass
class Song:
    title: str
    votes: int


@dataclass
class Pick:
    hour: int
    song: Song
    runners_up: list[Song]


def tidy(title):
    """Writes a title in one way: single spaces and capital initials."""
    return " ".join(word.capitalize() for word in title.split())


def votes(requests):
    """Counts each title once for each listener."""
    counted = {(request.listener.strip().lower(), tidy(request.title)) for request in requests}
    return Counter(title for _, title in counted if title)


@step("Song.Pick")
def pick(given: Hour, context) -> Pick:
    """Picks the most requested song that was not played yet."""
    if not 0 <= given.hour <= 23:
        raise Failure("INVALID_INPUT", f"{given.hour} is no hour of a day")
    count = votes(given.requests)
    open_titles = set(count) - {tidy(title) for title in given.played}
    if not open_titles:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"no song is left for the hour {given.hour}")
    best = max(open_titles, key=lambda title: count[title])
    rest = sorted(open_titles - {best}, key=lambda title: (-count[title], title))
    return Pick(
        hour=given.hour,
        song=Song(best, count[best]),
        runners_up=[Song(title, count[title]) for title in rest[:RUNNERS_UP]],
    )
