import json
from dataclasses import dataclass

from latchwork import Failure, Output, kv, tool

WEEK = 7 * 24 * 60 * 60


@dataclass
class TopUp:
    member: str
    cents: int


@dataclass
class Credit:
    member: str
    added: int
    cents: int


@dataclass
class Member:
    member: str


@dataclass
class Balance:
    cents: int
    top_ups: int


def name_of(member):
    name = member.strip().lower()
    if not name or len(name) > 60:
        raise Failure("INVALID_INPUT", "the name of a member has 1 to 60 characters")
    return name


def load(name):
    """Returns the payments of a member, by the external keys of their calls."""
    text = kv.get(f"credit/{name}")
    return {} if text is None else json.loads(text)


@tool("Kiosk.TopUp", output=Credit, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def top_up(payment: TopUp, context):
    """Adds a payment to the credit of a member of the kiosk."""
    name = name_of(payment.member)
    if not 1 <= payment.cents <= 20_000:
        raise Failure("INVALID_INPUT", f"a payment has 1 to 20000 cents, and not {payment.cents}")
    payments = load(name)
    # A repeated call finds its own payment in the account.
    if context.external_key not in payments:
        payments[context.external_key] = payment.cents
        kv.set(f"credit/{name}", json.dumps(payments))
    return Output(
        Credit(name, payments[context.external_key], sum(payments.values())),
        receipt={"payment": context.external_key},
    )


@tool("Kiosk.Balance", output=Balance, effects=["read_only"])
def balance(asked: Member, context):
    """Returns the credit of a member."""
    payments = load(name_of(asked.member))
    return Balance(sum(payments.values()), len(payments))
