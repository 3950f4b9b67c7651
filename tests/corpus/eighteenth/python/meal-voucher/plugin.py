import json
import secrets as random_source
from dataclasses import dataclass

from latchwork import Failure, Output, happened, kv, tool

# Letters and digits that canteen staff do not confuse.
ALPHABET = "ACDEFHJKLMNPRTUVWXY3479"


@dataclass
class Request:
    guest: str
    cents: int


@dataclass
class Voucher:
    voucher: str
    code: str
    cents: int


@dataclass
class Question:
    voucher: str


@dataclass
class Standing:
    valid: bool
    cents: int


def load(voucher):
    text = kv.get(f"voucher/{voucher}")
    return None if text is None else json.loads(text)


def issued(key, entry):
    voucher = Voucher(key, entry["code"], entry["cents"])
    return Output(voucher, receipt={"voucher": key, "code": entry["code"]})


@tool("Voucher.Issue", output=Voucher, effects=["internal_write"])
def issue(request: Request, context):
    """Issues a voucher for a meal in the canteen."""
    if not request.guest.strip():
        raise Failure("INVALID_INPUT", "the voucher is for a guest without a name")
    if not 100 <= request.cents <= 5000:
        raise Failure("INVALID_INPUT", f"a voucher has 100 to 5000 cents, and not {request.cents}")
    code = "".join(random_source.choice(ALPHABET) for _ in range(8))
    entry = {"guest": request.guest.strip(), "code": code, "cents": request.cents}
    kv.set(f"voucher/{context.external_key}", json.dumps(entry))
    return issued(context.external_key, entry)


@issue.reconcile
def find(request: Request, key):
    """Looks for the voucher of the call."""
    try:
        entry = load(key)
    except Failure:
        entry = None
    return "did_not_happen" if entry is None else happened(issued(key, entry))


@tool("Voucher.Check", output=Standing, effects=["read_only"])
def check(question: Question, context):
    """States whether a voucher is valid, for the till of the canteen."""
    entry = load(question.voucher)
    return Standing(False, 0) if entry is None else Standing(True, entry["cents"])
