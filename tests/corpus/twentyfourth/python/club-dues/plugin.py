"""Collects the monthly dues of a rowing club. Each member is charged once in a month."""

import json
from datetime import date

from latchwork import Failure, step, tools

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)
MEMBER = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1, "maxLength": 40},
        "tier": {"enum": ["junior", "rower", "patron"]},
    },
    "required": ["id", "tier"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        "club": {"type": "string", "minLength": 1, "maxLength": 40},
        "members": {"type": "array", "items": MEMBER, "maxItems": 500},
    },
    "required": ["club", "members"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "month": {"type": "string"},
        "collected_cents": {"type": "integer"},
        "refused": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["month", "collected_cents", "refused"],
    "additionalProperties": False,
}
CENTS = {"junior": 900, "rower": 2400, "patron": 6000}


@step("Dues.Collect", input=INPUT, output=OUTPUT, effects=["internal_write"], determinism="external")
def collect(club, context):
    """Charges the dues of the present month to the account of each member."""
    ids = [member["id"] for member in club["members"]]
    for one in ids:
        if ids.count(one) > 1:
            raise Failure("INVALID_INPUT", f"member {one} is listed twice")
    month = MONTHS[date.today().month - 1]
    collected, refused = 0, []
    for member in club["members"]:
        cents = CENTS[member["tier"]]
        charge = {"club": club["club"], "member": member["id"], "cents": cents, "text": f"Dues for {month}"}
        try:
            tools.call("Account.Charge", charge, action_key=json.dumps(["dues", club["club"], member["id"], month]))
        except Failure as failure:
            if failure.code != "POLICY_DENIED":
                raise
            refused.append(member["id"])
        else:
            collected += cents
    return {"month": month, "collected_cents": collected, "refused": refused}
