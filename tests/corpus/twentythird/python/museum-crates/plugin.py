import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, log, step, tools

CRATE = {
    "type": "object",
    "properties": {
        "number": {"type": "integer", "minimum": 1, "maximum": 999},
        "kilograms": {"type": "integer", "minimum": 1, "maximum": 2000},
        "climate": {"type": "boolean"},
        "borrower": {"type": "string", "minLength": 1, "maxLength": 80},
    },
    "required": ["number", "kilograms", "borrower"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        "loan": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{1,5}$"},
        "pickup": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
        "crates": {"type": "array", "items": CRATE, "minItems": 1, "maxItems": 80},
    },
    "required": ["loan", "pickup", "crates"],
    "additionalProperties": False,
}


@dataclass
class Booked:
    crate: int
    borrower: str
    waybill: Optional[str]


@dataclass
class Transport:
    loan: str
    booked: list[Booked]
    refused: dict[str, str]
    kilograms: int


def waybill_of(answer):
    """The number of the waybill, if the forwarder gave one."""
    number = answer.get("waybill") if isinstance(answer, dict) else None
    return number if isinstance(number, str) else None


@step("Loan.Ship", input=INPUT, effects=["external_write"], determinism="external")
def ship(loan: dict, context) -> Transport:
    """Books the transport of the crates of a museum loan to the borrowers."""
    numbers = [crate["number"] for crate in loan["crates"]]
    if len(set(numbers)) < len(numbers):
        raise Failure("INVALID_INPUT", f"loan {loan['loan']} has two crates with one number")
    if sum(crate["kilograms"] for crate in loan["crates"]) > 24_000:
        raise Failure("INVALID_INPUT", f"loan {loan['loan']} is too heavy for one lorry")

    booked, refused, total = [], {}, 0
    for crate in sorted(loan["crates"], key=lambda one: one["number"]):
        order = {
            "reference": f"{loan['loan']}/{crate['number']}",
            "to": crate["borrower"],
            "pickup": loan["pickup"],
            "kilograms": crate["kilograms"],
            "climate": crate.get("climate", False),
        }
        # The loan is shipped to a borrower once for a day of pickup, also if the registrar starts the plan again.
        key = json.dumps(["ship", loan["loan"], crate["borrower"], loan["pickup"]])
        try:
            answer = tools.call("Courier.Book", order, action_key=key)
        except Failure as failure:
            log.warn("crate %d: %s", crate["number"], failure.message)
            refused[str(crate["number"])] = failure.code
            continue
        booked.append(Booked(crate["number"], crate["borrower"], waybill_of(answer)))
        total += crate["kilograms"]
    return Transport(loan["loan"], booked, refused, total)
