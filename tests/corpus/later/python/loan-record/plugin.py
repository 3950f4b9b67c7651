import json
from dataclasses import dataclass
from datetime import date, timedelta

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Loan:
    reader: str
    books: list[str]


@dataclass
class Recorded:
    loan: str
    due: str
    books: int


def recorded(key, entry):
    receipt = {"loan": key, "due": entry["due"]}
    changes = [Change("loan", key, "create", version=entry["due"])]
    return Output(Recorded(key, entry["due"], len(entry["books"])), receipt=receipt, changes=changes)


@tool("Loan.Record", output=Recorded, effects=["internal_write"])
def record(loan: Loan, context):
    """Records that a reader borrows books."""
    # Everything is checked before the first entry is written.
    for number, book in enumerate(loan.books, 1):
        if len(book) != 13 or not (book.isascii() and book.isdigit()):
            raise Failure("INVALID_INPUT", f"book {number} is not an ISBN: {book}")
    if not loan.books or len(loan.books) > 20 or not loan.reader.strip():
        raise Failure("INVALID_INPUT", "a loan needs a reader and 1 to 20 books")
    key = context.external_key
    entry = {"reader": loan.reader, "books": loan.books, "due": (date.today() + timedelta(days=28)).isoformat()}
    kv.set(f"loan/{key}", json.dumps(entry))
    return recorded(key, entry)


# Called after a crash. The day of return is the one that the call chose, also if it is asked on another day.
@record.reconcile
def find(loan: Loan, key):
    value = kv.get(f"loan/{key}")
    return "did_not_happen" if value is None else happened(recorded(key, json.loads(value)))


# Called when a job is cancelled: removes the loan, unless it was prolonged since.
@record.compensate
def take_back(loan: Loan, result: Recorded, key):
    value = kv.get(f"loan/{key}")
    if value is None or json.loads(value)["due"] != result.due:
        raise Failure("POLICY_DENIED", "the loan was prolonged or ended")
    kv.delete(f"loan/{key}")
    return Output(None, changes=[Change("loan", key, "delete")])
