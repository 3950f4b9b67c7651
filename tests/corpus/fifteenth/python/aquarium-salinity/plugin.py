import json
import re
from dataclasses import dataclass
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool

# Salinity in tenths of a gram per liter that the animals of a tank tolerate.
RANGES = {"reef": (330, 360), "lagoon": (280, 350), "brackish": (50, 200)}

TANK = re.compile(r"[a-z]{1,20}-[0-9]{1,3}")


@dataclass
class Setting:
    tank: str
    habitat: Literal["reef", "lagoon", "brackish"]
    tenths: int


@dataclass
class Target:
    tank: str
    tenths: int


def entry_name(tank):
    return f"target/{tank}"


@tool("Aquarium.SetTarget", output=Target, effects=["internal_write"])
def set_target(setting: Setting, context):
    """Sets the salinity that the mixing pump of a tank keeps."""
    if not TANK.fullmatch(setting.tank):
        raise Failure("INVALID_INPUT", f"{setting.tank[:40]} is not the name of a tank")
    low, high = RANGES[setting.habitat]
    if not low <= setting.tenths <= high:
        raise Failure("INVALID_INPUT", f"a {setting.habitat} tank has {low} to {high} tenths, not {setting.tenths}")
    # The pump reads the entry of its tank. The key shows which call set it.
    kv.set(entry_name(setting.tank), json.dumps({"tenths": setting.tenths, "set_by": context.external_key}))
    return Output(
        Target(setting.tank, setting.tenths),
        receipt={"set_by": context.external_key},
        changes=[Change("salinity-target", setting.tank, "update", version=context.external_key)],
    )


@set_target.compensate
def take_back(setting: Setting, target: Target, key):
    stored = kv.get(entry_name(setting.tank))
    if stored is None:
        raise Failure("POLICY_DENIED", f"the target of {setting.tank} is no longer there")
    if json.loads(stored)["set_by"] != key:
        raise Failure("POLICY_DENIED", f"the target of {setting.tank} was set again since")
    if not kv.delete(entry_name(setting.tank)):
        raise Failure("POLICY_DENIED", f"the target of {setting.tank} is no longer there")
    return Output(None, changes=[Change("salinity-target", setting.tank, "delete")])
