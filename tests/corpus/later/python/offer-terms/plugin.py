from dataclasses import dataclass
from datetime import date, timedelta

from latchwork import Failure, tool

RATES = {"standard": 19, "reduced": 7, "none": 0}
# Days for which an offer holds, by the size of the order.
DAYS = ((100_000, 14), (1_000_000, 30), (10_000_000, 60))


@dataclass
class Order:
    net_cents: int
    rate: str


@dataclass
class Terms:
    gross_cents: int
    tax_cents: int
    valid_until: str


def days(net_cents):
    for limit, count in DAYS:
        if net_cents < limit:
            return count
    return 90


# Reads no server and no map, so equal orders have equal terms.
@tool("Offer.Terms", determinism="pure")
def terms(order: Order, context) -> Terms:
    """Computes tax, gross amount and last day of an offer."""
    if order.rate not in RATES:
        raise Failure("INVALID_INPUT", f"there is no tax rate {order.rate}")
    if not 0 < order.net_cents < 10**12:
        raise Failure("INVALID_INPUT", f"{order.net_cents} is not an amount of an offer")
    tax = (order.net_cents * RATES[order.rate] + 50) // 100
    until = date.today() + timedelta(days=days(order.net_cents))
    return Terms(order.net_cents + tax, tax, until.isoformat())
