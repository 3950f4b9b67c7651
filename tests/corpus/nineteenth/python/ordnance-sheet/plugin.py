"""Finds the names of a map sheet in a gazetteer file."""

from dataclasses import dataclass

from latchwork import Failure, step, tools


@dataclass
class Gazetteer:
    """A file of the edition that the sheet was drawn from."""

    path: str
    size: int


@dataclass
class Sheet:
    """A square of the grid, in metres."""

    gazetteer: Gazetteer
    east: int
    north: int
    width: int


@dataclass
class Place:
    name: str
    column: int
    row: int


@dataclass
class Names:
    places: list[Place]
    left_out: int


# A map has room for this number of names.
ROOM = 200


@step("Sheet.Names")
def names(sheet: Sheet, context) -> Names:
    """Lists the places of a map sheet with their squares, from west to east."""
    if not 1000 <= sheet.width <= 100_000:
        raise Failure("INVALID_INPUT", f"a sheet is 1 to 100 km wide, not {sheet.width} m")
    source = sheet.gazetteer
    file = tools.call("File.Read", {"path": source.path})
    # Another edition of the gazetteer has other names.
    if len(file["text"].encode()) != source.size:
        raise Failure("INVALID_INPUT", f"{source.path} is another edition: it does not have {source.size} bytes")
    found = sorted(inside(file["text"], sheet), key=lambda place: (place.column, place.row, place.name))
    if not found:
        raise Failure("INVALID_INPUT", f"{source.path} has no place in this sheet")
    return Names(found[:ROOM], max(0, len(found) - ROOM))


def inside(text, sheet):
    """Reads lines such as `Mill Ford;412300;87150` and keeps the places of the sheet."""
    square = sheet.width // 10
    places = []
    for line in text.splitlines():
        parts = line.split(";")
        if len(parts) != 3 or not (parts[1].isdecimal() and parts[2].isdecimal()):
            continue
        east, north = int(parts[1]) - sheet.east, int(parts[2]) - sheet.north
        if 0 <= east < sheet.width and 0 <= north < sheet.width:
            places.append(Place(parts[0].strip(), min(east // square, 9), min(north // square, 9)))
    return places
