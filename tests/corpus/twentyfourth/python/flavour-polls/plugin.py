"""Polls of an ice cream parlour: guests vote for the flavour of the month on slips of paper."""

from latchwork import Failure, step

SLIPS = {"type": "array", "items": {"type": "string", "maxLength": 60}, "maxItems": 5000}
INPUT = {
    "type": "object",
    "properties": {"month": {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])$"}, "slips": SLIPS},
    "required": ["month", "slips"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "month": {"type": "string"},
        "winner": {"type": "string"},
        "votes": {"type": "integer"},
        "counted": {"type": "integer"},
        "blank": {"type": "integer"},
    },
    "required": ["month", "winner", "votes", "counted", "blank"],
    "additionalProperties": False,
}


def flavour(slip):
    """Spelling of a slip: guests write "Lemon", "lemon " and "LEMON"."""
    return " ".join(slip.split()).lower()


@step("Poll.Count", input=INPUT, output=OUTPUT)
def count(poll, context):
    """Counts the slips of a month and names the flavour with most votes."""
    votes = [flavour(slip) for slip in poll["slips"]]
    named = [vote for vote in votes if vote]
    if not named:
        raise Failure("INVALID_INPUT", f"no slip of {poll['month']} names a flavour")
    winner = max(set(named), key=named.count)
    return {
        "month": poll["month"],
        "winner": winner,
        "votes": named.count(winner),
        "counted": len(named),
        "blank": len(votes) - len(named),
    }
