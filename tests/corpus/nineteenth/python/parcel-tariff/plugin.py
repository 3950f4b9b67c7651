"""Calculates the price of a parcel from the tariff in the configuration."""

from dataclasses import dataclass

from latchwork import Failure, config, tool

HEAVIEST = 31_500
LONGEST_MM = 1_200

# Highest amount in a tariff, in cents.
HIGHEST = 100_000


@dataclass
class Parcel:
    zone: str
    grams: int
    length_mm: int
    insured: bool


@dataclass
class Price:
    cents: int
    parts: list[str]


@tool("Parcel.Price", determinism="pure", effects=["read_only"])
def price(parcel: Parcel, context) -> Price:
    """Returns the price of a parcel in cents, with its parts."""
    if not 1 <= parcel.grams <= HEAVIEST:
        raise Failure("INVALID_INPUT", f"a parcel has 1 to {HEAVIEST} grams, not {parcel.grams}")
    if not 1 <= parcel.length_mm <= LONGEST_MM:
        raise Failure("INVALID_INPUT", f"a parcel is 1 to {LONGEST_MM} mm long, not {parcel.length_mm}")
    zones = config.get("zones", {})
    zone = zones.get(parcel.zone) if isinstance(zones, dict) else None
    if not isinstance(zone, dict):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the tariff has no zone {parcel.zone}")
    # Each begun kilogram counts.
    kilograms = -(-parcel.grams // 1000)
    parts = [
        ("base", amount(zone, "base")),
        (f"{kilograms} kg", kilograms * amount(zone, "per_kg")),
    ]
    if parcel.length_mm > LONGEST_MM // 2:
        parts.append(("long", amount(zone, "long")))
    if parcel.insured:
        parts.append(("insurance", amount(zone, "insurance")))
    return Price(sum(cents for _, cents in parts), [f"{name}: {cents}" for name, cents in parts])


def amount(zone, name):
    """Returns an amount of the tariff in cents."""
    cents = zone.get(name)
    if not isinstance(cents, int) or isinstance(cents, bool) or not 0 <= cents <= HIGHEST:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the tariff has no amount {name} from 0 to {HIGHEST}")
    return cents
