"""Sums up the readings of rain gauges: a text with one line for each reading, as the loggers export it."""

from dataclasses import dataclass

from latchwork import Failure, step

HEADER = "station;day;mm"
# A gauge overflows at this height.
OVERFLOW = 400.0


@dataclass
class Export:
    text: str
    wet_from: float = 1.0


@dataclass
class Station:
    station: str
    days: int
    wet_days: int
    total: float
    wettest: float


@dataclass
class Summary:
    stations: list[Station]
    skipped: int


def millimeters(number, cell):
    """Reads the height of a reading. Loggers of older make write a decimal comma."""
    try:
        height = float(cell.strip().replace(",", "."))
    except ValueError:
        raise Failure("INVALID_INPUT", f"line {number}: {cell!r} is no height") from None
    if height < 0:
        raise Failure("INVALID_INPUT", f"line {number}: the height {height} is negative")
    if height > OVERFLOW:
        raise Failure("INVALID_INPUT", f"line {number}: a gauge holds {OVERFLOW} mm, not {height}")
    return height


def readings(text):
    """Returns the heights of each station, and the number of lines without a reading."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != HEADER:
        raise Failure("INVALID_INPUT", f"the first line has to be {HEADER}")
    heights, skipped = {}, 0
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        cells = line.split(";")
        if len(cells) != 3:
            raise Failure("INVALID_INPUT", f"line {number} has {len(cells)} cells instead of 3")
        station, _, cell = cells
        if cell.strip() in ("", "-"):
            skipped += 1
            continue
        heights.setdefault(station.strip(), []).append(millimeters(number, cell))
    return heights, skipped


@step("Rain.Summarize")
def summarize(export: Export, context) -> Summary:
    """Sums up the rain of each station, and counts its wet days."""
    heights, skipped = readings(export.text)
    if not heights:
        raise Failure("INVALID_INPUT", "the export has no readings")
    return Summary(
        stations=[
            Station(
                station=station,
                days=len(own),
                wet_days=sum(1 for height in own if height >= export.wet_from),
                total=round(sum(own), 1),
                wettest=max(own),
            )
            for station, own in sorted(heights.items())
        ],
        skipped=skipped,
    )
