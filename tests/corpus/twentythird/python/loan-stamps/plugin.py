import json
from dataclasses import dataclass
from datetime import date, timedelta

from latchwork import Change, Failure, Output, happened, kv, tool

INPUT = {
    "type": "object",
    "properties": {
        "card": {"type": "string", "pattern": "^[0-9]{6,10}$"},
        "title": {"type": "string", "minLength": 1, "maxLength": 200},
        "shelfmark": {"type": "string", "minLength": 1, "maxLength": 40},
        "due": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
    },
    "required": ["card", "title", "shelfmark", "due"],
    "additionalProperties": False,
}

# Longest time, in days, for which a book is lent.
LONGEST = 180


@dataclass
class Loan:
    loan: str
    shelfmark: str
    due: str
    days_left: int
    remind_on: str


def day_of(text):
    """A day of the calendar."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Failure("INVALID_INPUT", f"there is no day {text}") from None


def slip(key, text):
    """The slip that the reader gets with the book."""
    saved = json.loads(text)
    due = date.fromisoformat(saved["due"])
    left = max(0, (due - date.today()).days)
    loan = Loan(key, saved["shelfmark"], saved["due"], left, (due - timedelta(days=3)).isoformat())
    return Output(
        loan,
        receipt={"loan": key, "card": saved["card"]},
        changes=[Change("loan", f"loan:{key}", "create", version=saved["due"])],
    )


@tool("Loan.Stamp", input=INPUT, output=Loan, effects=["internal_write"])
def stamp(book: dict, context):
    """Lends a book to the holder of a library card."""
    due = day_of(book["due"])
    ahead = (due - date.today()).days
    if ahead < 0:
        raise Failure("INVALID_INPUT", f"{book['due']} is in the past")
    if ahead > LONGEST:
        raise Failure("INVALID_INPUT", f"a book is lent for at most {LONGEST} days")

    key = context.external_key
    text = json.dumps(book, ensure_ascii=False, sort_keys=True)
    kv.set(f"loan:{key}", text)
    return slip(key, text)


# The entry of a loan is named by the key of its call.
@stamp.reconcile
def find(book: dict, key):
    text = kv.get(f"loan:{key}")
    return "did_not_happen" if text is None else happened(slip(key, text.decode()))


@tool("Loan.Look", input={"type": "object", "properties": {"loan": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}}, "required": ["loan"], "additionalProperties": False})
def look(query: dict, context):
    """Tells who has a book and when it is due."""
    text = kv.get(f"loan:{query['loan']}")
    if text is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no loan {query['loan']}")
    return json.loads(text)
