"""Collects the melt readings of the stations on a glacier."""

from dataclasses import dataclass

from latchwork import Failure, log, step, tools


@dataclass
class Round:
    stations: list[str]


@dataclass
class Melt:
    millimetres: dict[str, float]
    silent: list[str]


def read(station):
    """Reads one station. A station may be out of reach for a moment, so it gets three tries."""
    tries = 0
    while tries < 3:
        try:
            return tools.call("Station.Read", {"station": station})
        except Failure as failure:
            if failure.code == "RATE_LIMIT":
                # The station is there, the gateway is only busy.
                log.info("%s: asking again", station)
                continue
            tries += 1
            log.warn("%s, try %d: %s", station, tries, failure.message)
    return None


@step("Glacier.Collect", determinism="external")
def collect(given: Round, context) -> Melt:
    """Collects the melt readings of the stations on a glacier."""
    if not 1 <= len(given.stations) <= 40:
        raise Failure("INVALID_INPUT", "a round has 1 to 40 stations")
    millimetres, silent = {}, []
    for station in given.stations:
        answer = read(station)
        value = answer.get("melt_mm") if isinstance(answer, dict) else None
        if isinstance(value, (int, float)) and 0 <= value <= 10_000:
            millimetres[station] = float(value)
        else:
            silent.append(station)
    return Melt(millimetres, silent)
