import json

from latchwork import Failure, step, tools

MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]
INPUT = {
    "type": "object",
    "properties": {
        "year": {"type": "integer", "minimum": 2000, "maximum": 2100},
        "month": {"type": "integer", "minimum": 1, "maximum": 12},
        "households": {
            "type": "array",
            "maxItems": 200,
            "items": {
                "type": "object",
                "properties": {
                    "account": {"type": "string", "pattern": "^W[0-9]{5}$"},
                    "persons": {"type": "integer", "minimum": 0, "maximum": 30},
                    "meter": {"type": "integer", "minimum": 0, "maximum": 1000000},
                    "last_meter": {"type": "integer", "minimum": 0, "maximum": 1000000},
                },
                "required": ["account", "persons", "meter", "last_meter"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["year", "month", "households"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "charged": {"type": "integer"},
        "cents": {"type": "integer"},
        "empty": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["charged", "cents", "empty"],
}
BASIC, LITRE_HUNDREDTHS = 450, 31


def due(household):
    """A household pays a basic fee for each person, and for the litres."""
    litres = household["meter"] - household["last_meter"]
    return BASIC * household["persons"] + litres * LITRE_HUNDREDTHS // 100


@step("Water.Charge", input=INPUT, output=OUTPUT, effects=["external_write"], determinism="external")
def charge(request: dict, context):
    """Charges the water dues of a month to the accounts of the households."""
    accounts = set()
    for household in request["households"]:
        if household["account"] in accounts:
            raise Failure("INVALID_INPUT", f"account {household['account']} is listed twice")
        accounts.add(household["account"])
        if household["meter"] < household["last_meter"]:
            raise Failure("INVALID_INPUT", f"the meter of {household['account']} ran backwards")
    month = MONTHS[request["month"] - 1]
    charged, total, empty = 0, 0, []
    for household in request["households"]:
        cents = due(household)
        if cents == 0:
            empty.append(household["account"])
            continue
        tools.call(
            "Account.Charge",
            {"account": household["account"], "cents": cents, "text": f"Water, {month}"},
            action_key=json.dumps(["water", household["account"], month]),
        )
        charged += 1
        total += cents
    return {"charged": charged, "cents": total, "empty": empty}
