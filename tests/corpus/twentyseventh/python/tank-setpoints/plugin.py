"""Setpoints of the tanks of an aquarium. The controllers read ``tank/<name>`` every few seconds."""

import json
from dataclasses import asdict, dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool

BOUNDS = {"temperature": (2.0, 32.0), "salinity": (0.0, 42.0), "light_hours": (0.0, 24.0)}


@dataclass
class Setpoint:
    temperature: float
    salinity: float
    light_hours: float = 12.0


@dataclass
class Order:
    tank: str
    setpoint: Setpoint


@dataclass
class Applied:
    tank: str
    setpoint: Setpoint
    previous: Optional[Setpoint]


@dataclass
class Tank:
    tank: str


def place(tank):
    return f"tank/{tank.strip().lower()}"


def present(tank) -> Optional[Setpoint]:
    """Returns the setpoint of a tank. Reads what the controllers read, whatever else an entry has."""
    raw = kv.get(place(tank))
    if raw is None:
        return None
    entry = json.loads(raw)
    return Setpoint(entry["temperature"], entry["salinity"], entry.get("light_hours", 12.0))


def text(setpoint):
    return json.dumps(asdict(setpoint), sort_keys=True)


@tool("Tank.Set", effects=["internal_write"])
def apply(order: Order, context) -> Applied:
    """Gives a tank another setpoint."""
    for name, (low, high) in BOUNDS.items():
        value = getattr(order.setpoint, name)
        if not low <= value <= high:
            raise Failure("INVALID_INPUT", f"{name} {value} of {order.tank} is outside of {low} to {high}")
    previous = present(order.tank)
    if previous is not None and abs(previous.temperature - order.setpoint.temperature) > 5:
        raise Failure("POLICY_DENIED", f"{order.tank}: no more than 5 degrees at once")
    kv.set(place(order.tank), text(order.setpoint))
    return Output(
        Applied(order.tank, order.setpoint, previous),
        changes=[Change("tank", order.tank.strip().lower(), "set", version=text(order.setpoint))],
    )


@apply.compensate
def put_back(order: Order, applied: Applied, key):
    now = kv.get(place(order.tank))
    if now is None or now.decode() != text(order.setpoint):
        raise Failure("POLICY_DENIED", f"{order.tank} was set again since")
    if applied.previous is None:
        kv.delete(place(order.tank))
        return {"tank": order.tank, "setpoint": None}
    kv.set(place(order.tank), text(applied.previous))
    return {"tank": order.tank, "setpoint": asdict(applied.previous)}


@tool("Tank.Read")
def read(asked: Tank, context) -> Setpoint:
    """Returns the setpoint of a tank."""
    found = present(asked.tank)
    if found is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"{asked.tank} has no setpoint")
    return found
