from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

CENTS = {"glass": 8, "plastic": 25, "crate": 150}


@dataclass
class Return:
    machine: str
    kind: str
    count: int


@dataclass
class Credited:
    cents: int
    machine_total: int


@tool("Bottle.Return", output=Credited, effects=["internal_write"])
def give_back(bottles: Return, context):
    """Credits returned bottles and adds them to the total of the machine."""
    if bottles.kind not in CENTS:
        raise Failure("INVALID_INPUT", f"the machine takes no {bottles.kind}")
    if not 1 <= bottles.count <= 500:
        raise Failure("INVALID_INPUT", "1 to 500 bottles can be returned at once")
    if not bottles.machine.isalnum() or len(bottles.machine) > 40:
        raise Failure("INVALID_INPUT", "the machine has no valid number")
    cents = CENTS[bottles.kind] * bottles.count
    name = f"total-{bottles.machine}"
    before = int(kv.get(name) or b"0")
    total = before + cents
    kv.set(name, str(total))
    change = Change("machine", bottles.machine, "update", version=str(total))
    return Output(Credited(cents, total), changes=[change])
