"""Normalizes a delivery address with the rules of the Postal tool, which knows the postal formats."""

from dataclasses import dataclass

from latchwork import Failure, step, tools


@dataclass
class Address:
    street: str
    city: str
    postcode: str
    country: str


@dataclass
class Label:
    lines: list[str]
    zone: str


ZONES = {"1": "north", "2": "north", "3": "east", "4": "east", "5": "west", "6": "west", "7": "south"}


def zone_of(postcode):
    return ZONES.get(postcode[:1], "remote")


# Postal.Format is pure: its tables are part of the component.
@step("Postal.Check", determinism="pure")
def check(address: Address, context) -> Label:
    """Turns an address into the lines of a label."""
    if not address.postcode.strip():
        raise Failure("INVALID_INPUT", "the postcode is empty")
    fields = {
        "street": " ".join(address.street.split()),
        "city": address.city.strip().upper(),
        "postcode": address.postcode.strip(),
        "country": address.country.upper(),
    }
    try:
        formatted = tools.call("Postal.Format", fields)
    except Failure as failure:
        if failure.code == "INVALID_INPUT":
            raise Failure("INVALID_INPUT", f"not an address of {fields['country']}: {failure.message}") from failure
        raise Failure(
            "DEPENDENCY_UNAVAILABLE",
            "the address could not be formatted",
            detail={"cause": failure.code, "reference": context.correlation_id},
        ) from failure
    return Label(list(formatted["lines"]), zone_of(fields["postcode"]))
