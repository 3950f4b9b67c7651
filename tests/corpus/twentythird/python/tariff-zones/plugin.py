from dataclasses import dataclass

from latchwork import Failure, config, tool

INPUT = {
    "type": "object",
    "properties": {
        "from": {"type": "string", "minLength": 1, "maxLength": 60},
        "to": {"type": "string", "minLength": 1, "maxLength": 60},
        "via": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 60}, "maxItems": 20},
        "adults": {"type": "integer", "minimum": 0, "maximum": 200},
        "children": {"type": "integer", "minimum": 0, "maximum": 200},
    },
    "required": ["from", "to", "adults"],
    "additionalProperties": False,
}

# Largest price of a zone and largest number of a zone that the table of the administrator may have.
MAX_CENTS = 100_000
MAX_ZONE = 99


@dataclass
class Fare:
    zones: list[int]
    cents: int
    each_adult: int
    each_child: int


def is_number(value, largest):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest


def stops():
    """The zone of each stop, from the table `stops` of the plugin's configuration."""
    table = config.get("stops")
    if not isinstance(table, dict) or not table:
        raise Failure("MISSING_REQUIRED_CONTEXT", "the configuration has no table of stops")
    for name, zone in sorted(table.items()):
        if not is_number(zone, MAX_ZONE):
            raise Failure("MISSING_REQUIRED_CONTEXT", f"the zone of {name} is no number from 0 to {MAX_ZONE}")
    return table


def price(name, default=None):
    """A price in cents from the configuration."""
    cents = config.get(name, default)
    if not is_number(cents, MAX_CENTS):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the configuration has no price {name} from 0 to {MAX_CENTS}")
    return cents


def zone_of(table, stop):
    if stop not in table:
        raise Failure("INVALID_INPUT", f"there is no stop {stop}")
    return table[stop]


# The fare follows from the arguments and the configuration alone. The tool reads no map, no clock and no secret.
@tool("Fare.Compute", input=INPUT, effects=["read_only"], determinism="pure")
def fare(trip: dict, context) -> Fare:
    """Computes the fare of a bus trip from the zones that it passes."""
    people = trip["adults"] + trip.get("children", 0)
    if people == 0:
        raise Failure("INVALID_INPUT", "there is no passenger")
    table = stops()
    first, each = price("first_zone"), price("further_zone")
    percent = config.get("child_percent", 50)
    if not is_number(percent, 100):
        raise Failure("MISSING_REQUIRED_CONTEXT", "child_percent is no number from 0 to 100")

    route = [zone_of(table, stop) for stop in (trip["from"], *trip.get("via", []), trip["to"])]
    passed = {route[0]}
    for before, after in zip(route, route[1:]):
        # The zones are rings around the town, so a bus passes all zones between two stops.
        passed.update(range(min(before, after), max(before, after) + 1))

    adult = first + each * (len(passed) - 1)
    child = (adult * percent + 99) // 100
    cents = adult * trip["adults"] + child * trip.get("children", 0)
    return Fare(sorted(passed), cents, adult, child)
