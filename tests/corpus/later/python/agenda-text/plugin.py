from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, log, step


@dataclass
class Entry:
    begin: str
    title: str
    room: Optional[str] = None


@dataclass
class Day:
    date: str
    entries: list[Entry]


@dataclass
class Agenda:
    text: str
    entries: int


class Place:
    """A room, or no room for a meeting by video."""

    def __init__(self, room):
        self.room = room

    def __format__(self, spec):
        return format(self.room or "video", spec)


def line(entry: Entry) -> str:
    place = Place(entry.room)
    if len(entry.title) > 30:
        # A long title gets a second line, with the place at its end.
        return f"{entry.begin}  {entry.title}\n       (" + str(place) + ")"
    return f"{entry.begin}  {entry.title} ({place})"


@step("Agenda.Write", determinism="pure")
def write(day: Day, context) -> Agenda:
    """Writes the agenda of a day as text."""
    if not day.entries:
        raise Failure("INVALID_INPUT", f"{day.date} has no entries")
    entries = sorted(day.entries, key=lambda entry: (entry.begin, entry.title))
    log.info("%d entries on %s", len(entries), day.date)
    return Agenda("\n".join([day.date, *map(line, entries)]) + "\n", len(entries))
