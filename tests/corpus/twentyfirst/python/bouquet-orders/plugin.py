import json
from datetime import date

from latchwork import Failure, step, tools

SIZES = {"small": 1900, "medium": 2900, "large": 4400}

TEXT = {"type": "string", "minLength": 1, "maxLength": 120}
DELIVERY = {
    "type": "object",
    "properties": {
        "recipient": TEXT,
        "address": TEXT,
        "day": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
        "size": {"enum": sorted(SIZES)},
        "card": {"type": "string", "maxLength": 300},
    },
    "required": ["recipient", "address", "day", "size"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        "customer": {"type": "string", "pattern": "^C[0-9]{1,8}$"},
        "deliveries": {"type": "array", "items": DELIVERY, "minItems": 1, "maxItems": 60},
    },
    "required": ["customer", "deliveries"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "booked": {"type": "array", "items": {"type": "string"}},
        "refused": {"type": "array", "items": {"type": "string"}},
        "cents": {"type": "integer"},
    },
    "required": ["booked", "refused", "cents"],
    "additionalProperties": False,
}


def check(deliveries):
    for delivery in deliveries:
        try:
            day = date.fromisoformat(delivery["day"])
        except ValueError:
            raise Failure("INVALID_INPUT", f"{delivery['day']} is no day of the calendar") from None
        if day.weekday() == 6:
            raise Failure("INVALID_INPUT", f"{delivery['day']} is a Sunday, without deliveries")


def request(customer, delivery):
    """The call for one delivery, with the key of the delivery."""
    key = json.dumps(["bouquet", customer, delivery["recipient"], delivery["address"], delivery["day"]])
    args = {"customer": customer, "card": "", **delivery}
    return "Florist.Book", args, key


@step("Bouquets.Book", input=INPUT, output=OUTPUT, effects=["external_write"], determinism="external")
def book(order, context):
    """Books the deliveries of a customer's flower order at the florist, all at once."""
    deliveries = order["deliveries"]
    check(deliveries)
    answers = tools.call_all([request(order["customer"], delivery) for delivery in deliveries])
    booked, refused, cents = [], [], 0
    for delivery, answer in zip(deliveries, answers):
        if isinstance(answer, Failure):
            refused.append(f"{delivery['recipient']}, {delivery['day']}: {answer.code}")
            continue
        booked.append(str(answer.get("booking", "")))
        cents += SIZES[delivery["size"]]
    if not booked:
        raise Failure("POLICY_DENIED", "the florist took none of the deliveries", detail={"refused": refused})
    return {"booked": booked, "refused": refused, "cents": cents}
