import random
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from latchwork import Failure, step


@dataclass
class Batch:
    batch: str
    vials: list[str]


@dataclass
class Plan:
    batches: list[Batch]
    percent: int


@dataclass
class Picked:
    batch: str
    vials: list[str]
    known: int


@dataclass
class Order:
    drawn_at: str
    due_at: str
    batches: list[Picked]


def size_of(sample, percent):
    """At least one vial of a batch is tested."""
    return max(1, len(sample) * percent // 100)


@step("Sampling.Draw", determinism="stable")
def draw(plan: Plan, context) -> Order:
    """Draws the vials of each batch that the laboratory tests within two days."""
    if not 1 <= plan.percent <= 100:
        raise Failure("INVALID_INPUT", f"{plan.percent} percent of a batch cannot be drawn")
    names = [batch.batch for batch in plan.batches]
    if len(set(names)) < len(names):
        raise Failure("INVALID_INPUT", "two batches have the same name")
    picked = []
    for batch in plan.batches:
        # The scanner reports some vials more than once.
        vials = sorted({vial.strip().upper() for vial in batch.vials} - {""})
        if not vials:
            raise Failure("INVALID_INPUT", f"batch {batch.batch} has no vials")
        chosen = random.sample(vials, size_of(vials, plan.percent))
        picked.append(Picked(batch.batch, sorted(chosen), len(vials)))
    now = datetime.now(timezone.utc)
    return Order(now.isoformat(), (now + timedelta(days=2)).isoformat(), picked)
