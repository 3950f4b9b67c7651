import json
import uuid
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Watering:
    bed: str
    liters: int


@dataclass
class Logged:
    bed: str
    entries: int


@tool("PlantWatering.Log", output=Logged, effects=["internal_write"], idempotent_by_key_seconds=3600)
def log_watering(watering: Watering, context):
    """Logs the watering of a bed."""
    if not 0 < watering.liters <= 500:
        raise Failure("INVALID_INPUT", "a bed gets 1 to 500 liters")
    entry = f"water/{watering.bed}/{uuid.uuid4()}"
    kv.set(entry, json.dumps({"liters": watering.liters, "by": context.external_key}))
    return Output(Logged(watering.bed, 1), changes=[Change("watering", entry, "create")])
