import json
from dataclasses import dataclass

from latchwork import Failure, log, step, tools

DAY = {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])$"}
LEASE = {
    "type": "object",
    "properties": {
        "lease": {"type": "string", "pattern": "^L[0-9]{1,8}$"},
        "tenant": {"type": "string", "minLength": 1, "maxLength": 100},
        "address": {"type": "string", "minLength": 1, "maxLength": 200},
        "open_cents": {"type": "integer", "minimum": 0, "maximum": 10_000_000},
        "days_late": {"type": "integer", "minimum": 0, "maximum": 3650},
    },
    "required": ["lease", "tenant", "address", "open_cents", "days_late"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {"month": DAY, "leases": {"type": "array", "items": LEASE, "maxItems": 150}},
    "required": ["month", "leases"],
    "additionalProperties": False,
}

# Days after which a late rent is no longer only a note in the tenant's file.
PATIENCE = 14


@dataclass
class Reminded:
    month: str
    noted: list[str]
    written: list[str]
    failed: dict[str, str]
    open_cents: int


def remind(lease, month):
    """Leaves a note in the file of the tenant. A tenant who is very late gets a letter instead."""
    number, cents = lease["lease"], lease["open_cents"]
    amount = f"{cents // 100}.{cents % 100:02d}"
    key = json.dumps(["rent-reminder", number, month])
    if lease["days_late"] <= PATIENCE:
        note = f"{amount} open for {lease['days_late']} days in {month}"
        tools.call("File.Note", {"lease": number, "note": note}, action_key=key)
        return "noted"
    letter = {
        "to": lease["tenant"],
        "address": lease["address"],
        "text": f"The rent of {month} is open: {amount} EUR. Please pay within 7 days.",
    }
    tools.call("Letter.Send", letter, action_key=key)
    return "written"


@step("Rent.Remind", input=INPUT, effects=["internal_write"], determinism="external")
def remind_all(order: dict, context) -> Reminded:
    """Notes late rents of a month in the files of the tenants and reminds tenants who are very late."""
    numbers = [lease["lease"] for lease in order["leases"]]
    double = sorted({number for number in numbers if numbers.count(number) > 1})
    if double:
        raise Failure("INVALID_INPUT", f"listed twice: {', '.join(double)}")

    done = {"noted": [], "written": []}
    failed = {}
    for lease in order["leases"]:
        if lease["open_cents"] == 0:
            continue
        try:
            done[remind(lease, order["month"])].append(lease["lease"])
        except Failure as failure:
            log.warn("%s: %s", lease["lease"], failure.message)
            failed[lease["lease"]] = failure.code

    total = sum(lease["open_cents"] for lease in order["leases"])
    return Reminded(order["month"], done["noted"], done["written"], failed, total)
