"""Selects the first depot with enough stock, and reserves the goods there."""

from dataclasses import dataclass

from latchwork import Failure, step, tools


@dataclass
class Order:
    item: str
    count: int


@dataclass
class Selected:
    depot: str
    reservation: str


@step("Depot.Select", effects=["external_write"], determinism="external")
def select(order: Order, context) -> Selected:
    """Selects a depot for an order and reserves the goods."""
    if order.count < 1:
        raise Failure("INVALID_INPUT", "the count is not positive")
    depots = tools.call("Depot.List", {"item": order.item})
    if not depots:
        raise Failure("POLICY_DENIED", f"no depot has {order.item}")
    depot = next(one for one in depots if one["stock"] >= order.count)
    made = tools.call("Depot.Reserve", {"depot": depot["name"], "item": order.item, "count": order.count})
    return Selected(depot["name"], made["id"])
