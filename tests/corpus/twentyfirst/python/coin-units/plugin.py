from latchwork import Failure, step

INPUT = {
    "type": "object",
    "properties": {
        "asset": {"type": "string", "pattern": "^[A-Z]{3,5}$"},
        "decimals": {"type": "integer", "minimum": 0, "maximum": 18},
        "payments": {
            "type": "array",
            "minItems": 1,
            "maxItems": 500,
            "items": {
                "type": "object",
                "properties": {
                    "to": {"type": "string", "pattern": "^[A-Za-z0-9]{1,64}$"},
                    "amount": {"type": "string", "pattern": r"^[0-9]{1,9}(\.[0-9]{1,18})?$"},
                },
                "required": ["to", "amount"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["asset", "decimals", "payments"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "asset": {"type": "string"},
        "payments": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "units": {"type": "integer", "minimum": 1}},
                "required": ["to", "units"],
            },
        },
        "total": {"type": "integer", "minimum": 1},
    },
    "required": ["asset", "payments", "total"],
    "additionalProperties": False,
}


def units(amount, decimals):
    """Converts a decimal text to the smallest units of an asset, without floating point."""
    whole, _, fraction = amount.partition(".")
    fraction = fraction.rstrip("0")
    if len(fraction) > decimals:
        raise Failure("INVALID_INPUT", f"the amount {amount} has more than {decimals} decimals")
    made = int(whole + fraction.ljust(decimals, "0"))
    if made == 0:
        raise Failure("INVALID_INPUT", f"the amount {amount} is nothing")
    return made


@step("Coins.Convert", input=INPUT, output=OUTPUT)
def convert(order, context):
    """Converts the amounts of a payment order to the smallest units of its asset, one sum for each receiver."""
    sums = {}
    for payment in order["payments"]:
        made = units(payment["amount"], order["decimals"])
        sums[payment["to"]] = sums.get(payment["to"], 0) + made
    return {
        "asset": order["asset"],
        "payments": [{"to": to, "units": made} for to, made in sums.items()],
        "total": sum(sums.values()),
    }
