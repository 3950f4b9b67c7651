from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

WEEK = 7 * 24 * 60 * 60


@dataclass
class Purchase:
    member: str
    points: int


@dataclass
class Balance:
    member: str
    points: int


# Repeated calls are recognized by their key for as long as the map keeps it.
@tool("Points.Add", output=Balance, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def add(purchase: Purchase, context):
    """Adds the points of a purchase to the balance of a member."""
    if not 0 < purchase.points <= 10_000:
        raise Failure("INVALID_INPUT", "points: 1 to 10000")
    account, done = f"points:{purchase.member}", f"done:{context.external_key}"
    points = int(kv.get(account) or b"0")
    if kv.get(done) is None:
        points += purchase.points
        kv.set(account, str(points))
        kv.set(done, str(purchase.points))
    balance = Balance(purchase.member, points)
    return Output(balance, changes=[Change("points", purchase.member, "update", version=str(points))])
