import json
from datetime import date

from latchwork import Change, Failure, Output, kv, tool

REF = {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}
DAY = {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"}

OPEN = {
    "type": "object",
    "properties": {
        "work": {"type": "string", "minLength": 1, "maxLength": 120},
        "museum": {"type": "string", "minLength": 1, "maxLength": 120},
        "until": DAY,
    },
    "required": ["work", "museum", "until"],
    "additionalProperties": False,
}

EXTEND = {
    "type": "object",
    "properties": {"loan": REF, "until": DAY},
    "required": ["loan", "until"],
    "additionalProperties": False,
}

LOAN = {
    "type": "object",
    "properties": {"loan": {"type": "string"}, "until": {"type": "string"}},
    "required": ["loan", "until"],
    "additionalProperties": False,
}


def read(loan):
    raw = kv.get(f"loan/{loan}")
    return None if raw is None else json.loads(raw)


def known_day(text):
    try:
        date.fromisoformat(text)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{text} is no date") from None


def check(change):
    """Compares the end of the loan with the recorded one."""
    entry = read(change.resource_id)
    if entry is None:
        return "the loan is missing"
    return True if entry["until"] == change.version else f"the loan ends on {entry['until']}"


@tool("Loan.Open", input=OPEN, output=LOAN, effects=["internal_write"])
def open_loan(args, context):
    """Opens the loan of a work of art to another museum."""
    known_day(args["until"])
    loan = context.external_key
    kv.set(f"loan/{loan}", json.dumps(args))
    result = {"loan": loan, "until": args["until"]}
    return Output(result, receipt=result, changes=[Change("loan", loan, "create", version=args["until"])])


@tool("Loan.Extend", input=EXTEND, output=LOAN, effects=["internal_write"])
def extend(args, context):
    """Sets a later end of a loan."""
    known_day(args["until"])
    loan, until = args["loan"], args["until"]
    entry = read(loan)
    if entry is None:
        raise Failure("INVALID_INPUT", f"there is no loan {loan}")
    kv.set(f"loan/{loan}", json.dumps({**entry, "until": until}))
    result = {"loan": loan, "until": until}
    return Output(result, receipt=result, changes=[Change("loan-extension", loan, "update", version=until)])


open_loan.verify(check)
extend.verify(check)
