"""Lists the next passes of amateur satellites over a ground station."""

from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, log, step, tools

PAGES = 5
TRIES = 2
SOURCES = ("Orbit.Passes", "Orbit.PassesMirror")


@dataclass
class Station:
    """A ground station. `lowest` is the elevation in degrees below which a pass is of no use."""

    locator: str
    satellites: list[str]
    lowest: int = 10


@dataclass
class Pass:
    satellite: str
    at: str
    elevation: int


@dataclass
class Passes:
    passes: list[Pass]
    skipped: list[str]
    listed_at: str


def ask(args):
    """Asks the first source, then its mirror, a fixed number of times each."""
    last = None
    for source in SOURCES:
        for _ in range(TRIES):
            try:
                return tools.call(source, args)
            except Failure as failure:
                last = failure
                if failure.code in ("INVALID_INPUT", "POLICY_DENIED"):
                    break
    raise last


def rest(first, args):
    """Returns the passes of all pages. Some satellites have hundreds, so the number of pages is limited."""
    answer, found = first, []
    for _ in range(PAGES):
        if not isinstance(answer, dict):
            raise Failure("DEPENDENCY_UNAVAILABLE", "the source answers without passes")
        passes = answer.get("passes")
        found += [item for item in passes if isinstance(item, dict)] if isinstance(passes, list) else []
        if not answer.get("next"):
            break
        answer = ask({**args, "cursor": answer["next"]})
    return found


def when(item):
    try:
        at = datetime.fromisoformat(item["at"])
        return at.astimezone(timezone.utc).isoformat(timespec="seconds") if at.tzinfo else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def useful(item, lowest):
    elevation = item.get("elevation")
    return when(item) is not None and isinstance(elevation, (int, float)) and lowest <= elevation <= 90


@step("Satellite.ListPasses", determinism="external")
def list_passes(station: Station, context) -> Passes:
    """Lists the passes of satellites."""
    if not 0 <= station.lowest <= 90:
        raise Failure("INVALID_INPUT", f"{station.lowest} degrees is no elevation")
    satellites = sorted({name.strip().upper() for name in station.satellites} - {""})
    if not satellites or len(satellites) > 20:
        raise Failure("INVALID_INPUT", f"{len(satellites)} satellites: give 1 to 20")

    wanted = [{"satellite": name, "locator": station.locator} for name in satellites]
    answers = tools.call_all([(SOURCES[0], args) for args in wanted])
    seen, skipped = set(), []
    for args, answer in zip(wanted, answers):
        name = args["satellite"]
        try:
            first = ask(args) if isinstance(answer, Failure) else answer
            for item in rest(first, args):
                if useful(item, station.lowest):
                    seen.add((when(item), name, int(item["elevation"])))
        except Failure as failure:
            log.warn("%s is left out of %s: %s", name, context.job_id, failure.message)
            skipped.append(name)
    if len(skipped) == len(satellites):
        raise Failure("DEPENDENCY_UNAVAILABLE", "no source has passes")
    passes = [Pass(name, at, elevation) for at, name, elevation in sorted(seen)]
    return Passes(passes, skipped, datetime.now(timezone.utc).isoformat(timespec="seconds"))
