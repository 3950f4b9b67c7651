from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, log, step, tools


@dataclass
class Order:
    order: str
    grams: int
    fragile: bool


@dataclass
class Booked:
    order: str
    freight: str
    note: Optional[str]


class Parcel:
    def __init__(self, order):
        self.weight = -(-order.grams // 500) * 500
        self.service = "careful" if order.fragile else "standard"

    def __eq__(self, other):
        return (self.weight, self.service) == (other.weight, other.service)

    def args(self, order):
        return {"order": order, "grams": self.weight, "service": self.service}


@step("Freight.Arrange", determinism="external")
def arrange(order: Order, context) -> Booked:
    """Books the freight of an order, once for equal parcels of the order."""
    if not 0 < order.grams <= 30_000:
        raise Failure("INVALID_INPUT", f"{order.order} weighs {order.grams} g, allowed are 30 kg")
    parcel = Parcel(order)
    booked = tools.call("Freight.Book", parcel.args(order.order), action_key=f"{order.order}/{parcel}")
    log.info("booked %s for %s", booked["freight"], order.order)
    return Booked(order.order, booked["freight"], booked.get("note"))
